"""Lines over a common scale, each with marks of its own shape; published ones are dashed and hollow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hushtable.report.charts.frame import Heading, data_table, figure, ticks
from hushtable.report.html import Child, Markup, join, tag

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 16, 12, 46
_SHAPES = 5


@dataclass(frozen=True)
class Curve:
    """A line: its points, the lowest and highest value at each of them, and whether it was published."""

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()
    published: bool = False


@dataclass(frozen=True)
class PlotArea:
    """A rectangle of numbers and its position in the drawing.

    Attributes
    ----------
    x, y : pairs of float
        The ends of both scales.
    x_name, y_name : str
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_name: str
    y_name: str

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point.

        Examples
        --------
        >>> PlotArea((0, 10), (0, 1), "k", "loss").at(10, 0)
        (624.0, 274.0)
        """
        wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return round(_LEFT + wide * across, 1), round(_TOP + high * (1 - up), 1)

    def draw(
        self, heading: Heading, description: str, x_ticks: Sequence[float], y_ticks: Sequence[float],
        show: Callable[[float], str], *marks: Child,
    ) -> Markup:  # fmt: skip
        """Return the SVG with axes, grid and these marks."""
        grid: list[Markup] = []
        for value in y_ticks:
            (left, y), (right, _) = self.at(self.x[0], value), self.at(self.x[1], value)
            grid.append(tag("line", x1=left, y1=y, x2=right, y2=y, class_="grid"))
            grid.append(tag("text", show(value), x=left - 8, y=y + 4, class_="label"))
        bottom = _HEIGHT - _BOTTOM
        for value in x_ticks:
            x, _ = self.at(value, self.y[0])
            grid.append(tag("line", x1=x, y1=bottom, x2=x, y2=bottom + 4, class_="axis"))
            grid.append(tag("text", show(value), x=x, y=bottom + 18, class_="tick"))
        middle = (_TOP + bottom) / 2
        grid += [
            tag("line", x1=_LEFT, y1=bottom, x2=_WIDTH - _RIGHT, y2=bottom, class_="axis"),
            tag("text", self.x_name, x=(_LEFT + _WIDTH - _RIGHT) / 2, y=_HEIGHT - 8, class_="tick"),
            tag("text", self.y_name, x=14, y=middle, transform=f"rotate(-90 14 {middle:g})", class_="tick"),
        ]
        name = heading.name
        return tag(
            "svg", tag("title", heading.title, id=f"{name}t"), tag("desc", description, id=f"{name}d"), *grid, *marks,
            viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_labelledby=f"{name}t {name}d", class_="chart",
        )  # fmt: skip


def line_chart(
    heading: Heading, curves: Sequence[Curve], *, x: str, y: str, show: Callable[[float], str], zero: bool = True
) -> Markup:
    """Draw lines with their bands over one scale that starts at 0, or below the smallest value without ``zero``.

    A published line has the color and the shape of our line with the same name.

    Examples
    --------
    >>> curves = [Curve("ours", [(1, 2), (2, 3)]), Curve("ours", [(1, 2.5), (2, 3)], published=True)]
    >>> drawn = line_chart(Heading("a", "Loss", ""), curves, x="k", y="loss", show=str)
    >>> drawn.count('class="line s0 published"'), "ours, published" in drawn
    (2, True)
    """
    points = [point for curve in curves for point in curve.points]
    highest = max([y for _, y in points] + [high for c in curves for _, high in c.band], default=1.0)
    across = sorted({x for x, _ in points})
    lowest = min([y for _, y in points] + [low for c in curves for low, _ in c.band], default=0.0)
    marks = ticks(highest) if zero or highest <= lowest else between(lowest, highest)
    plane = PlotArea((across[0], across[-1]) if across else (0.0, 1.0), (marks[0], marks[-1]), x, y)
    order = list(dict.fromkeys(c.name for c in curves))
    drawn = [_curve(plane, c, order.index(c.name)) for c in curves]
    keys = tag("p", *(_key(c, order.index(c.name)) for c in curves), class_="legend")
    words = "; ".join(f"{_named(c)}: " + ", ".join(f"{show(y)} at {show(x)}" for x, y in c.points) for c in curves)
    rows = [[show(at), *(_value(c, at, show) for c in curves)] for at in across]
    table = data_table(heading, [x, *(_named(c) for c in curves)], rows)
    shown = across if len(across) <= 10 else [across[i] for i in range(0, len(across), math.ceil(len(across) / 8))]
    svg = plane.draw(heading, f"{y} by {x}. {words}.", shown, marks, show, *drawn)
    return figure(svg, heading, table, keys)


def between(lowest: float, highest: float) -> list[float]:
    """Return round numbers from below the lowest to above the highest.

    Examples
    --------
    >>> between(7, 95)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    step = ticks(highest - lowest)[1]
    first = math.floor(lowest / step)
    return [round(i * step, 9) for i in range(first, math.ceil(highest / step - 1e-9) + 1)]


def _named(curve: Curve) -> str:
    return f"{curve.name}, published" if curve.published else curve.name


def _value(curve: Curve, at: float, show: Callable[[float], str]) -> str:
    return next((show(y) for x, y in curve.points if x == at), "")


def _curve(plane: PlotArea, curve: Curve, number: int) -> Markup:
    kind = f"s{number % 8}{' published' if curve.published else ''}"
    parts: list[Markup] = []
    if curve.band:
        edge = [plane.at(x, low) for (x, _), (low, _) in zip(curve.points, curve.band, strict=True)]
        edge += [plane.at(x, high) for (x, _), (_, high) in zip(curve.points, curve.band, strict=True)][::-1]
        parts.append(tag("path", d=_path(edge) + "Z", class_=f"band {kind}"))
    places = [plane.at(x, y) for x, y in curve.points]
    parts.append(tag("path", d=_path(places), class_=f"line {kind}"))
    parts += [_mark(x, y, number, kind) for x, y in places]
    return join(*parts)


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in places)


def _mark(x: float, y: float, number: int, kind: str) -> Markup:
    """A mark whose shape distinguishes lines without color."""
    shape = number % _SHAPES
    if shape == 0:
        return tag("circle", cx=x, cy=y, r=3.6, class_=f"mark {kind}")
    corners = {
        1: [(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)],
        2: [(0, -4.4), (4.2, 3.4), (-4.2, 3.4)],
        3: [(0, -4.8), (4.4, 0), (0, 4.8), (-4.4, 0)],
        4: [(0, 4.4), (4.2, -3.4), (-4.2, -3.4)],
    }[shape]
    return tag("path", d=_path([(x + a, y + b) for a, b in corners]) + "Z", class_=f"mark {kind}")


def _key(curve: Curve, number: int) -> Markup:
    kind = f"s{number % 8}{' published' if curve.published else ''}"
    line = tag("line", x1=1, y1=7, x2=27, y2=7, class_=f"line {kind}")
    drawn = tag("svg", line, _mark(14, 7, number, kind), viewBox="0 0 28 14", aria_hidden="true", class_="key long")
    return tag("span", drawn, _named(curve))


# Points in the plane and the boxes that a partition puts around them.


def square_chart(
    heading: Heading,
    points: Sequence[tuple[float, float]],
    boxes: Sequence[tuple[float, float, float, float]],
    *,
    x: str,
    y: str,
    show: Callable[[float], str],
) -> Markup:
    """Draw points and boxes (left, bottom, right, top).

    Examples
    --------
    >>> drawn = square_chart(Heading("a", "Cuts", ""), [(0, 0), (1, 1)], [(0, 0, 1, 1)], x="x", y="y", show=str)
    >>> drawn.count("<circle"), drawn.count('class="box"')
    (2, 1)
    """
    xs = [p[0] for p in points] + [v for b in boxes for v in (b[0], b[2])] or [0.0, 1.0]
    ys = [p[1] for p in points] + [v for b in boxes for v in (b[1], b[3])] or [0.0, 1.0]
    across, up = (between(min(v), max(v)) if max(v) > min(v) else [min(v)] for v in (xs, ys))
    plane = PlotArea((across[0], across[-1]), (up[0], up[-1]), x, y)
    drawn: list[Markup] = []
    for left, bottom, right, top in boxes:
        (x0, y1), (x1, y0) = plane.at(left, bottom), plane.at(right, top)
        # a class whose people all share a value is a line: as wide as can be seen
        size = {"width": round(max(x1 - x0, 1.0), 1), "height": round(max(y1 - y0, 1.0), 1)}
        drawn.append(tag("rect", x=x0, y=y0, class_="box", **size))
    for place in points:
        at = plane.at(*place)
        drawn.append(tag("circle", cx=at[0], cy=at[1], r=1.6, class_="point"))
    svg = plane.draw(heading, f"{len(points)} points in {len(boxes)} boxes.", across, up, show, *drawn)
    counts = [["points", f"{len(points):,}"], ["boxes", f"{len(boxes):,}"]]
    return figure(svg, heading, data_table(heading, ["what", "how many"], counts))
