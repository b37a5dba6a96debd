"""Two dots in each row, joined by a line: how far a number moved."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report.charts.frame import Frame, Heading, data_table, figure
from hushtable.report.charts.legend import legend
from hushtable.report.html import Markup, join, tag

__all__ = ["change_chart"]


def change_chart(heading: Heading, rows: Sequence[tuple[str, float, float]], *, head: str) -> Markup:
    """Draw (label, before, after) rows of numbers from 0 to 1.

    Examples
    --------
    >>> drawn = change_chart(Heading("a", "Associations", ""), [("age, sex", 0.4, 0.3)], head="columns")
    >>> drawn.count("<circle")
    4
    """
    frame = Frame([label for label, _, _ in rows], max((max(b, a) for _, b, a in rows), default=0.0), _two, row=24)
    marks: list[Markup] = []
    for i, (_, before, after) in enumerate(rows):
        y = frame.y(i)
        marks.append(
            join(
                tag("line", x1=frame.x(before), y1=y, x2=frame.x(after), y2=y, class_="interval"),
                tag("circle", cx=frame.x(before), cy=y, r=5, class_="dot-before"),
                tag("circle", cx=frame.x(after), cy=y, r=4.5, class_="dot-after"),
                frame.value(i, f"{_two(before)} → {_two(after)}"),
            )
        )
    words = "; ".join(f"{label}: {_two(b)} before, {_two(a)} after" for label, b, a in rows)
    return figure(
        frame.draw(heading, f"Two dots for each row. {words}.", *marks),
        heading,
        data_table(heading, [head, "before", "after"], [(label, _two(b), _two(a)) for label, b, a in rows]),
        legend(("dot-before", "before (input)"), ("dot-after", "after (release)")),
    )


def _two(value: float) -> str:
    return f"{value:.2f}"
