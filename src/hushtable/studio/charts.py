"""Charts as SVG text: no script, no library, nothing fetched; each has a text alternative for screen readers.

Charts of distributions and attacks come from the report. Charts with two axes have numbers on both, and are drawn once
for wide windows and once for narrow ones, since text that shrinks with its drawing cannot be read.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any

from hushtable.report.charts.frame import ticks

_WIDE, _SLIM = 720, 344
_NARROW = 520
_LEFT, _BOTTOM, _TOP, _RIGHT = 58, 44, 18, 16
_CHARACTER = 6.6


def _svg(width: int, height: int, title: str, body: str, *, picked: bool = False) -> str:
    role = "group" if picked else "img"
    return (
        f'<svg class="ht-chart" viewBox="0 0 {width} {height}" style="max-width:{width}px" role="{role}" '
        f'aria-label="{html.escape(title)}">'
        f"<title>{html.escape(title)}</title>{body}</svg>"
    )


def _for_both(draw: Callable[[int], str]) -> str:
    return f'<div class="ht-wide">{draw(_WIDE)}</div><div class="ht-slim">{draw(_SLIM)}</div>'


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _short(words: str, width: float) -> str:
    most = max(int(width / _CHARACTER), 3)
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _axes(
    width: int,
    height: int,
    across: Sequence[tuple[float, str]],
    up: Sequence[tuple[float, str]],
    names: tuple[str, str],
    left: int = _LEFT,
) -> list[str]:
    """Draw both axes with their names, and a line and a number at each of the given positions."""
    base, right = height - _BOTTOM, width - _RIGHT
    parts = []
    last = -math.inf
    for x, words in across:
        parts.append(_line(x, _TOP, x, base, "grid"))
        half = len(words) * _CHARACTER / 2
        at = min(x, right - half)
        if at - half > last + 4:
            parts.append(_text(at, base + 16, words, kind="tick-text"))
            last = at + half
    for y, words in up:
        parts.append(_line(left, y, right, y, "grid"))
        parts.append(_text(left - 6, y + 4, _short(words, left - 20), "end", "tick-text"))
    parts += [_line(left, base, right, base), _line(left, _TOP, left, base)]
    parts.append(_text((left + right) / 2, height - 8, f"{_short(names[0], right - left - 20)} →"))
    middle = (_TOP + base) / 2
    name = _text(11, middle, f"{_short(names[1], base - _TOP - 20)} →")
    return [*parts, f'<g transform="rotate(-90 11 {middle:.0f})">{name}</g>']


def histogram(data: dict[str, Any], title: str, cuts: Sequence[float] = ()) -> str:
    """Numbers or dates as bars, with lines where intervals begin."""
    height, heights, edges, labels = 220, data["heights"], data["edges"], data["labels"]
    low, high = float(edges[0]), float(edges[-1])
    span, top = (high - low) or 1.0, max(heights) or 1.0
    across, up = _NARROW - _LEFT - _RIGHT, height - _BOTTOM - _TOP
    base = height - _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (value - low) / span * across

    parts = []
    for i, count in enumerate(heights):
        tall = count / top * up
        wide = max((edges[i + 1] - edges[i]) / span * across - 1, 1)
        parts.append(
            f'<rect class="one" x="{x(edges[i]):.1f}" y="{base - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}">'
            f"<title>{html.escape(labels[i])}: {count:,.0f}</title></rect>"
        )
    parts += [_line(x(cut), _TOP, x(cut), base, "cut") for cut in cuts if low < cut < high]
    parts += [_line(_LEFT, base, _NARROW - _RIGHT, base), _text(_LEFT - 6, _TOP + 10, f"{top:,.0f}", "end")]
    for i in (0, len(labels) // 2, len(labels) - 1):
        anchor = "start" if i == 0 else "end" if i == len(labels) - 1 else "middle"
        parts.append(_text(x(edges[i]), height - 12, labels[i], anchor))
    return _svg(_NARROW, height, title, "".join(parts))


def sizes(counts: Sequence[Sequence[int]], title: str, names: tuple[str, str]) -> str:
    """The number of classes by size; long tails are merged."""

    def draw(width: int) -> str:
        most = 24 if width == _WIDE else 9
        shown = [(str(size), n) for size, n in counts[:most]]
        if len(counts) > most:
            shown.append((f"{counts[most][0]}+", sum(n for _, n in counts[most:])))
        height, marks = 220, ticks(max(n for _, n in shown))
        step, base = (width - _LEFT - _RIGHT) / len(shown), height - _BOTTOM
        up = base - _TOP
        places = [(_LEFT + (i + 0.5) * step, label) for i, (label, _) in enumerate(shown)]
        parts = _axes(width, height, [], [(base - m / marks[-1] * up, _count(m)) for m in marks], names)
        for (x, label), (_, n) in zip(places, shown, strict=True):
            tall = n / marks[-1] * up
            parts.append(
                f'<rect class="one" x="{x - step / 2 + 1:.1f}" y="{base - tall:.1f}" width="{max(step - 2, 1):.1f}" '
                f'height="{tall:.1f}"><title>{html.escape(label)} people: {n:,} classes</title></rect>'
            )
            parts.append(_text(x, base + 16, label, kind="tick-text"))
        return _svg(width, height, title, "".join(parts))

    return _for_both(draw)


def _count(value: float) -> str:
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def bars(rows: Sequence[Sequence[Any]], title: str) -> str:
    """The most frequent values as horizontal bars."""
    rows = rows or [["", 0]]
    height, top = 22 * len(rows) + 8, max(int(n) for _, n in rows) or 1
    parts = []
    for i, (label, n) in enumerate(rows):
        y = 4 + 22 * i
        wide = max(int(n) / top * 240, 1)
        parts.append(_text(200, y + 15, _short(str(label), 190) or "(empty)", "end"))
        parts.append(f'<rect class="one" x="208" y="{y + 3}" width="{wide:.1f}" height="15"/>')
        parts.append(_text(214 + wide, y + 15, f"{int(n):,}", "start"))
    return _svg(_NARROW, height, title, "".join(parts))


def lattice(
    nodes: Sequence[dict[str, Any]],
    title: str,
    names: tuple[str, str],
    *,
    limit: tuple[float, str] | None = None,
    picked: int | None = None,
    current: int | None = None,
) -> str:
    """Solutions by the number of people that they suppress and the amount of generalization.

    Those that satisfy the models are filled circles, the others empty squares.

    Parameters
    ----------
    nodes : sequence of dict
        ``levels`` (tuple of int), ``left_out``, ``fits``, ``words`` for each.
    title : str
    names : tuple of str
        Names of the axes.
    limit : tuple of float and str, optional
        Number of people that may be suppressed, and the label of that line.
    picked, current : int, optional
        The solution shown next to the chart, and the one that is the release.
    """

    def draw(width: int) -> str:
        totals = [sum(node["levels"]) for node in nodes]
        low, high = min(totals), max(totals)
        height = min(max(56 * (high - low + 1), 260), 480) + _TOP + _BOTTOM
        base, right = height - _BOTTOM, width - _RIGHT
        most = max(1.0, *(float(node["left_out"]) for node in nodes), limit[0] if limit else 0.0)
        size = 6 if len(nodes) <= 120 and width == _WIDE else 4

        def x(value: float) -> float:
            return _LEFT + 14 + math.log1p(value) / math.log1p(most) * (right - _LEFT - 28)

        def y(total: float) -> float:
            return float(base - 12 - (total - low) / max(high - low, 1) * (base - _TOP - 24))

        decades = [0, *(10**e for e in range(int(math.log10(most)) + 1))]
        step = max(-(-(high - low + 1) // 8), 1)
        up = [(y(total), str(total)) for total in range(low, high + 1, step)]
        parts = _axes(width, height, [(x(d), _count(d)) for d in decades], up, names)
        if limit is not None:
            at = x(limit[0])
            parts.append(_line(at, _TOP, at, base, "cut"))
            anchor = "end" if at > width / 2 else "start"
            parts.append(_text(at + (-4 if anchor == "end" else 4), _TOP - 4, limit[1], anchor))
        room = abs(y(low) - y(low + 1)) - 4
        exact = [(x(float(n["left_out"])), y(t)) for n, t in zip(nodes, totals, strict=True)]
        places = _apart(exact, size, room, right)
        for i, (node, (px, py)) in enumerate(zip(nodes, places, strict=True)):
            parts.append(_node(i, node, px, py, size, ringed=i in (picked, current)))
        return _svg(width, height, title, "".join(parts), picked=True)

    return _for_both(draw)


def _node(i: int, node: dict[str, Any], x: float, y: float, size: int, *, ringed: bool) -> str:
    shape = (
        f'<circle class="fits" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
        if node["fits"]
        else f'<rect class="unfit" x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}"/>'
    )
    ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{size + 5}"/>' if ringed else ""
    words = html.escape(node["words"])
    return f'<g data-pick="{i}" tabindex="0" role="button" aria-label="{words}">{ring}{shape}<title>{words}</title></g>'


def _apart(places: Sequence[tuple[float, float]], size: int, room: float, right: float) -> list[tuple[float, float]]:
    """Move marks that would cover another one above or below their row, then to the side, if there is space.

    Examples
    --------
    >>> _apart([(10.0, 50.0), (10.0, 50.0), (40.0, 50.0)], 4, 30.0, 100.0)
    [(10.0, 50.0), (10.0, 41.0), (40.0, 50.0)]
    """
    gap = 2 * size + 1
    around = max(int(room / 2 / gap), 0)
    lanes = [0, *(sign * n for n in range(1, around + 1) for sign in (-1, 1))]
    moved = list(places)
    rows: dict[float, list[int]] = {}
    for i, (_, y) in enumerate(places):
        rows.setdefault(y, []).append(i)
    for y, members in rows.items():
        free = dict.fromkeys(lanes, -math.inf)
        for i in sorted(members, key=lambda i: places[i][0]):
            lane = min(lanes, key=lambda lane: (max(free[lane], places[i][0]), abs(lane), lane))
            x = max(places[i][0], free[lane])
            moved[i] = (x, y + lane * gap)
            free[lane] = x + gap
        first, last = min(moved[i][0] for i in members), max(moved[i][0] for i in members)
        if last > right - size:
            # more than fits to the right: closer together, in the same order
            squeeze = max(right - size - first, 1.0) / (last - first) if last > first else 1.0
            for i in members:
                moved[i] = (first + (moved[i][0] - first) * squeeze, moved[i][1])
    return moved


def partition_map(
    boxes: Sequence[tuple[int, int, int, int, int]],
    domains: tuple[int, int],
    names: tuple[str, str],
    marks: tuple[Sequence[tuple[int, str]], Sequence[tuple[int, str]]],
    title: str,
) -> str:
    """Classes as rectangles over the values of two columns, in their order; ``marks`` names some of the values."""
    wide, tall = max(domains[0], 1), max(domains[1], 1)
    # many rectangles on top of each other still show through
    covered = sum((high1 - low1 + 1) / wide * (high2 - low2 + 1) / tall for low1, high1, low2, high2, _ in boxes)
    faint = min(max(0.8 / max(covered, 1), 0.01), 0.3)
    line = min(max(8 / max(covered, 1), 0.15), 1.0)

    def draw(width: int) -> str:
        height, left = (420, 120) if width == _WIDE else (340, 92)
        across, up, base = width - left - _RIGHT, height - _BOTTOM - _TOP, height - _BOTTOM
        parts = []
        for low1, high1, low2, high2, rows in boxes:
            x, y = left + low1 / wide * across, _TOP + (1 - (high2 + 1) / tall) * up
            parts.append(
                f'<rect class="box" style="fill-opacity:{faint:.3f};stroke-opacity:{line:.2f}" x="{x:.1f}" '
                f'y="{y:.1f}" width="{max((high1 - low1 + 1) / wide * across, 1):.1f}" '
                f'height="{max((high2 - low2 + 1) / tall * up, 1):.1f}"><title>{rows:,} rows</title></rect>'
            )
        along = [(left + (code + 0.5) / wide * across, _short(label, 90)) for code, label in marks[0]]
        upright = [(base - (code + 0.5) / tall * up, label) for code, label in marks[1]]
        return _svg(width, height, title, "".join([*parts, *_axes(width, height, along, upright, names, left)]))

    return _for_both(draw)


def frontier(
    points: Sequence[tuple[int, float, float]],
    title: str,
    names: tuple[str, str],
    ringed: Sequence[int],
    word: str = "Release",
) -> str:
    """Releases or settings by risk, in percent, and loss; some of them are ringed."""

    def draw(width: int) -> str:
        height = 300
        right, base = width - _RIGHT, height - _BOTTOM
        marks1, marks2 = ticks(100 * max(p[1] for p in points)), ticks(max(p[2] for p in points))

        def x(risk: float) -> float:
            return _LEFT + 100 * risk / marks1[-1] * (right - _LEFT - 10)

        def y(loss: float) -> float:
            return base - loss / marks2[-1] * (base - _TOP - 6)

        across = [(x(m / 100), f"{m:g}%") for m in marks1]
        up = [(y(m), _count(m)) for m in marks2]
        parts = _axes(width, height, across, up, names)
        places = {number: (x(risk), y(loss)) for number, risk, loss in points}
        for number, risk, loss in points:
            px, py = places[number]
            ring = f'<circle class="ring" cx="{px:.1f}" cy="{py:.1f}" r="10"/>' if number in ringed else ""
            words = html.escape(f"{word} {number}: {names[0]} {100 * risk:.3g}%, {names[1]} {loss:.4g}")
            parts.append(f'<g>{ring}<circle class="fits" cx="{px:.1f}" cy="{py:.1f}" r="5"/><title>{words}</title></g>')
        parts += [_text(at, down + 4, words, "start") for at, down, words in _labels(places, width, height)]
        return _svg(width, height, title, "".join(parts))

    return _for_both(draw)


def _labels(places: dict[int, tuple[float, float]], width: int, height: int) -> list[tuple[float, float, str]]:
    """Positions of the points' numbers: points at one position share a label, and labels do not overlap.

    Examples
    --------
    >>> _labels({1: (100.0, 50.0), 2: (100.0, 50.0)}, 300, 200)
    [(113.0, 50.0, '1, 2')]
    """
    together: dict[tuple[int, int], list[int]] = {}
    for number, (x, y) in places.items():
        together.setdefault((round(x), round(y)), []).append(number)
    taken: list[tuple[float, float, float, float]] = [(x - 6, y - 6, x + 6, y + 6) for x, y in together]
    found = []
    for (x, y), numbers in together.items():
        words = ", ".join(map(str, numbers))
        wide = len(words) * _CHARACTER + 2
        for dx, dy in ((13, 0), (-13 - wide, 0), (-wide / 2, -17), (-wide / 2, 17), (11, -13), (11, 13)):
            box = (x + dx, y + dy - 7, x + dx + wide, y + dy + 7)
            inside = box[0] > _LEFT and box[2] < width and box[1] > 0 and box[3] < height - _BOTTOM
            if inside and not any(a < box[2] and c > box[0] and b < box[3] and d > box[1] for a, b, c, d in taken):
                taken.append(box)
                found.append((float(x + dx), float(y + dy), words))
                break
    return found
