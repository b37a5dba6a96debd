"""Kernel of pairwise comparison: which boxes share a point."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import IntArray
from hushtable.kernels.compile import dispatch


def overlapping_boxes(low: IntArray, high: IntArray) -> IntArray:
    """Return the pairs (a < b) of boxes that share a point, in ascending order.

    Sweeps over the column in which the fewest boxes overlap; the cost is the number of pairs that overlap there.

    Examples
    --------
    >>> overlapping_boxes(np.array([[0], [2], [5]]), np.array([[3], [4], [6]])).tolist()
    [[0, 1]]
    """
    if not len(low):
        return np.empty((0, 2), dtype=np.int64)
    crowd = [_overlaps(low[:, j], high[:, j]) for j in range(low.shape[1])]
    column = int(np.argmin(crowd))
    order = np.lexsort((np.arange(len(low)), low[:, column]))
    found = dispatch(_sweep_loops, _sweep_numpy, len(low))(low[order], high[order], column)
    pairs = np.sort(order[found.reshape(-1, 2)], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _overlaps(low: IntArray, high: IntArray) -> int:
    """How many ordered pairs of intervals overlap."""
    reach = np.searchsorted(np.sort(low), high, side="right")
    return int(reach.sum())


def _sweep_numpy(low: Any, high: Any, column: Any) -> Any:
    out = []
    for i in range(len(low)):
        j = np.arange(i + 1, len(low))
        j = j[low[j, column] <= high[i, column]]
        hit = np.all((low[j] <= high[i]) & (low[i] <= high[j]), axis=1)
        out.append(np.column_stack([np.full(int(hit.sum()), i), j[hit]]))
    return np.concatenate(out).astype(np.int64)


def _sweep_loops(low: Any, high: Any, column: Any) -> Any:
    n, d = low.shape
    out = np.empty(1024, np.int64)
    at = 0
    for i in range(n):
        for j in range(i + 1, n):
            if low[j, column] > high[i, column]:
                break
            hit = True
            for c in range(d):
                if low[j, c] > high[i, c] or low[i, c] > high[j, c]:
                    hit = False
                    break
            if hit:
                if at + 2 > len(out):
                    larger = np.empty(2 * len(out), np.int64)
                    larger[:at] = out[:at]
                    out = larger
                out[at] = i
                out[at + 1] = j
                at += 2
    return out[:at].copy()
