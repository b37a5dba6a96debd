"""Nearest and farthest records by examining all of them, block by block.

This defines what the index must find, and is faster for many columns: boxes in more than about ten dimensions bound
nothing. Blocks of large tables are scanned on all cores; the best of their results do not depend on the division.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.kernels.metric import Metric, distance, plain_distance, squared_distances
from hushtable.parallel import each

BLOCK = 2**16
"""Number of rows in a block."""


def scan_nearest(
    points: FloatArray, rows: IntArray, origin: FloatArray, metric: Metric, wanted: int
) -> tuple[IntArray, FloatArray]:
    """Return the wanted number of nearest rows, nearest first, and their squared distances; ties to the lower row.

    Examples
    --------
    >>> line = np.array([[0.0], [2.0], [1.0], [-1.0]])
    >>> scan_nearest(line, np.array([1, 2, 3]), line[0], Metric.of_numbers(1), 2)[0].tolist()
    [2, 3]
    """
    work = dispatch(_nearest_loops, _nearest_numpy, len(points))
    parts = _blocks(lambda part: work(points, part, origin, metric, min(wanted, len(part))), rows)
    found, far = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.lexsort((found, far))[:wanted]
    return found[order], far[order]


def scan_farthest(points: FloatArray, rows: IntArray, origin: FloatArray, metric: Metric) -> int:
    """Return the farthest row; ties go to the lowest.

    Examples
    --------
    >>> line = np.array([[0.0], [2.0], [1.0], [-2.0]])
    >>> scan_farthest(line, np.array([1, 2, 3]), line[0], Metric.of_numbers(1))
    1
    """
    work = dispatch(_farthest_loops, _farthest_numpy, len(points))
    return int(min(_blocks(lambda part: work(points, part, origin, metric), rows))[1])


def _blocks(work: Callable[[IntArray], Any], rows: IntArray) -> list[Any]:
    parts = [rows[at : at + BLOCK] for at in range(0, max(len(rows), 1), BLOCK)]
    return [work(parts[0])] if len(parts) == 1 else list(each(work, parts))


def _nearest_numpy(points: Any, rows: Any, origin: Any, metric: Any, wanted: Any) -> tuple[Any, Any]:
    far = squared_distances(points[rows], origin, metric)
    order = np.lexsort((rows, far))[:wanted]
    return rows[order], far[order]


def _nearest_loops(points: Any, rows: Any, origin: Any, metric: Any, wanted: Any) -> tuple[Any, Any]:
    found = np.empty(wanted, np.int64)
    far = np.empty(wanted, np.float64)
    n, plain = 0, metric.plain
    for i in range(len(rows)):
        row = rows[i]
        here = plain_distance(points, row, origin) if plain else distance(points, row, origin, metric)
        if n == wanted and (n == 0 or here > far[n - 1] or (here == far[n - 1] and row > found[n - 1])):
            continue
        at = n if n < wanted else n - 1
        while at > 0 and (far[at - 1] > here or (far[at - 1] == here and found[at - 1] > row)):
            far[at], found[at] = far[at - 1], found[at - 1]
            at -= 1
        far[at], found[at] = here, row
        n = min(n + 1, wanted)
    return found, far


def _farthest_numpy(points: Any, rows: Any, origin: Any, metric: Any) -> tuple[Any, Any]:
    far = squared_distances(points[rows], origin, metric)
    best = far.max(initial=-1.0)
    return -best, rows[far == best].min(initial=len(points))


def _farthest_loops(points: Any, rows: Any, origin: Any, metric: Any) -> tuple[Any, Any]:
    best, winner, plain = -1.0, len(points), metric.plain
    for i in range(len(rows)):
        here = plain_distance(points, rows[i], origin) if plain else distance(points, rows[i], origin, metric)
        if here > best or (here == best and rows[i] < winner):
            best, winner = here, rows[i]
    return -best, winner
