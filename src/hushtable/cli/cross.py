"""``hushtable cross``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable import registry
from hushtable.cli.options import AsJson, registered
from hushtable.cli.output import Console, deliver, grid, put
from hushtable.cli.progress import counting_bar
from hushtable.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hushtable.reproduce.cross import CrossResult


def cross(
    rows: Annotated[int, typer.Option("--rows", min=50, metavar="N", help="Number of records of Adult.")] = 1000,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, metavar="S", help="Time limit for each cell, and for each attack on "
        "it.")
    ] = 5.0,
    models: Annotated[
        str | None,
        typer.Option("--models", metavar="NAMES", help="Models to run, separated by commas.")
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option("--algorithms", metavar="NAMES", help="Algorithms to run, separated by "
        "commas.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the page.")] = Path("cross"),
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Run every model with every algorithm on Adult, and write one page.

    It shows which combinations produce a release, what they lose, how long they take and how three attacks fare.
    """
    from hushtable.io.atomic import atomic_write_text
    from hushtable.release.companion import check_outside
    from hushtable.reproduce.cross import SETTINGS, cross_cells, cross_page

    check_outside(output, "this page")
    chosen = registered(models, registry.models) or list(SETTINGS)
    used = registered(algorithms, registry.algorithms) or list(registry.algorithms)
    unset = [name for name in chosen if name not in SETTINGS]
    if unset:
        raise UsageError(
            f"The cross table has no setting for {', '.join(unset)}.", code="no-setting",
            hint="It compares the models that come with hushtable.",
        )  # fmt: skip
    cells: list[CrossResult] = []
    with counting_bar("cells") as progress:
        for cell in cross_cells(rows, seconds, chosen, used):
            cells.append(cell)
            progress(len(cells), len(chosen) * len(used))
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"The folder {str(output)!r} cannot be created.", hint="Choose another one.") from None
    page, data = output / "cross.html", output / "cross.json"
    shown = [cell.as_dict() for cell in cells]
    atomic_write_text(page, cross_page(cells, rows=rows, seconds=seconds))
    atomic_write_text(data, json.dumps({"rows": rows, "seconds": seconds, "cells": shown}, indent=1) + "\n")
    found = {"rows": rows, "seconds": seconds, "cells": shown, "files": [page, data]}
    deliver(found, as_json, lambda to: _text(to, cells, [page, data]))


def _text(to: Console, cells: Sequence[CrossResult], files: Sequence[Path]) -> None:
    shown = {"released": ("released",), "none": ("infeasible", "not found"), "refused": ("refused",),
             "stopped": ("too slow", "failed")}  # fmt: skip
    lines = []
    for name in dict.fromkeys(c.algorithm for c in cells):
        own = [c for c in cells if c.algorithm == name]
        lost = [c.loss for c in own if c.loss is not None]
        mean = f"{sum(lost) / len(lost):.3f}" if lost else "-"
        lines.append((name, *(str(sum(c.outcome in kinds for c in own)) for kinds in shown.values()), mean))
    to.print()
    to.print(grid(["algorithm", *shown, "mean loss"], lines, right=[*shown, "mean loss"], fold=["algorithm"]))
    for file in files:
        put(to, f"written: {file}", wrap=False)
