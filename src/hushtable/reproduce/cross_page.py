"""The cross table as one offline page: feasibility, loss, time and the success of attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hushtable.report.charts.bars import bar_chart
from hushtable.report.charts.frame import Heading
from hushtable.report.html import Child, Markup, document, join, tag
from hushtable.report.page.parts import bullets, table
from hushtable.report.page.style import STYLE
from hushtable.reproduce.cross import ATTACKS, QUASI, SETTINGS, SUPPRESSION, CrossResult

__all__ = ["cross_page"]

_SHORT = {
    "infeasible": "none exists",
    "not found": "not found",
    "refused": "refused",
    "too slow": "too slow",
    "failed": "failed",
}

_BROAD = """
@media screen { body { max-width: 150rem; } body > p, body > ul { max-width: 60rem; }
  td.n, th.n { padding-left: .6rem; }
  .wide tbody th { position: sticky; left: 0; background: var(--paper); white-space: nowrap; } }
"""
"""As wide as the window, with models that stay in view: there are many algorithms."""


def cross_page(cells: Sequence[CrossResult], *, rows: int, seconds: float) -> str:
    """Return the page.

    Parameters
    ----------
    cells : sequence of CrossResult
    rows : int
        Number of records of Adult in each cell.
    seconds : float
        The limit per cell.

    Examples
    --------
    >>> page = cross_page([CrossResult("k-anonymity", "mondrian", "released", loss=0.2)], rows=500, seconds=5)
    >>> "500 records" in page and "0.200" in page
    True
    """
    body = join(
        tag("h1", "Every model with every algorithm"),
        tag("p", _about(cells, rows, seconds)),
        bar_chart(
            Heading("released", "Models with a release", "For how many models each algorithm released."),
            _released(cells),
            show=lambda v: f"{v:.0f}", scale=lambda v: f"{v:.0f}", head=("algorithm", "models"),
        ),
        tag("h2", "Feasibility and loss"),
        tag("p", "NCP of the release: 0 is exact, 1 tells nothing. Otherwise why there is none."),
        _matrix("Loss (NCP)", cells, lambda c: _number(c.loss, 3)),
        tag("h2", "Time"),
        _matrix("Seconds until a release was verified, or the search ended", cells, lambda c: f"{c.seconds:.2f}",
                every=True),
        tag("h2", "What attacks get"),
        tag("p", "Share of right guesses with the release, minus the same guess without it, in percentage points."),
        *(_matrix(f"Attack: {name}", cells, lambda c, name=name: _lift(c, name)) for name in ATTACKS),  # type: ignore[misc]
        tag("h2", "Settings"),
        bullets([_setting(name) for name in dict.fromkeys(c.model for c in cells)]),
        tag("h2", "Why there is no release"),
        _reasons(cells),
    )  # fmt: skip
    return document("Every model with every algorithm", STYLE + _BROAD, body)


def _about(cells: Sequence[CrossResult], rows: int, seconds: float) -> str:
    models, algorithms = ({getattr(c, name) for c in cells} for name in ("model", "algorithm"))
    released = sum(c.outcome == "released" for c in cells)
    return (
        f"{len(models)} models with {len(algorithms)} algorithms on the same {rows:,} records of Adult: {released} of "
        f"{len(cells)} cells have a release. Quasi-identifiers: {', '.join(QUASI)}. At most {SUPPRESSION:.0%} of "
        "the records are suppressed (no limit for dp, which publishes a sample), and each cell has "
        f"{seconds:g} seconds. Each model stands alone, so a model against attribute disclosure says nothing about who "
        "can be found. Settings are moderate ones for this table, not the papers'."
    )


def _released(cells: Sequence[CrossResult]) -> list[tuple[str, float]]:
    count: dict[str, float] = dict.fromkeys((c.algorithm for c in cells), 0.0)
    for cell in cells:
        count[cell.algorithm] += cell.outcome == "released"
    return sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))


def _matrix(
    caption: str, cells: Sequence[CrossResult], show: Callable[[CrossResult], str], *, every: bool = False
) -> Markup:
    """Return models by algorithms; cells without a release say why, unless every cell is shown."""
    algorithms = list(dict.fromkeys(c.algorithm for c in cells))
    found = {(c.model, c.algorithm): c for c in cells}
    rows: list[list[Child]] = []
    for model in dict.fromkeys(c.model for c in cells):
        own = [found.get((model, algorithm)) for algorithm in algorithms]
        rows.append([model, *("" if c is None else _shown(c, show, every=every) for c in own)])
    return table(caption, ["model", *algorithms], rows, right=range(1, len(algorithms) + 1))


def _shown(cell: CrossResult, show: Callable[[CrossResult], str], *, every: bool) -> Child:
    if every or cell.outcome == "released":
        return show(cell)
    return tag("span", _SHORT[cell.outcome], class_="quiet", title=cell.reason)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _lift(cell: CrossResult, name: str) -> str:
    if name not in cell.attacks:
        return "-"
    rate, baseline = cell.attacks[name]
    return f"{100 * (rate - baseline):+.1f}"


def _setting(model: str) -> str:
    given: Mapping[str, object] = SETTINGS.get(model, {})
    return f"{model}: {', '.join(f'{name} = {value}' for name, value in given.items())}"


def _reasons(cells: Sequence[CrossResult]) -> Markup:
    """Return each reason once, with its cells."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.outcome != "released":
            found.setdefault((cell.outcome, cell.reason), []).append(f"{cell.model} with {cell.algorithm}")
    if not found:
        return tag("p", "Every cell has one.")
    rows: list[list[Child]] = [
        [_SHORT[outcome], reason, "; ".join(which)] for (outcome, reason), which in sorted(found.items())
    ]
    return table("Reasons", ["outcome", "reason", "cells"], rows)
