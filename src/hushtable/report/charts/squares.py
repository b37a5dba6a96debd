"""Points in the plane and the boxes that a partition puts around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hushtable.report.charts.frame import Heading, data_table, figure
from hushtable.report.charts.lines import PlotArea, between
from hushtable.report.html import Markup, tag


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
