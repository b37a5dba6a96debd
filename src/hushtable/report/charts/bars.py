"""One bar in each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hushtable.report.charts.frame import NARROW, WIDE, Frame, Heading, data_table, figure
from hushtable.report.html import Markup, tag

__all__ = ["bar_chart"]


def bar_chart(
    heading: Heading,
    rows: Sequence[tuple[str, float]],
    *,
    show: Callable[[float], str],
    scale: Callable[[float], str],
    head: tuple[str, str],
    most: float | None = None,
    narrow: bool = False,
) -> Markup:
    """Draw (label, value) rows; ``most`` fixes the end of the scale, ``show`` and ``scale`` format numbers.

    Examples
    --------
    >>> drawn = bar_chart(Heading("a", "Levels", ""), [("exact", 0.5)], show=str, scale=str, head=("level", ""), most=1)
    >>> 'width="180.0"' in drawn
    True
    """
    frame = Frame(
        [label for label, _ in rows],
        most or max((v for _, v in rows), default=0.0),
        scale,
        24,
        NARROW if narrow else WIDE,
    )
    bars = []
    for i, (_, value) in enumerate(rows):
        width = round(frame.x(value) - frame.left, 2)
        bars.append(tag("rect", x=frame.left, y=round(frame.y(i) - 7, 2), width=width, height=14, class_="after"))
        bars.append(frame.value(i, show(value)))
    words = "; ".join(f"{label}: {show(value)}" for label, value in rows)
    return figure(
        frame.draw(heading, f"One bar for each row. {words}.", *bars),
        heading,
        data_table(heading, head, [(label, show(value)) for label, value in rows]),
    )
