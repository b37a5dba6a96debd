"""``hushtable attack``."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable import registry
from hushtable.cli.linked import attack_linked, is_linked_release, no_options
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Files, OnlyAttacks, Original, registered
from hushtable.cli.options import names as split_names
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.errors import DataError, UsageError
from hushtable.io.figures import share

if TYPE_CHECKING:
    from hushtable.attacks.base import AttackResult
    from hushtable.engines.release import Release

Background = Annotated[
    str | None,
    typer.Option(
        "--background",
        metavar="FILE|URL",
        help="What the adversary believes: quasi-identifiers, sensitive column and 'probability'. "
        "Defaults to the policy's background table.",
    ),
]
Others = Annotated[
    list[Path] | None,
    typer.Option(
        "--other", metavar="RELEASE_DIR", help="Another release of the same people, for 'composition'. May be repeated."
    ),
]
OtherData = Annotated[
    list[str] | None,
    typer.Option(
        "--other-data", metavar="FILE|URL", help="The original of each --other, in the same order. Defaults to --data."
    ),
]


def attack(
    folder: Annotated[
        Path | None, typer.Argument(metavar="RELEASE_DIR", help="Folder that 'run' wrote.")
    ] = None,
    data: Original = None,
    only: OnlyAttacks = None,
    listed: Annotated[bool, typer.Option("--list", help="List the attacks instead.")] = False,
    external: Annotated[
        str | None,
        typer.Option("--external", metavar="FILE|URL", help="The people to attack, with all quasi-identifiers.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option("--control", metavar="FILE|URL",
                     help="People who are not in the release. For linked tables: the folder of their tables.")
    ] = None,
    background: Background = None,
    others: Others = None,
    other_data: OtherData = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Attack a release with the published attacks, and suggest what to change.

    Guesses are scored against the original. Results are kept in the private companion for the next report.
    """
    from hushtable.cli.catalogue import listing
    from hushtable.io.sources import read_tables

    known = registry.attacks
    if listed:
        listing("attacks")(as_json=as_json)
        return
    if folder is None or not data:
        raise UsageError(
            "No release to attack." if folder is None else "The original is missing.", code="no-release",
            hint="Give the folder that 'hushtable run' wrote and the original with --data, or --list.",
        )  # fmt: skip
    if is_linked_release(folder):
        no_options({"--external": external, "--background": background, "--other": others or None}, "attack")
        attack_linked(folder, data, files, split_names(only), control, as_json=as_json)
        return
    asked = registered(only, known)
    names = list(known) if asked is None else asked
    paths = {"external": external, "control": control, "background": background}
    given: dict[str, Any] = {name: read_tables([path]) for name, path in paths.items() if path is not None}
    keep_freed_memory()
    with opened(folder, data, files) as (release, progress):
        _ = release.made  # another original stops all of them, not one after the other
        if others:
            given["others"] = _opened(others, other_data or [], data, files)
        results, refused = _run(release, names, given, progress, strict=only is not None)
    found = {"release": folder, "attacks": [r.as_dict() for r in results], "not_run": refused}
    deliver(found, as_json, lambda to: print_attacks(to, results, refused))


def _opened(others: Sequence[Path], theirs: Sequence[str], data: Sequence[str], files: Path | None) -> list[Release]:
    """Open the other releases, each with its original."""
    from hushtable.api import open_release

    if theirs and len(theirs) != len(others):
        raise UsageError(
            f"There are {len(others)} --other releases, but {len(theirs)} --other-data.", code="no-other-original",
            hint="Give the original of each release in the same order, or none if --data is the original of all.",
        )  # fmt: skip
    for folder in others:
        if is_linked_release(folder):
            raise UsageError(f"{str(folder)!r} holds linked tables, and 'composition' is about single tables.",
                             code="linked", hint="Leave it out.")  # fmt: skip
    originals = [[path] for path in theirs] or [list(data)] * len(others)
    return [open_release(folder, original, files=files) for folder, original in zip(others, originals, strict=True)]


def _run(
    release: Release, names: Sequence[str], tables: Mapping[str, Any], progress: Any, *, strict: bool
) -> tuple[list[AttackResult], dict[str, str]]:
    """Run the attacks; list those that lack an input separately.

    Raise the error if the attacks were requested by name, or if a given table cannot be used.
    """
    results, refused = [], {}
    for i, name in enumerate(names):
        progress(i / len(names), f"attacking: {name}")
        taken = {p.name for p in registry.attacks[name].params()}
        given = {k: v for k, v in tables.items() if k in taken}
        try:
            results.append(release.attack(name, **given))
        except UsageError as error:
            if strict or (given and isinstance(error, DataError)):
                raise
            refused[name] = str(error)
    return results, refused


def print_attacks(to: Console, results: Sequence[AttackResult], refused: Mapping[str, str]) -> None:
    """Print a table of results, remedies, and what was not run."""
    rows = [
        (
            r.name,
            f"{r.successes:,} of {r.targets:,}",
            share(r.rate),
            f"{100 * r.interval[0]:.1f}-{100 * r.interval[1]:.1f}%",
            share(r.baseline),
            "-" if r.control is None else share(r.control),
        )
        for r in results
    ]
    to.print()
    to.print(grid(["attack", "successes", "rate", "95% interval", "baseline", "control"], rows,
                  right=["successes", "rate", "95% interval", "baseline", "control"], fold=["attack"]))  # fmt: skip
    to.print()
    for r in results:
        if r.interval[0] > r.baseline:
            bullet(to, f"{r.name}: {r.remedy}")
    if refused:
        to.print()
        put(to, "Not run:")
        for name, reason in refused.items():
            bullet(to, f"{name}: {reason}")


# Reuse of the memory that large arrays free within one command.


_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Let glibc keep the memory that arrays free; with other C libraries nothing changes.

    Otherwise, every array of a few megabytes is new memory that the system maps and clears page by page: on ten
    million rows, that was a fifth of the attacks' CPU time. For a process that ends after one command.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, -1)
