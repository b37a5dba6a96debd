"""``hushtable compare``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson, Data, Folder, Query, SqlTable, names
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.cli.progress import counting_bar
from hushtable.cli.signals import nearly_done, when_cancelled
from hushtable.errors import OutputError, UsageError, counted
from hushtable.io.figures import number, share
from hushtable.parallel import cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hushtable.comparison.outcomes import Outcomes
    from hushtable.comparison.spec import Spec

_SHOWN = 40


class ChartFormat(StrEnum):
    """File formats of the chart."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


_SpecFile = Annotated[Path, typer.Argument(metavar="POLICY", help="A policy, or a comparison file (YAML).")]
_Algorithms = Annotated[
    str | None, typer.Option("--algorithms", metavar="NAMES", help="Algorithms to try, separated by commas.")
]
_Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="NAME.PARAMETER=VALUES", help="Values of a parameter to try. May be repeated."),
]
_Suppression = Annotated[str | None, typer.Option("--suppression", metavar="VALUES", help="Suppression limits to try.")]
_Measures = Annotated[
    str | None, typer.Option("--measures", metavar="NAMES", help="Additional measures, separated by commas.")
]

_Privacy = Annotated[str | None, typer.Option("--privacy", metavar="NAME", help="Privacy measure of the frontier.")]
_Utility = Annotated[str | None, typer.Option("--utility", metavar="NAME", help="Utility measure of the frontier.")]


def compare(
    spec_file: _SpecFile,
    data: Data,
    algorithms: _Algorithms = None,
    k: Annotated[str | None, typer.Option("--k", metavar="VALUES", help="Short for --vary k-anonymity.k=...")] = None,
    vary: _Vary = None,
    suppression: _Suppression = None,
    measures: _Measures = None,
    accuracy: Annotated[
        bool, typer.Option("--accuracy", help="Also train classifiers, and report their accuracy and its drop.")
    ] = False,
    privacy: _Privacy = None,
    utility: _Utility = None,
    output: Folder = Path("comparison"),
    chart: Annotated[ChartFormat, typer.Option("--chart", help="Format of the chart.")] = ChartFormat.SVG,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Number of processes. Defaults to the number of cores.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the results of an earlier run.")] = False,
    table: SqlTable = None,
    query: Query = None,
    as_json: AsJson = False,
) -> None:
    """Try many settings on one table, and show what each protects, what it costs and which are worth it.

    Finished settings are kept in the folder. To resume an interrupted comparison, run the same command again.
    """
    from hushtable.comparison.outcomes import RESULTS, save_outcomes
    from hushtable.comparison.run import compare as run_comparison
    from hushtable.comparison.spec import load_spec
    from hushtable.io.sources import read_tables

    varied = ([f"k-anonymity.k={k}"] if k else []) + (vary or [])
    measured = (names(measures) or []) + (["accuracy"] if accuracy else [])
    spec = load_spec(spec_file).with_lists(
        algorithms=names(algorithms), suppression=_numbers(suppression, "--suppression")
    )
    for text in varied:
        spec = spec.varying(text)
    spec = spec.adding("measures", measured)
    _make(output)
    kept = output / RESULTS
    if fresh:
        kept.unlink(missing_ok=True)
    when_cancelled(f"Finished settings are kept in {kept}. Run the same command again to resume.")
    with counting_bar("settings") as progress:
        found = run_comparison(
            read_tables(data, table=table, query=query),
            spec.policy,
            spec.grid,
            wanted=spec.wanted,
            privacy=privacy or spec.privacy,
            utility=utility or spec.utility,
            results=kept,
            jobs=jobs or cores(),
            progress=progress,
        )
        files = save_outcomes(found, output, chart.value)
    nearly_done()
    deliver({**_without_policies(found), "files": files}, as_json, lambda to: _text(to, found, output, spec))


def _without_policies(found: Outcomes) -> dict[str, Any]:
    shown = found.as_dict()
    # every setting's whole policy is in comparison.json
    shown["rows"] = [{name: value for name, value in row.items() if name != "policy"} for row in shown["rows"]]
    return shown


def _numbers(text: str | None, option: str) -> list[float] | None:
    try:
        return None if text is None else [float(value) for value in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} accepts numbers, separated by commas. Got {text!r} instead.") from None


def _make(folder: Path) -> None:
    from hushtable.release.companion import check_outside

    check_outside(folder, "a comparison")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The folder {str(folder)!r} cannot be created: {error.strerror}.", hint="Choose another folder."
        ) from None


def _text(to: Console, found: Outcomes, output: Path, spec: Spec) -> None:
    released = sum(row["status"] == "ok" for row in found.rows)
    reused = f" {found.reused} of them come from an earlier run." if found.reused else ""
    put(to, f"{counted(len(found.rows), 'setting was', 'settings were')} tried; {released} produced a release.{reused}")
    same = _same(found)
    if same:
        put(to, f"In all of them: {' + '.join(same)}.")
    columns = ["", "algorithm", "models", found.privacy, found.utility, "suppressed", "seconds"]
    lines = []
    frontier = set(found.frontier)
    for place, row in enumerate(found.rows[:_SHOWN]):
        mark = "*" if place in frontier else ""
        limit = f", up to {share(row['suppression limit'])} suppressed" if len(spec.grid.suppression) > 1 else ""
        left_out = row["values"].get("suppressed")
        lines.append(
            (
                mark,
                row["algorithm"],
                (" + ".join(m for m in row["models"].split(" + ") if m not in same) or "the same") + limit,
                _value(found, row, found.privacy),
                _value(found, row, found.utility),
                "" if left_out is None else share(left_out),
                f"{row['seconds']:.1f}" if row["status"] == "ok" else "",
            )
        )
    to.print()
    to.print(grid(columns, lines, right=columns[3:], fold=["algorithm", "models"]))
    to.print()
    if len(found.rows) > _SHOWN:
        put(to, f"{len(found.rows) - _SHOWN} more settings are in comparison.csv.")
    put(to, "* On the frontier: no other setting is better in both respects.")
    missing = [row for row in found.rows if row["status"] != "ok"]
    if missing:
        put(to, "Without a release:")
    for row in missing[:_SHOWN]:
        bullet(to, f"{row['algorithm']}, {row['models']}: {row['status']}. {row['reason']}")
    put(to, f"Written to {output}: comparison.csv, comparison.json and the chart.", wrap=False)
    goal = f"--minimise {found.utility} --where '{found.privacy} <= ...'"
    put(to, f"Next: hushtable suggest {quote(str(output))} {goal}", wrap=False)


def _same(found: Outcomes) -> list[str]:
    """Return the models that all settings share, which need not be repeated on each line."""
    first, *others = [row["models"].split(" + ") for row in found.rows]
    return [model for model in first if others and all(model in other for other in others)]


def _value(found: Outcomes, row: Mapping[str, Any], name: str) -> str:
    if row["status"] != "ok":
        return str(row["status"])
    return number(row["values"].get(found.quantity(name)))
