"""``hushtable explore``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson, Data, PolicyFile, Query, SqlTable
from hushtable.cli.output import Console, deliver, put
from hushtable.cli.progress import progress_bar
from hushtable.cli.signals import nearly_done
from hushtable.errors import NotFound, UsageError, counted, did_you_mean

if TYPE_CHECKING:
    from hushtable.engines.release import Release


def parse_levels(text: str) -> dict[str, int]:
    """Parse levels from the command line.

    Examples
    --------
    >>> parse_levels("age=2, native-country=1")
    {'age': 2, 'native-country': 1}
    """
    levels = {}
    for part in text.split(","):
        name, sign, level = part.rpartition("=")
        if not sign or not level.strip().isdecimal():
            raise UsageError(
                f"--levels accepts NAME=LEVEL, separated by commas. Got {part.strip()!r} instead.", code="levels"
            )
        levels[name.strip()] = int(level)
    return levels


def explore(
    policy_file: PolicyFile,
    data: Data,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of solutions to show.")] = 10,
    levels: Annotated[
        str | None,
        typer.Option("--levels", metavar="NAME=LEVEL,...", help="Apply this solution instead of the best one."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Folder for the release of the solution.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier release in that folder.")] = False,
    table: SqlTable = None,
    query: Query = None,
    as_json: AsJson = False,
) -> None:
    """List the solutions that a search examined, and apply one of them.

    For algorithms that generalize whole columns. Solutions are sorted by cost; for Incognito, only minimal ones are
    listed. Nothing is written without --output.
    """
    from hushtable.api import anonymize
    from hushtable.io.sources import read_tables
    from hushtable.policy.files import load_policy
    from hushtable.release.targets import check_target, written_by_hand

    policy = load_policy(policy_file)
    wanted = parse_levels(levels) if levels else None
    if output is not None:
        check_target(output, overwrite=overwrite, inputs=[*written_by_hand(policy_file), *data])
    with progress_bar() as progress:
        found = anonymize(read_tables(data, table=table, query=query), policy, progress=progress)
        space = found.partition.space
        if not space:
            raise UsageError(
                f"{next(iter(policy.document()['algorithm']))} does not search a space of solutions.",
                code="no-space",
                hint="Choose an algorithm that generalizes whole columns, such as optimal.",
            )
        chosen = found if wanted is None else _applied(found, wanted)
        if output is not None:
            progress(1.0, "writing")
            chosen.save(output, format=policy.output.format, overwrite=overwrite)
            nearly_done()
    rows = [dict(zip(space, row, strict=True)) for row in zip(*(c[:top].tolist() for c in space.values()), strict=True)]
    result: dict[str, Any] = {
        "looked_at": len(next(iter(space.values()))),
        "fit": int(space["fits"].sum()),
        "minimal": int(space["minimal"].sum()) if "minimal" in space else None,
        "notes": dict(found.partition.notes),
        "solutions": rows,
        "applied": {"levels": dict(chosen.partition.notes.get("levels", {})), **chosen.verification.as_dict()},
        "chosen": wanted is not None,
        "labels": {c.name: [len(labels) for labels in c.coded.labels] for c in found.encoded.quasi},
        "measures": chosen.measures(),
        "output": output,
    }
    deliver(result, as_json, lambda to: _print(to, result))


def _applied(found: Release, levels: Mapping[str, int]) -> Release:
    """Return the solution with these levels.

    Raises
    ------
    UsageError
        If a column has no such level.
    NotFound
        If the models do not hold with these levels.
    """
    heights = {column.name: column.coded.height for column in found.encoded.quasi}
    for name, level in levels.items():
        if name not in heights:
            hint = did_you_mean(name, heights) or f"The quasi-identifiers are {', '.join(heights)}."
            raise UsageError(f"{name!r} is not a quasi-identifier of the policy.", code="levels", hint=hint)
        if level > heights[name]:
            raise UsageError(
                f"{name!r} has no level {level}.", code="levels", hint=f"Its levels are 0 to {heights[name]}."
            )
    try:
        return found.apply(levels)
    except NotFound as error:
        listed = ", ".join(f"{name}={level}" for name, level in levels.items())
        raise NotFound(
            f"With {listed} the models do not hold within the policy's suppression limit of "
            f"{found.plan.suppression:.4g}.",
            code=error.code,
            hint="Choose higher levels, or a solution of the list that fits.",
        ) from None


def _print(to: Console, result: Mapping[str, Any]) -> None:
    from hushtable.cli.summary import print_measures, print_models

    put(
        to,
        f"{counted(result['looked_at'], 'solution was', 'solutions were')} looked at; "
        f"{counted(result['fit'], 'of them satisfies', 'of them satisfy')} the models.",
    )
    if result["minimal"] is not None:
        put(to, f"{result['minimal']:,} of these are minimal, and come first: no finer solution satisfies the models.")
    put(to, "The levels, with the number of labels on each:")
    for name, labels in result["labels"].items():
        put(to, f"   {name}: {', '.join(f'{level} ({n:,})' for level, n in enumerate(labels))}", wrap=False)
    put(to, "")
    for place, row in enumerate(result["solutions"], 1):
        cost = f"cost {row['cost']:.6g}" if row["fits"] else "does not fit"
        cost += "; minimal" if row.get("minimal") else ""
        groups = counted(row["groups"], "group", "groups")
        put(to, f"{place}. {cost}; {row['suppressed people']:,.0f} suppressed; {groups}")
        named = (f"{name.removeprefix('level of ')}={level}" for name, level in row.items() if "level of " in name)
        put(to, "   " + ",".join(named), wrap=False)
    put(to, "")
    if result["chosen"]:
        levels = ",".join(f"{name}={level}" for name, level in result["applied"]["levels"].items())
        put(to, f"With {levels}:")
        print_models(to, result["applied"]["models"])
        print_measures(to, result["measures"])
    if result["output"] is not None:
        put(to, f"Verified from the published cells and written to {result['output']}.")
    elif result["chosen"]:
        put(to, "To publish this solution, add --output DIR.")
    else:
        put(to, "To publish one of them: --levels NAME=LEVEL,... --output DIR")
