"""``hushtable reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.options import AsJson
from hushtable.cli.output import Console, console, deliver, grid, put
from hushtable.cli.signals import raise_if_cancelled
from hushtable.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hushtable.reproduce.papers import Paper, Reproduction


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER|all]", help="Paper, such as sun2011. Without one, lists all papers.")
    ] = None,
    part: Annotated[str | None, typer.Option("--part", metavar="NAME", help="Run this part only.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of all random draws.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small tables and few settings, to see that everything runs.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the pages and the rows.")
    ] = Path("reproduction"),
    as_json: AsJson = False,
) -> None:
    """Rerun a paper's experiments and compare the results with the published ones."""
    from hushtable.reproduce.papers import find_paper, paper_names, reproduce_papers

    if paper is None:
        known = [find_paper(name) for name in paper_names()]
        listed = [{"paper": p.name, "title": p.title, "parts": p.parts} for p in known]
        deliver({"papers": listed}, as_json, lambda to: _list(to, known))
        return
    chosen = [find_paper(name) for name in (paper_names() if paper == "all" else (paper,))]
    if paper == "all" and part is not None:
        raise UsageError("--part needs one paper.", code="part-of-all", hint="Name the paper instead of 'all'.")
    found = reproduce_papers(chosen, part=part, seed=seed, quick=quick, done=_tell, check=raise_if_cancelled)
    files = [file for one in found for file in one.write(output)]
    data = {"papers": [_summary(one) for one in found], "quick": quick, "files": files}
    deliver(data, as_json, lambda to: _text(to, found, files))


def _summary(found: Reproduction) -> dict[str, object]:
    """Return a reproduction without its pictures, which are on the page and in its own JSON file."""
    items = [item.model_dump(mode="json", exclude={"pictures"}) for item in found.items]
    return {"paper": found.name, "title": found.title, "scores": found.scores, "items": items}


def _tell(paper: str, part: str) -> None:
    """Report finished parts on a terminal, since the whole may take minutes."""
    to = console(stderr=True)
    if to.is_terminal:
        to.print(f"done: {paper}, {part}", style="dim", overflow="ellipsis", no_wrap=True)


def _list(to: Console, papers: Sequence[Paper]) -> None:
    rows = [(p.name, p.title, ", ".join(p.parts)) for p in papers]
    put(to, f"{len(rows)} papers. 'hushtable reproduce all' runs them all.")
    to.print()
    to.print(grid(["paper", "topic", "parts"], rows, fold=["topic", "parts"]))


def _text(to: Console, found: Sequence[Reproduction], files: Sequence[Path]) -> None:
    from hushtable.reproduce.items import VERDICTS

    for one in found:
        put(to, one.title, "bold")
        to.print(grid(["item", "verdict", "why"], [(i.name, i.words, i.reason) for i in one.items],
                      fold=["item", "verdict", "why"]))  # fmt: skip
        to.print()
    if len(found) > 1:
        scores = [(one.name, *(str(n) for n in one.scores.values())) for one in found]
        to.print(grid(["paper", *VERDICTS], scores, right=VERDICTS))
        to.print()
    for file in files:
        if file.suffix == ".html":
            put(to, f"written: {file}", wrap=False)
