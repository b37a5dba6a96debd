"""Charts as SVG text: no script, no library, nothing fetched; each has words for those who cannot see it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

__all__ = ["bars", "frontier", "histogram", "lattice", "partition_map", "sizes"]

_WIDTH = 720
_NARROW = 520
_LEFT, _BOTTOM, _TOP, _RIGHT = 52, 34, 12, 12


def _svg(height: int, title: str, body: str, *, width: int = _WIDTH, picked: bool = False) -> str:
    role = "group" if picked else "img"
    return (
        f'<svg class="ht-chart" viewBox="0 0 {width} {height}" style="max-width:{width}px" role="{role}" '
        f'aria-label="{html.escape(title)}">'
        f"<title>{html.escape(title)}</title>{body}</svg>"
    )


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


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
    return _svg(height, title, "".join(parts), width=_NARROW)


def sizes(counts: Sequence[Sequence[int]], title: str) -> str:
    """How many classes there are of so many people; long tails are put together."""
    shown = [(str(size), n) for size, n in counts[:24]]
    if len(counts) > 24:
        shown.append((f"{counts[24][0]}+", sum(n for _, n in counts[24:])))
    height, top = 200, max(n for _, n in shown)
    step, up, base = (_WIDTH - _LEFT - _RIGHT) / len(shown), height - _BOTTOM - _TOP, height - _BOTTOM
    parts = [_line(_LEFT, base, _WIDTH - _RIGHT, base), _text(_LEFT - 6, _TOP + 10, f"{top:,}", "end")]
    for i, (label, n) in enumerate(shown):
        tall, x = n / top * up, _LEFT + i * step
        parts.append(
            f'<rect class="one" x="{x + 1:.1f}" y="{base - tall:.1f}" width="{max(step - 2, 1):.1f}" '
            f'height="{tall:.1f}">'
            f"<title>{html.escape(label)} people: {n:,} classes</title></rect>"
        )
        parts.append(_text(x + step / 2, height - 14, label))
    return _svg(height, title, "".join(parts))


def bars(before: Sequence[Sequence[Any]], title: str, *, second: bool = False) -> str:
    """The most frequent values as horizontal bars."""
    rows = before or [["", 0]]
    height, top = 22 * len(rows) + 8, max(int(n) for _, n in rows) or 1
    kind = "two" if second else "one"
    parts = []
    for i, (label, n) in enumerate(rows):
        y = 4 + 22 * i
        words = str(label) if len(str(label)) <= 28 else f"{str(label)[:27]}…"
        wide = max(int(n) / top * 240, 1)
        parts.append(_text(200, y + 15, words or "(empty)", "end"))
        parts.append(f'<rect class="{kind}" x="208" y="{y + 3}" width="{wide:.1f}" height="15"/>')
        parts.append(_text(214 + wide, y + 15, f"{int(n):,}", "start"))
    return _svg(height, title, "".join(parts), width=_NARROW)


def lattice(
    nodes: Sequence[dict[str, Any]], title: str, *, picked: int | None = None, current: int | None = None
) -> str:
    """Solutions by how much they generalise; those that fit are filled circles, the others empty squares.

    Parameters
    ----------
    nodes : sequence of dict
        ``levels`` (tuple of int), ``fits``, ``words`` for each.
    picked, current : int, optional
        Which is shown beside the chart, and which is the release.
    """
    rows: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        rows.setdefault(sum(node["levels"]), []).append(i)
    heights = sorted(rows)
    height = max(60 * min(len(heights), 9), 120) + 40
    place: dict[int, tuple[float, float]] = {}
    for row, total in enumerate(heights):
        y = height - 24 - row * (height - 48) / max(len(heights) - 1, 1)
        step = (_WIDTH - 80) / len(rows[total])
        for k, i in enumerate(sorted(rows[total], key=lambda i: tuple(nodes[i]["levels"]))):
            place[i] = (60 + step * (k + 0.5), y)
    parts = []
    if len(nodes) <= 120:
        at = {tuple(node["levels"]): i for i, node in enumerate(nodes)}
        for levels, i in at.items():
            for j in range(len(levels)):
                above = at.get((*levels[:j], levels[j] + 1, *levels[j + 1 :]))
                if above is not None:
                    parts.append(_line(*place[i], *place[above], "edge"))
    size = 7 if len(nodes) <= 120 else 4
    for i, node in enumerate(nodes):
        x, y = place[i]
        shape = (
            f'<circle class="fits" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
            if node["fits"]
            else f'<rect class="unfit" x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}"/>'
        )
        ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{size + 5}"/>' if i in (picked, current) else ""
        words = html.escape(node["words"])
        parts.append(
            f'<g data-pick="{i}" tabindex="0" role="button" aria-label="{words}">{ring}{shape}'
            f"<title>{words}</title></g>"
        )
    for row in range(len(heights)):
        if row in (0, len(heights) - 1):
            y = height - 24 - row * (height - 48) / max(len(heights) - 1, 1)
            parts.append(_text(8, y + 4, "most detail" if row == 0 else "least", "start"))
    return _svg(height, title, "".join(parts), picked=True)


def partition_map(
    boxes: Sequence[tuple[int, int, int, int, int]], domains: tuple[int, int], names: tuple[str, str], title: str
) -> str:
    """Classes as rectangles over the values of two columns, in their order."""
    height = 420
    across, up = _WIDTH - _LEFT - _RIGHT, height - _BOTTOM - _TOP
    wide, tall = max(domains[0], 1), max(domains[1], 1)
    # many rectangles on top of each other still show through
    covered = sum((high1 - low1 + 1) / wide * (high2 - low2 + 1) / tall for low1, high1, low2, high2, _ in boxes)
    faint = min(max(0.8 / max(covered, 1), 0.01), 0.3)
    line = min(max(8 / max(covered, 1), 0.15), 1.0)
    parts = []
    for low1, high1, low2, high2, rows in boxes:
        x, y = _LEFT + low1 / wide * across, _TOP + (1 - (high2 + 1) / tall) * up
        parts.append(
            f'<rect class="box" style="fill-opacity:{faint:.3f};stroke-opacity:{line:.2f}" x="{x:.1f}" y="{y:.1f}" '
            f'width="{max((high1 - low1 + 1) / wide * across, 1):.1f}" '
            f'height="{max((high2 - low2 + 1) / tall * up, 1):.1f}"><title>{rows:,} rows</title></rect>'
        )
    base = height - _BOTTOM
    parts += [_line(_LEFT, base, _WIDTH - _RIGHT, base), _line(_LEFT, _TOP, _LEFT, base)]
    parts.append(_text(_LEFT + across / 2, height - 10, f"{names[0]} →"))
    parts.append(f'<g transform="rotate(-90 16 {_TOP + up / 2:.0f})">{_text(16, _TOP + up / 2, f"{names[1]} →")}</g>')
    return _svg(height, title, "".join(parts))


def frontier(
    points: Sequence[tuple[int, float, float]],
    title: str,
    names: tuple[str, str],
    ringed: Sequence[int],
    word: str = "Release",
) -> str:
    """Releases or settings by risk and loss; some of them ringed."""
    height = 300
    across, up, base = _WIDTH - _LEFT - 60, height - _BOTTOM - _TOP - 8, height - _BOTTOM
    top1, top2 = max(p[1] for p in points) or 1.0, max(p[2] for p in points) or 1.0
    parts = [_line(_LEFT, base, _WIDTH - _RIGHT, base), _line(_LEFT, _TOP, _LEFT, base)]
    for number, risk, loss in points:
        x, y = _LEFT + 8 + risk / top1 * (across - 40), base - loss / top2 * (up - 16)
        ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="12"/>' if number in ringed else ""
        words = f"{word} {number}: {names[0]} {risk:.3g}, {names[1]} {loss:.4g}"
        parts.append(
            f'<g>{ring}<circle class="fits" cx="{x:.1f}" cy="{y:.1f}" r="7"/><title>{html.escape(words)}</title></g>'
            + _text(x + 16, y + 4, str(number), "start")
        )
    parts.append(_text(_LEFT + across / 2, height - 8, f"{names[0]} →"))
    parts.append(f'<g transform="rotate(-90 16 {_TOP + up / 2:.0f})">{_text(16, _TOP + up / 2, f"{names[1]} →")}</g>')
    return _svg(height, title, "".join(parts))
