"""``hushtable reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from hushtable.reproduce.papers import Paper, Row

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(metavar="[PAPER]", help="Such as sun2011; all are listed without.", show_default=False),
    ] = None,
    part: Annotated[
        str | None, typer.Option("--part", metavar="NAME", help="Run this part only.", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Other seeds, other draws.", show_default=False)] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small tables and few settings: shows that it runs.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write rows and plots here too.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a paper's experiments again: what was published beside what we get."""
    from hushtable.cli.output import deliver
    from hushtable.cli.signals import raise_if_cancelled
    from hushtable.reproduce.papers import find_paper, paper_names

    if paper is None:
        known = [find_paper(name) for name in paper_names()]
        listed = [{"paper": p.name, "title": p.title, "parts": p.parts} for p in known]
        deliver({"papers": listed}, as_json, lambda to: _list(to, known))
        return
    found = find_paper(paper)
    rows: list[Row] = []
    for row in found.rows(part=part, seed=seed, quick=quick):
        raise_if_cancelled()
        rows.append(row)
        _tell(row)
    files = found.write(output, rows) if output else []
    data = {"paper": found.name, "part": part, "quick": quick, "rows": rows, "files": files}
    deliver(data, as_json, lambda to: _text(to, found, rows, files))


def _tell(row: Row) -> None:
    """Say on a terminal what is done: the whole may take minutes."""
    from hushtable.cli.output import console, safe

    to = console(stderr=True)
    if to.is_terminal:
        to.print(safe(f"{row['experiment']}: {row['setting']}"), style="dim", overflow="ellipsis", no_wrap=True)


def _list(to: Console, papers: Sequence[Paper]) -> None:
    from hushtable.cli.output import grid, put

    rows = [(p.name, p.title, ", ".join(p.parts) or "-") for p in papers]
    put(to, f"Papers whose experiments can be run again. {len(rows)} found.")
    to.print()
    to.print(grid(["paper", "what it is about", "parts"], rows, fold=["what it is about"]))


def _text(to: Console, paper: Paper, rows: Sequence[Row], files: Sequence[Path]) -> None:
    from hushtable.about import reflow
    from hushtable.cli.output import grid, put
    from hushtable.reproduce.papers import COLUMNS

    put(to, reflow(paper.text))
    to.print()
    cells = [(r["experiment"], r["setting"], _cell(r["published"]), _cell(r["ours"])) for r in rows]
    to.print(grid(COLUMNS, cells, fold=COLUMNS))
    for file in files:
        put(to, f"written: {file}", wrap=False)


def _cell(value: Any) -> str:
    from hushtable.io.figures import number

    if value is None:
        return "-"
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
