"""The frontier as a chart: utility over privacy, one mark per algorithm, the frontier as a line."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.comparison.outcomes import better
from hushtable.errors import UsageError
from hushtable.io.atomic import atomic_file
from hushtable.io.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hushtable.comparison.outcomes import Outcomes

__all__ = ["draw", "plot"]

_FORMATS = ("svg", "png", "pdf")
_MARKS = "osD^vPX<>*phd"


def draw(outcomes: Outcomes, path: Path) -> None:
    """Draw the rows with a release.

    Raises
    ------
    UsageError
        If there is none, or the file's suffix is not a format that can be drawn.
    """
    kind = path.suffix.lower().lstrip(".")
    if kind not in _FORMATS:
        raise UsageError(
            f"A chart can be written as {', '.join(_FORMATS)}. Got {path.suffix!r} instead.", code="chart-format"
        )
    points = _points(outcomes)
    if not points:
        raise UsageError("No setting produced a release, so there is no chart to draw.", code="no-release")
    picture = _render(outcomes, points, kind)
    if kind == "svg":
        picture = _described(picture, outcomes, points)
    with atomic_file(path) as out:
        out.write(picture)


def plot(outcomes: Outcomes, ax: Axes | None = None) -> Axes:
    """Draw the rows with a release into axes, new ones by default, and return them."""
    from hushtable.io.plots import new_axes

    points = _points(outcomes)
    if not points:
        raise UsageError("No setting produced a release, so there is no chart to draw.", code="no-release")
    made = new_axes(ax, (7.6, 4.6))
    _plot(made, outcomes, points)
    return made


def _points(outcomes: Outcomes) -> list[tuple[int, str, float, float]]:
    """Return position, algorithm, privacy and utility of every row that has both."""
    if not outcomes.quantities:
        return []
    privacy, utility = outcomes.quantity(outcomes.privacy), outcomes.quantity(outcomes.utility)
    return [
        (i, row["algorithm"], row["values"][privacy], row["values"][utility])
        for i, row in enumerate(outcomes.rows)
        if row["values"].get(privacy) is not None and row["values"].get(utility) is not None
    ]


def _render(outcomes: Outcomes, points: list[tuple[int, str, float, float]], kind: str) -> bytes:
    import matplotlib

    # a figure of its own instead of pyplot: no window system, no state shared with a notebook
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: Any = {"svg.hashsalt": "hushtable", "svg.fonttype": "none", "font.size": 10}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(7.6, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _plot(axes, outcomes, points)
        out = io.BytesIO()
        figure.savefig(out, format=kind, dpi=150, metadata=_no_date(kind))
    return out.getvalue()


def _plot(axes: Any, outcomes: Outcomes, points: list[tuple[int, str, float, float]]) -> None:
    names = list(dict.fromkeys(name for _, name, _, _ in points))
    for number, name in enumerate(names):
        own = [(x, y) for _, other, x, y in points if other == name]
        axes.scatter(
            [x for x, _ in own],
            [y for _, y in own],
            marker=_MARKS[number % len(_MARKS)],
            color=COLOURS[number % len(COLOURS)],
            s=42,
            label=name,
            zorder=3,
        )
    on_frontier = set(outcomes.frontier)
    line = sorted((x, y) for i, _, x, y in points if i in on_frontier)
    axes.plot([x for x, _ in line], [y for _, y in line], color="#777777", linewidth=1.2, label="frontier", zorder=2)
    axes.set_xlabel(f"{outcomes.privacy} ({better(outcomes.quantity(outcomes.privacy))} is better)")
    axes.set_ylabel(f"{outcomes.utility} ({better(outcomes.quantity(outcomes.utility))} is better)")
    axes.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _no_date(kind: str) -> dict[str, None]:
    return {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]


def _described(picture: bytes, outcomes: Outcomes, points: list[tuple[int, str, float, float]]) -> bytes:
    """Return the same SVG with a title and a description for those who do not see it."""
    title = f"{outcomes.utility} over {outcomes.privacy} of {len(points)} settings"
    rows = [outcomes.rows[i] for i in outcomes.frontier]
    told = "; ".join(
        f"{row['algorithm']} with {row['models']}: {outcomes.privacy} "
        f"{row['values'][outcomes.quantity(outcomes.privacy)]:.4g}, {outcomes.utility} "
        f"{row['values'][outcomes.quantity(outcomes.utility)]:.4g}"
        for row in rows
    )
    words = f"<title>{escape(title)}</title><desc>On the frontier: {escape(told)}.</desc>"
    text = picture.decode("utf-8")
    text = re.sub(r"(<svg )", r'\1role="img" ', text, count=1)
    return re.sub(r"(<svg [^>]*>)", lambda m: m.group(1) + words, text, count=1).encode("utf-8")
