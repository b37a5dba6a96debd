"""Two bars in each row: before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hushtable.report.charts.frame import NARROW, WIDE, Frame, Heading, data_table, figure
from hushtable.report.charts.legend import legend
from hushtable.report.html import Markup, tag

__all__ = ["pair_chart"]


def pair_chart(
    heading: Heading,
    rows: Sequence[tuple[str, float, float]],
    *,
    show: Callable[[float], str],
    scale: Callable[[float], str],
    head: str,
    narrow: bool = False,
) -> Markup:
    """Draw (label, before, after) rows.

    Parameters
    ----------
    heading : Heading
    rows : sequence of tuples
    show, scale : callables
        Format numbers in the rows and along the scale.
    head : str
        Heading of the rows, for the table.
    narrow : bool
        Whether it is placed next to another one.

    Examples
    --------
    >>> drawn = pair_chart(Heading("a", "Ages", "Ages"), [("20", 1, 2)], show=str, scale=str, head="age")
    >>> drawn.count('class="before"'), drawn.count('class="after"')
    (2, 2)
    """
    frame = Frame(
        [label for label, _, _ in rows],
        max((max(b, a) for _, b, a in rows), default=0.0),
        scale,
        widths=NARROW if narrow else WIDE,
    )
    bars: list[Markup] = []
    for i, (_, before, after) in enumerate(rows):
        middle = frame.y(i)
        for value, top, kind in ((before, middle - 10, "before"), (after, middle + 1, "after")):
            width = round(frame.x(value) - frame.left, 2)
            bars.append(tag("rect", x=frame.left, y=round(top, 2), width=width, height=9, class_=kind))
        bars.append(frame.value(i, f"{show(before)} → {show(after)}"))
    words = "; ".join(f"{label}: {show(b)} before, {show(a)} after" for label, b, a in rows)
    return figure(
        frame.draw(heading, f"Two bars for each row. {words}.", *bars),
        heading,
        data_table(heading, [head, "before", "after"], [(label, show(b), show(a)) for label, b, a in rows]),
        legend(("before", "before (input)"), ("after", "after (release)")),
    )
