"""Kernel of separation: cuts that separate boxes from one another, as in a partition by cuts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import BoolArray, IntArray, mask_of
from hushtable.kernels.compile import dispatch


def separate(low: IntArray, high: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
    """Separate a set of boxes recursively, by cuts that pass between all boxes of a part.

    Each step makes the cut that narrows the parts of the most boxes the most, as a share of the column's domain; ties
    go to the first column and the lowest cut.

    Parameters
    ----------
    low, high : (boxes, d) int64 arrays
        The smallest and the largest code of each box, inclusive.
    sizes : (d,) int64 array
        How many codes each column has.

    Returns
    -------
    floors, ceilings : (boxes, d, 2) int64 arrays
        The cut below and the cut above each box: the largest code on its lower side and the smallest on its upper side;
        -1 if there is none.
    alone : bool array
        Which boxes were separated from all others.

    Examples
    --------
    >>> floors, ceilings, alone = separate(np.array([[0], [4]]), np.array([[2], [7]]), np.array([8]))
    >>> floors[:, 0].tolist(), ceilings[:, 0].tolist(), alone.tolist()
    ([[-1, -1], [2, 4]], [[2, 4], [-1, -1]], [True, True])
    """
    n, d = low.shape
    if not n:
        empty = np.full((0, d, 2), -1, dtype=np.int64)
        return empty, empty.copy(), np.zeros(0, dtype=np.bool_)
    low, high = low.astype(np.int64), high.astype(np.int64)
    orders = np.stack([np.lexsort((np.arange(n), low[:, j])) for j in range(d)])
    # a box costs as much as many rows of other kernels
    kernel = dispatch(_separate_loops, _separate_numpy, 16 * n)
    found: tuple[IntArray, IntArray, BoolArray] = kernel(low, high, sizes.astype(np.int64), orders)
    return found


def _separate_numpy(low: Any, high: Any, sizes: Any, orders: Any) -> Any:
    n, d = low.shape
    floors = np.full((n, d, 2), -1, dtype=np.int64)
    ceilings = np.full((n, d, 2), -1, dtype=np.int64)
    alone = np.zeros(n, dtype=np.bool_)
    column, stack = np.arange(d)[:, None], [orders]
    while stack:
        own = stack.pop()
        m, one = own.shape[1], own[0, 0]
        if m == 1:
            alone[one] = True
            continue
        reach = np.maximum.accumulate(high[own, column], axis=1)[:, :-1]
        first = low[own[:, 1:], column]
        between = first > reach
        if not between.any():
            continue
        # all boxes of a part have the bounds of the part
        start = np.maximum(floors[one, :, 1], 0)[:, None]
        end = np.where(ceilings[one, :, 1] >= 0, ceilings[one, :, 1], sizes)[:, None]
        places = np.arange(1, m)
        gain = (places * (end - first) + (m - places) * (first - start)) / sizes[:, None]
        j, at = divmod(int(np.argmax(np.where(between, gain, -1.0))), m - 1)
        left, right = own[j, : at + 1], own[j, at + 1 :]
        ends = np.array([reach[j, at], first[j, at]])
        ceilings[left, j] = ends
        floors[right, j] = ends
        lower = mask_of(left, n)[own]
        stack.append(own[~lower].reshape(d, -1))
        stack.append(own[lower].reshape(d, -1))
    return floors, ceilings, alone


def _separate_loops(low: Any, high: Any, sizes: Any, orders: Any) -> Any:
    n, d = low.shape
    floors = np.full((n, d, 2), -1, np.int64)
    ceilings = np.full((n, d, 2), -1, np.int64)
    alone = np.zeros(n, np.bool_)
    order = orders.copy()
    side = np.zeros(n, np.bool_)
    held = np.empty(n, np.int64)
    begin = np.empty(n + 1, np.int64)
    end = np.empty(n + 1, np.int64)
    begin[0], end[0] = 0, n
    top = 1
    while top > 0:
        top -= 1
        s, e = begin[top], end[top]
        if e - s == 1:
            alone[order[0, s]] = True
            continue
        column, cut = _widest_cut(low, high, sizes, order, floors, ceilings, s, e)
        if column < 0:
            continue
        lower = high[order[column, s], column]
        for i in range(s, cut):
            box = order[column, i]
            side[box] = True
            lower = max(lower, high[box, column])
        upper = low[order[column, cut], column]
        for i in range(s, e):
            box = order[column, i]
            if side[box]:
                ceilings[box, column, 0], ceilings[box, column, 1] = lower, upper
            else:
                floors[box, column, 0], floors[box, column, 1] = lower, upper
        for j in range(d):
            _part(order[j], side, held, s, e)
        for i in range(s, e):
            side[order[0, i]] = False
        begin[top], end[top] = cut, e
        begin[top + 1], end[top + 1] = s, cut
        top += 2
    return floors, ceilings, alone


def _widest_cut(low: Any, high: Any, sizes: Any, order: Any, floors: Any, ceilings: Any, s: Any, e: Any) -> Any:
    """The column and the place of the cut that narrows most; -1 if there is none."""
    one, m = order[0, s], e - s
    best, column, cut = -1.0, -1, 0
    for j in range(low.shape[1]):
        start = max(floors[one, j, 1], 0)
        stop = ceilings[one, j, 1] if ceilings[one, j, 1] >= 0 else sizes[j]
        reach = high[order[j, s], j]
        for i in range(s + 1, e):
            box = order[j, i]
            first = low[box, j]
            if first > reach:
                gain = ((i - s) * (stop - first) + (m - (i - s)) * (first - start)) / sizes[j]
                if gain > best:
                    best, column, cut = gain, j, i
            reach = max(reach, high[box, j])
    return column, cut


def _part(order: Any, side: Any, held: Any, start: Any, end: Any) -> None:
    """Move the boxes on the lower side to the front of a part; both sides keep their order."""
    at, kept = start, 0
    for i in range(start, end):
        if side[order[i]]:
            order[at] = order[i]
            at += 1
        else:
            held[kept] = order[i]
            kept += 1
    for i in range(kept):
        order[at + i] = held[i]
