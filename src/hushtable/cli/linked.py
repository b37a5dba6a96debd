"""The commands for linked tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, cast

import typer

from hushtable.cli.output import Console, deliver, put
from hushtable.cli.progress import progress_bar, waiting
from hushtable.cli.signals import nearly_done
from hushtable.errors import UsageError, counted
from hushtable.io.urls import redacted

if TYPE_CHECKING:
    from hushtable.linked.policy import LinkedPolicy
    from hushtable.linked.release import LinkedRelease


def is_linked_release(folder: Path | None) -> bool:
    """Return whether a folder holds a release of linked tables."""
    from hushtable.policy.files import is_linked

    return folder is not None and (folder / "policy.yaml").is_file() and is_linked(folder / "policy.yaml")


def no_options(given: Mapping[str, Any], command: str) -> None:
    """Refuse options that do not go with linked tables."""
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} cannot be used with linked tables.", code="linked",
                             hint=f"Run 'hushtable {command}' without it.")  # fmt: skip


@contextmanager
def opened_linked(
    folder: Path, data: Sequence[str], files: Path | None
) -> Iterator[tuple[LinkedRelease, Callable[[float, str], None]]]:
    """Open a linked release with its original, if that is given, and show progress until the work on it is done."""
    from hushtable.linked.release import open_linked

    with progress_bar() as progress:
        progress(0.0, "opening")
        yield open_linked(folder, original=list(data) or None, files=files), progress


def refuse_given(one_table: Mapping[str, Any]) -> None:
    """Refuse options that are for a policy of one table."""
    given = [option for option, value in one_table.items() if value is not None]
    if given:
        raise UsageError(f"--{given[0]} cannot be used with a policy of linked tables.", code="linked",
                         hint="Leave it out.")  # fmt: skip


def init_linked(data: str, output: Path, schema: str | None, people: str | None, *, as_json: bool) -> None:
    """Draft a policy from the tables of a schema and their foreign keys."""
    from hushtable.io.atomic import atomic_write_text
    from hushtable.io.sql import read_schema, schema_address, schema_keys
    from hushtable.linked.draft import draft_policy, join_tables
    from hushtable.linked.policy import LinkedPolicy

    address = schema_address(data, schema)
    with waiting("reading and profiling the tables"):
        keys = schema_keys(address)
        joined = join_tables(keys, people)
        tables = read_schema(address, list(joined))
        text = draft_policy(joined, tables, redacted(address), len(keys) - len(joined))
    LinkedPolicy.from_yaml(text)
    atomic_write_text(output, text)
    found: dict[str, Any] = {
        "data": redacted(address), "policy": output, "not_joined": sorted(keys.keys() - joined.keys()),
        "tables": {name: {"rows": tables[name].num_rows, "of": one.of} for name, one in joined.items()},
    }  # fmt: skip

    def show(to: Console) -> None:
        for name, one in joined.items():
            what = "the people" if one.of is None else f"belongs to {one.of}"
            put(to, f"  {name:<20} {counted(tables[name].num_rows, 'row', 'rows')}, {what}", wrap=False)
        if found["not_joined"]:
            put(to, f"Not joined, and skipped: {', '.join(map(str, found['not_joined']))}.", style="yellow")
        put(to, f"Starter policy written to {output}. Read it, correct the roles, then:")
        for command in ("check", "run"):
            put(to, f"  hushtable {command} {quote(str(output))} --data {quote(found['data'])}", wrap=False)

    deliver(found, as_json, show)


def run_linked(
    policy_file: Path,
    data: Sequence[str],
    output: Path,
    given: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Anonymize linked tables, verify the result and write it; ``given`` are the other options of ``run``."""
    from hushtable.linked.run import anonymize_linked
    from hushtable.linked.sources import check_database, reading_linked
    from hushtable.release.targets import check_target, written_by_hand

    policy = _policy(policy_file)
    if given["seed"] is not None:
        policy = policy.changed(seed=given["seed"])
    sources, to, overwrite = _sources(data, given["schema"]), given["to"], given["overwrite"]
    check_target(output, overwrite=overwrite, inputs=[*written_by_hand(policy_file), *sources])
    if to is not None:
        check_database(to, policy, sources, overwrite=overwrite)
    with progress_bar() as progress:
        progress(0.0, "reading")
        with reading_linked(sources, policy, spark=given["spark"], master=given["master"]) as tables:
            release = anonymize_linked(tables, policy, progress=progress)
        nearly_done()
        release.save(output, format=cast(Any, given["format"]), overwrite=overwrite, to=to)
    found = {**release.summary(), "folder": output, **({} if to is None else {"published": redacted(to)})}

    def text(to: Console) -> None:
        _print_verified(to, found)
        _print_losses(to, found["measures"])
        put(to, f"Verified from the published tables and written to {output}.", style="green")
        if "published" in found:
            put(to, f"Published at {found['published']}.")

    deliver(found, as_json, text)


def verify_folder(
    published: str, policy_file: Path, schema: str | None, evidence: Path | None, *, as_json: bool
) -> None:
    """Recompute the promise from the published tables of a folder or database. Exits with 1 if it is broken.

    With the JSON file of a report, the files of the folder are compared with it, and its signature is checked.
    """
    from hushtable.linked.release import open_linked
    from hushtable.linked.sources import is_database, read_linked
    from hushtable.linked.verify import verify_linked
    from hushtable.release.written import check_nothing_else
    from hushtable.report.signature import check_report

    policy, (source,) = _policy(policy_file), _sources([published], schema)
    checked = None
    if evidence is not None:
        # the evidence names all files of the folder
        checked = check_report(evidence, source if is_database(source) else Path(source) / "release.json")
    with waiting("reading and verifying"):
        if is_database(source):
            verification = verify_linked(read_linked([source], policy), policy)
        else:
            opened = open_linked(Path(source), policy)
            files = (Path(source, f"{name}{ending}") for name in opened.tables for ending in (".csv", ".parquet"))
            if Path(source, "release.json").is_file():
                check_nothing_else(Path(source), files)
            verification = opened.verification
    found = {**verification.as_dict(), "evidence": checked}

    def text(to: Console) -> None:
        _print_verified(to, found)
        if checked is not None:
            put(to, checked["words"])
        if found["satisfied"]:
            put(to, "Satisfied: every model holds for everything that an adversary may know.", style="green")
        else:
            put(to, "VIOLATED: do not publish these tables.", style="bold red")

    deliver(found, as_json, text)
    if not found["satisfied"]:
        raise typer.Exit(1)


def check_linked(policy_file: Path, data: Sequence[str], schema: str | None, *, as_json: bool) -> None:
    """Match keys and read columns before a run."""
    from hushtable.linked.run import check_data
    from hushtable.linked.sources import read_linked

    policy = _policy(policy_file)
    found: dict[str, Any] = {"ok": True}
    if data:
        with waiting("reading and checking the tables"):
            found |= check_data(read_linked(_sources(data, schema), policy), policy)

    def text(to: Console) -> None:
        if data:
            put(to, f"{found['people']:,} people with {found['events']:,} events; {found['people_without_events']:,} "
                    "people have none.")  # fmt: skip
        put(to, "No problems found.", style="green")

    deliver(found, as_json, text)


def attack_linked(
    folder: Path,
    data: Sequence[str],
    files: Path | None,
    only: Sequence[str] | None,
    control: str | None,
    *,
    as_json: bool,
) -> None:
    """Attack a release of linked tables."""
    from hushtable.cli.attack import print_attacks
    from hushtable.linked.attacks import play_linked
    from hushtable.linked.sources import read_linked

    with opened_linked(folder, data, files) as (release, progress):
        others = None if control is None else read_linked([control], release.policy)
        results, refused = play_linked(release, True if only is None else only, control=others, progress=progress)
    found = {"release": folder, "attacks": [r.as_dict() for r in results], "not_run": refused}
    deliver(found, as_json, lambda to: print_attacks(to, results, refused))


def measure_linked(folder: Path, *, as_json: bool) -> None:
    """Say what a release of linked tables lost, as the run measured it."""
    from hushtable.linked.release import linked_measures

    measured = linked_measures(folder)
    deliver({"release": folder, "measures": measured}, as_json, lambda to: _print_losses(to, measured))


def risk_linked(
    folder: Path, data: Sequence[str], files: Path | None, threshold: float | None, *, as_json: bool
) -> None:
    """Assess how exposed people are by their attributes and events, before and after."""
    from hushtable.cli.risk import print_risks

    with opened_linked(folder, data, files) as (release, progress):
        progress(0.3, "counting combinations")
        found = release.risk(threshold=0.09 if threshold is None else threshold).as_dict()
    answer = {"target": str(folder), "before_only": False, "risks": found}
    deliver(answer, as_json, lambda to: print_risks(to, str(folder), found))


def sample_tables(folder: Path, output: Path, files: Path | None, seed: int, *, as_json: bool) -> None:
    """Draw tables from a release of linked tables into a new folder."""
    from hushtable.linked.sample import check_sample_folder, write_linked_sample

    check_sample_folder(output)
    with opened_linked(folder, [], files) as (release, progress):
        progress(0.5, "drawing values")
        found = write_linked_sample(release, output, seed=seed)

    def text(to: Console) -> None:
        for name, rows in found["rows"].items():
            put(to, f"{output}/{name}.csv: {counted(rows, 'row', 'rows')}", wrap=False)
        put(to, found["note"])

    deliver({"output": str(output), **found}, as_json, text)


def _sources(data: Sequence[str], schema: str | None) -> list[str]:
    """Return the sources, a database with its schema."""
    from hushtable.io.sql import schema_address

    return [schema_address(one, schema) for one in data] if schema is not None else list(data)


def _policy(policy_file: Path) -> LinkedPolicy:
    from hushtable.linked.policy import LinkedPolicy, read_policy

    policy = read_policy(policy_file)
    assert isinstance(policy, LinkedPolicy)
    return policy


def _print_losses(to: Console, lost: Mapping[str, Any]) -> None:
    put(to, f"People are in classes of at least {lost['crowd']:,}; {lost['suppressed']:.1%} of the events are "
            "suppressed:")  # fmt: skip
    for name, entry in lost["tables"].items():
        order = f", order kept {entry['order_kept']:.0%}" if "order_kept" in entry else ""
        general = f", generality {entry['generality']:.3f}" if "generality" in entry else ""
        events = counted(entry["events"], "event", "events")
        put(to, f"  {name:<16} {entry['kept']:.1%} of {events} kept{general}{order}", wrap=False)


def _print_verified(to: Console, found: Mapping[str, Any]) -> None:
    put(to, f"{counted(found['people'], 'person', 'people')} in {counted(found['classes'], 'class', 'classes')}, "
            f"with {counted(found['events'], 'event', 'events')}.")  # fmt: skip
    for entry in found["combinations"]:
        known = " + ".join(entry["tables"]) or "no event"
        failing = f", {entry['failing']:,} FAIL" if entry["failing"] else ""
        put(to, f"  known: {known:<32} {counted(entry['combinations'], 'combination', 'combinations')}, smallest crowd "
                f"{entry['smallest']:,}{failing}", wrap=False)  # fmt: skip
