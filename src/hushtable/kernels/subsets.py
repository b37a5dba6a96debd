"""Combinations of a person's events: the ones that somebody who knows a few of them may know."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.compile import dispatch

__all__ = ["count_subsets", "fill_subsets"]


def count_subsets(
    starts: IntArray, item: AnyArray, copy: AnyArray, table: AnyArray, caps: IntArray, size: int, touched: BoolArray
) -> IntArray:
    """Return how many combinations of ``size`` events each person has.

    Parameters
    ----------
    starts : int64 array
        Rows ``starts[p]:starts[p + 1]`` are the events of person p, sorted by item.
    item : int array
    copy : int array
        How many equal events of the person are before the row. A combination has the first ones of equal events, so
        that it counts once; where equal events are to be told apart, all are 0.
    table : int array
    caps : int64 array
        The most events of each table in one combination.
    size : int
    touched : bool array
        Only combinations with at least one of these rows.

    Examples
    --------
    >>> rows = np.array([0, 1, 1]), np.array([0, 0, 1]), np.zeros(3, np.int64)
    >>> count_subsets(np.array([0, 3]), *rows, np.array([2]), 2, np.ones(3, bool)).tolist()
    [2]
    """
    counts = np.zeros(len(starts) - 1, dtype=np.int64)
    nothing = np.empty((0, size), dtype=np.int64)
    work = dispatch(_subsets_loops, _subsets_loops, 4 * len(item))
    work(starts, 0, len(starts) - 1, item, copy, table, caps, touched, 0, np.iinfo(np.int64).max, counts, nothing)
    return counts


def fill_subsets(
    starts: IntArray,
    people: tuple[int, int],
    item: AnyArray,
    copy: AnyArray,
    table: AnyArray,
    caps: IntArray,
    touched: BoolArray,
    first: tuple[int, int],
    total: int,
    size: int,
) -> IntArray:
    """Return the combinations of some people as rows, those whose first item is in a range.

    Examples
    --------
    >>> rows = np.array([0, 1, 1]), np.array([0, 0, 1]), np.zeros(3, np.int64)
    >>> fill_subsets(np.array([0, 3]), (0, 1), *rows, np.array([2]), np.ones(3, bool), (0, 9), 2, 2).tolist()
    [[0, 1], [1, 2]]
    """
    out = np.empty((total, size), dtype=np.int64)
    counts = np.zeros(len(starts) - 1, dtype=np.int64)
    work = dispatch(_subsets_loops, _subsets_loops, 4 * len(item))
    n = work(starts, people[0], people[1], item, copy, table, caps, touched, first[0], first[1], counts, out)
    return out[:n]


def _subsets_loops(starts, begin, end, item, copy, table, caps, touched, low, high, counts, out):  # type: ignore[no-untyped-def]
    size = out.shape[1]
    write = len(out) > 0
    at = np.zeros(size, dtype=np.int64)
    n = 0
    for p in range(begin, end):
        first, last = starts[p], starts[p + 1]
        if last - first < size:
            continue
        depth = 0
        at[0] = first - 1
        while depth >= 0:
            at[depth] += 1
            row = at[depth]
            if row >= last:
                depth -= 1
                continue
            if depth == 0 and not low <= item[row] < high:
                continue
            if copy[row] > 0 and not (depth > 0 and at[depth - 1] == row - 1):
                continue
            same = 1
            for d in range(depth):
                if table[at[d]] == table[row]:
                    same += 1
            if same > caps[table[row]]:
                continue
            if depth < size - 1:
                at[depth + 1] = row
                depth += 1
                continue
            any_touched = False
            for d in range(size):
                any_touched |= touched[at[d]]
            if not any_touched:
                continue
            if write:
                for d in range(size):
                    out[n, d] = at[d]
            counts[p] += 1
            n += 1
    return n
