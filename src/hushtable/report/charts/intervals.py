"""A dot with its confidence interval in each row, and a tick at the rate of guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.report.charts.frame import Frame, Heading, data_table, figure, legend
from hushtable.report.html import Markup, join, tag
from hushtable.report.numbers import percent


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
