"""The pages of the papers in docs/papers and the scoreboard in docs/papers.md: ``make papers``.

``python docs/generator/papers.py [PAPER ...]`` runs these papers, or all, and writes their pages. ``--draw`` runs
nothing: it draws the pages again from the results that are there. Times differ from machine to machine, so every full
run changes the pages a little.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hushtable.reproduce.items import VERDICTS
from hushtable.reproduce.papers import Reproduction, find_paper, paper_names, reproduce_papers

DOCS = Path(__file__).resolve().parents[1]
PAGES = DOCS / "papers"
_BEGIN, _END = "<!-- scoreboard: made by docs/generator/papers.py -->", "<!-- end of the scoreboard -->"


def saved() -> list[Reproduction]:
    """The results that the pages are drawn from."""
    files = [PAGES / f"{name}.json" for name in paper_names()]
    return [Reproduction.of(json.loads(file.read_text(encoding="utf-8"))) for file in files]


def scoreboard(papers: Sequence[Reproduction]) -> str:
    """The number of items by paper and verdict, then one line for each item."""
    lines = [f"| paper | {' | '.join(VERDICTS)} |", f"| --- |{' --- |' * len(VERDICTS)}"]
    for one in papers:
        counts = " | ".join(str(n) for n in one.scores.values())
        lines.append(f"| [{one.name}](papers/{one.name}.html) | {counts} |")
    total = [sum(one.scores[verdict] for one in papers) for verdict in VERDICTS]
    lines.append(f"| all | {' | '.join(str(n) for n in total)} |")
    return "\n".join(lines)


def with_scoreboard(text: str, board: str) -> str:
    """Put the scoreboard between its marks."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n\n{board}\n\n{_END}{after}"


def main(words: Sequence[str]) -> None:
    """Run what was asked for, write its pages, and the scoreboard of all."""
    names = words or paper_names()
    found = saved() if "--draw" in words else reproduce_papers([find_paper(name) for name in names])
    for one in found:
        one.write(PAGES)
    page = DOCS / "papers.md"
    page.write_text(with_scoreboard(page.read_text(encoding="utf-8"), scoreboard(saved())), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
