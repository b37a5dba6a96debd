"""Legends: the meaning of each mark of a chart, distinguished by shape as well as by color."""

from __future__ import annotations

from hushtable.report.html import Markup, tag

__all__ = ["legend"]


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
