"""``run``, ``verify``, ``check`` and ``attack`` for linked tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from hushtable.cli.options import Format
    from hushtable.linked.policy import LinkedPolicy

__all__ = ["attack_linked", "check_linked", "is_linked_release", "run_linked", "verify_folder"]


def is_linked_release(folder: Path | None) -> bool:
    """Return whether a folder holds a release of linked tables."""
    from hushtable.policy.files import is_linked

    return folder is not None and (folder / "policy.yaml").is_file() and is_linked(folder / "policy.yaml")


def run_linked(
    policy_file: Path,
    data: Sequence[str],
    output: Path,
    one_table: Mapping[str, Any],
    seed: int | None,
    file_format: Format | None,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Anonymize linked tables, verify the result and write it."""
    from hushtable.cli.output import deliver
    from hushtable.cli.progress import progress_bar
    from hushtable.cli.signals import nearly_done
    from hushtable.errors import UsageError
    from hushtable.linked.run import anonymize_linked
    from hushtable.linked.sources import read_linked
    from hushtable.release.targets import check_target, written_by_hand

    given = [option for option, value in one_table.items() if value is not None]
    if given:
        said = f"--{given[0]} cannot be used with a policy of linked tables."
        raise UsageError(said, code="linked", hint="Leave it out.")
    policy = _policy(policy_file)
    if seed is not None:
        policy = policy.changed(seed=seed)
    check_target(output, overwrite=overwrite, inputs=[*written_by_hand(policy_file), *map(Path, data)])
    with progress_bar() as progress:
        progress(0.0, "reading")
        release = anonymize_linked(read_linked(data, policy), policy, progress=progress)
        nearly_done()
        release.save(output, format=cast(Any, file_format and file_format.value), overwrite=overwrite)
    found = {**release.summary(), "folder": output}

    def text(to: Console) -> None:
        from hushtable.cli.output import put

        _print_verified(to, found)
        lost = found["measures"]
        put(to, f"People are in classes of at least {lost['crowd']:,}; {lost['suppressed']:.1%} of the events are "
                "suppressed:")  # fmt: skip
        for name, entry in lost["tables"].items():
            order = f", order kept {entry['order_kept']:.0%}" if "order_kept" in entry else ""
            general = f", generality {entry['generality']:.3f}" if "generality" in entry else ""
            put(to, f"  {name:<16} {entry['kept']:.1%} of {entry['events']:,} events kept{general}{order}", wrap=False)
        put(to, f"Verified from the published tables and written to {output}.", style="green")

    deliver(found, as_json, text)


def verify_folder(published: str, policy_file: Path, *, as_json: bool) -> None:
    """Recompute the promise from the published tables of a folder. Exits with 1 if it is broken."""
    from hushtable.cli.output import deliver, put
    from hushtable.cli.progress import waiting
    from hushtable.linked.release import open_linked

    with waiting("reading and verifying"):
        release = open_linked(Path(published), _policy(policy_file))
    found = release.verification.as_dict()

    def text(to: Console) -> None:
        _print_verified(to, found)
        if found["satisfied"]:
            put(to, "Satisfied: every model holds, whatever an adversary may know.", style="green")
        else:
            put(to, "VIOLATED: do not publish these tables.", style="bold red")

    deliver(found, as_json, text)
    if not found["satisfied"]:
        raise typer.Exit(1)


def check_linked(policy_file: Path, data: Sequence[str], *, as_json: bool) -> None:
    """Match keys and read columns before a run."""
    from hushtable.cli.output import deliver, put
    from hushtable.cli.progress import waiting
    from hushtable.linked.run import check_data
    from hushtable.linked.sources import read_linked

    policy = _policy(policy_file)
    found: dict[str, Any] = {"ok": True}
    if data:
        with waiting("reading and checking the tables"):
            found |= check_data(read_linked(data, policy), policy)

    def text(to: Console) -> None:
        if data:
            put(to, f"{found['people']:,} people with {found['events']:,} events; {found['people_without_events']:,} "
                    "people have none.")  # fmt: skip
        put(to, "No problems found.", style="green")

    deliver(found, as_json, text)


def attack_linked(folder: Path, data: Sequence[str], only: Sequence[str] | None, *, as_json: bool) -> None:
    """Attack a release of linked tables."""
    from hushtable.cli.output import deliver, put
    from hushtable.cli.progress import waiting
    from hushtable.linked.attacks import attack_release
    from hushtable.linked.release import open_linked
    from hushtable.linked.sources import read_linked

    with waiting("attacking"):
        policy = _policy(folder / "policy.yaml")
        release = open_linked(folder, policy, read_linked(data, policy))
        results = attack_release(release, only)

    def text(to: Console) -> None:
        for result in results:
            put(to, repr(result))

    deliver({"release": folder, "attacks": [r.as_dict() for r in results]}, as_json, text)


def _policy(policy_file: Path) -> LinkedPolicy:
    from hushtable.linked.policy import LinkedPolicy, read_policy

    policy = read_policy(policy_file)
    assert isinstance(policy, LinkedPolicy)
    return policy


def _print_verified(to: Console, found: Mapping[str, Any]) -> None:
    from hushtable.cli.output import put

    put(to, f"{found['people']:,} people in {found['classes']:,} classes, with {found['events']:,} events.")
    for entry in found["combinations"]:
        known = " + ".join(entry["tables"]) or "no event"
        failing = f", {entry['failing']:,} FAIL" if entry["failing"] else ""
        put(to, f"  known: {known:<32} {entry['combinations']:,} combinations, smallest crowd "
                f"{entry['smallest']:,}{failing}", wrap=False)  # fmt: skip
