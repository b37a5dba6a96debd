"""One bar in each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hushtable.report.charts.frame import NARROW, WIDE, Frame, Heading, data_table, figure, legend
from hushtable.report.html import Markup, join, tag
from hushtable.report.numbers import percent


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


# A dot with its confidence interval in each row, and a tick at the rate of guessing.


@dataclass(frozen=True)
class Interval:
    """One row: a rate between 0 and 1, its interval, and its baseline."""

    label: str
    rate: float
    low: float
    high: float
    baseline: float
    above: bool


def interval_chart(heading: Heading, rows: Sequence[Interval]) -> Markup:
    """Draw rates with intervals, compared with their baselines.

    Examples
    --------
    >>> drawn = interval_chart(Heading("a", "Attacks", ""), [Interval("linkage", 0.5, 0.4, 0.6, 0.1, True)])
    >>> "linkage: 50.0%, interval 40.0% to 60.0%, baseline 10.0%" in drawn
    True
    """
    frame = Frame([r.label for r in rows], 1.0, lambda share: f"{share:.0%}", row=28)
    marks: list[Markup] = []
    for i, r in enumerate(rows):
        y = frame.y(i)
        kind = "dot-above" if r.above else "dot"
        marks.append(
            join(
                tag("line", x1=frame.x(r.low), y1=y, x2=frame.x(r.high), y2=y, class_="interval"),
                tag("line", x1=frame.x(r.baseline), y1=y - 9, x2=frame.x(r.baseline), y2=y + 9, class_="tick-mark"),
                tag("circle", cx=frame.x(r.rate), cy=y, r=5, class_=kind),
                frame.value(i, f"{percent(r.rate)} / {percent(r.baseline)}"),
            )
        )
    words = "; ".join(
        f"{r.label}: {percent(r.rate)}, interval {percent(r.low)} to {percent(r.high)}, baseline {percent(r.baseline)}"
        for r in rows
    )
    table = data_table(
        heading,
        ["attack", "rate", "95% interval", "baseline"],
        [(r.label, percent(r.rate), f"{percent(r.low)} to {percent(r.high)}", percent(r.baseline)) for r in rows],
    )
    keys = legend(
        ("dot-above", "rate, above guessing"),
        ("dot", "rate, not above guessing"),
        ("tick-mark", "guessing without the release"),
    )
    return figure(frame.draw(heading, f"A dot for each row. {words}.", *marks), heading, table, keys)
