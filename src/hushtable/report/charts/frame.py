"""Shared parts of all charts: rows with a label, one horizontal scale, and a text alternative.

A chart is a figure with an SVG (role img, title and description) and the same numbers as a folded table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hushtable.report.html import Child, Markup, join, tag

WIDE = (176, 360, 124)
"""Widths of the three parts of a row: its label, its marks, its numbers."""
NARROW = (156, 172, 108)
"""The same for charts that are placed side by side."""
TOP, BOTTOM = 6, 26
_CHARACTER = 7.0
"""Character width of the widest common font: a label must not start outside the drawing."""


def ticks(most: float) -> list[float]:
    """Return round numbers from 0 to the end of a scale that reaches ``most``.

    Examples
    --------
    >>> ticks(0.37), ticks(0.0)
    ([0.0, 0.1, 0.2, 0.3, 0.4], [0.0, 1.0])
    """
    if most <= 0:
        return [0.0, 1.0]
    step = next(
        s * p for p in (10.0**e for e in range(-6, 13)) for s in (1, 2, 2.5, 5) if s * p * 5 >= most * (1 - 1e-9)
    )
    return [round(i * step, 9) for i in range(int(most / step - 1e-9) + 2)]


def short(label: str, width: int) -> str:
    """Shorten a label to fit a width.

    Examples
    --------
    >>> short("marital-status × occupation", 156)
    'marital-status × occ…'
    """
    longest = int((width - 6) / _CHARACTER)
    return label if len(label) <= longest else label[: longest - 1] + "…"


@dataclass(frozen=True)
class Heading:
    """The texts of a chart.

    Attributes
    ----------
    key : str
        Distinguishes this chart from others on the page.
    title : str
        Text for people who cannot see the chart.
    caption : str or Markup
        Appears above the chart, for everybody.
    """

    key: str
    title: str
    caption: Child

    @property
    def name(self) -> str:
        """A name for the elements of the chart, unique on the page."""
        return f"c{hashlib.sha256(self.key.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


@dataclass(frozen=True)
class Frame:
    """Rows and a scale.

    Attributes
    ----------
    labels : sequence of str
    most : float
        The largest number that is drawn.
    show : callable
        Formats a number of the scale.
    row : int
        Height of a row.
    widths : tuple of int
        ``WIDE`` or ``NARROW``.
    """

    labels: Sequence[str]
    most: float
    show: Callable[[float], str]
    row: int = 30
    widths: tuple[int, int, int] = WIDE

    @property
    def left(self) -> int:
        """Position of 0."""
        return self.widths[0]

    @property
    def marks(self) -> list[float]:
        """Positions of the grid lines."""
        return ticks(self.most)

    def x(self, value: float) -> float:
        """Return the position of a number."""
        return round(self.left + self.widths[1] * min(max(value / self.marks[-1], 0.0), 1.0), 2)

    def y(self, i: int) -> float:
        """Return the vertical center of a row."""
        return TOP + self.row * (i + 0.5)

    @property
    def height(self) -> int:
        """Height of the whole drawing."""
        return TOP + self.row * len(self.labels) + BOTTOM

    def value(self, i: int, text: str) -> Markup:
        """Return the numbers of a row, at its end."""
        return tag("text", text, x=self.left + self.widths[1] + 10, y=round(self.y(i) + 4, 2), class_="value")

    def draw(self, heading: Heading, description: str, *marks: Child) -> Markup:
        """Return the SVG with grid, labels and these marks."""
        bottom = TOP + self.row * len(self.labels)
        grid = [
            join(
                tag("line", x1=self.x(t), y1=TOP, x2=self.x(t), y2=bottom, class_="grid"),
                tag("text", self.show(t), x=self.x(t), y=bottom + 17, class_="tick"),
            )
            for t in self.marks
        ]
        names = [
            tag("text", short(label, self.left), x=self.left - 10, y=round(self.y(i) + 4, 2), class_="label")
            for i, label in enumerate(self.labels)
        ]
        name = heading.name
        return tag(
            "svg",
            tag("title", heading.title, id=f"{name}t"),
            tag("desc", description, id=f"{name}d"),
            *grid,
            *names,
            *marks,
            viewBox=f"0 0 {sum(self.widths)} {self.height}",
            role="img",
            aria_labelledby=f"{name}t {name}d",
            class_="chart",
        )


def figure(drawing: Markup, heading: Heading, table: Markup, legend: Markup | None = None) -> Markup:
    """Combine a drawing, its caption and its numbers."""
    numbers = tag("details", tag("summary", "The numbers as a table"), table, class_="numbers")
    return tag("figure", tag("figcaption", heading.caption), legend, drawing, numbers)


def data_table(heading: Heading, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Return the numbers of a chart as a table: the first cell of a row names it."""
    return tag(
        "table",
        tag("caption", heading.title, class_="quiet"),
        tag("thead", tag("tr", *(tag("th", h, scope="col") for h in head))),
        tag(
            "tbody",
            *(
                tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell, class_="n") for cell in row[1:]))
                for row in rows
            ),
        ),
    )


def legend(*entries: tuple[str, str]) -> Markup:
    """Return a legend of (class of the mark, meaning).

    Examples
    --------
    >>> "before" in legend(("before", "input"))
    True
    """
    return tag("p", *(_entry(mark, words) for mark, words in entries), class_="legend")


def _entry(mark: str, words: str) -> Markup:
    if mark == "tick-mark":
        drawn = tag("line", x1=7, y1=1, x2=7, y2=13, class_=mark)
    elif mark.startswith("dot"):
        drawn = tag("circle", cx=7, cy=7, r=5, class_=mark)
    else:
        drawn = tag("rect", x=1, y=2, width=12, height=10, class_=mark)
    return tag("span", tag("svg", drawn, viewBox="0 0 14 14", aria_hidden="true", class_="key"), words)
