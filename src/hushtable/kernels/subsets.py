"""Combinations of a person's events that an adversary who knows a few of them may know."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.compile import dispatch


class EventRows(NamedTuple):
    """Events of people, as arrays; see ``count_subsets``."""

    starts: IntArray
    item: AnyArray
    copy: AnyArray
    table: AnyArray
    caps: IntArray
    touched: BoolArray


def judge_crowds(
    rows: EventRows,
    classes: IntArray,
    people: tuple[int, int],
    above: IntArray,
    enough: BoolArray,
    size: int,
    cells: int,
) -> tuple[IntArray, IntArray]:
    """Count the people who have each combination of one or two events, and return those that too few have.

    Parameters
    ----------
    rows : EventRows
    classes : int64 array
        The class of each person, ascending.
    people : tuple of int
        The first person, and the first one after the last.
    above : int64 array
        For each depth a row: which event each event belongs to.
    enough : bool array
        For each number of people, whether it is enough.
    size : int
        1 or 2.
    cells : int
        The most combinations that a class can have: the number of its items, or its square for each way in which two
        events can be related.

    Returns
    -------
    failing : int64 array
        The events of each failing combination of each person.
    kinds : int64 array
        For the tables of a combination, as digits of a number: distinct combinations, how many of them fail, and the
        fewest people.

    Examples
    --------
    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 0]), np.zeros(3, int), np.zeros(3, np.int8), np.array([1])
    >>> given = EventRows(*rows, np.ones(3, bool)), np.array([0, 0]), (0, 2), np.empty((0, 3), int)
    >>> failing, kinds = judge_crowds(*given, np.array([False, False, True]), 1, 2)
    >>> failing.tolist(), kinds.tolist()
    ([[1]], [[2, 1, 1]])
    """
    kinds = np.zeros((len(rows.caps) ** size, 3), dtype=np.int64)
    kinds[:, 2] = 2**62
    counts, last = np.zeros(cells, dtype=np.int32), np.full(cells, -1, dtype=np.int32)
    first, end = rows.starts[people[0]], rows.starts[people[1]]
    out = np.empty((max(int(end - first), 1) * (4 if size > 1 else 1), size), dtype=np.int64)
    while True:
        work = dispatch(_crowds_loops, _crowds_loops, 4 * int(end - first))
        n = work(*rows, classes, people[0], people[1], above, enough, kinds, counts, last, out)
        if n <= len(out):
            return out[:n], kinds
        # rarely must so many be dropped
        out = np.empty((n, size), dtype=np.int64)
        kinds[:, :2], kinds[:, 2], last[:] = 0, 2**62, -1


def _crowds_loops(  # type: ignore[no-untyped-def]
    starts, item, copy, table, caps, touched, classes, begin, end, above, enough, kinds, counts, last, out
):
    size, heights, n = out.shape[1], above.shape[0], 0
    first = begin
    while first < end:
        beyond = first
        low, high = np.int64(2**62), np.int64(-1)
        while beyond < end and classes[beyond] == classes[first]:
            if starts[beyond] < starts[beyond + 1]:
                low = min(low, item[starts[beyond]])
                high = max(high, item[starts[beyond + 1] - 1])
            beyond += 1
        base = high - low + 1
        for turn in range(2):
            for p in range(first, beyond):
                for i in range(starts[p], starts[p + 1]):
                    # the first of equal events represent them all
                    if copy[i] > 0:
                        continue
                    for j in range(i if size == 1 else i + 1, i + 1 if size == 1 else starts[p + 1]):
                        if not (touched[i] or touched[j]):
                            continue
                        cell, kind = item[i] - low, np.int64(table[i])
                        if size == 2:
                            if (copy[j] > 0 and j != i + 1) or (table[i] == table[j] and caps[table[i]] < 2):
                                continue
                            deep = 0
                            for h in range(heights):
                                if above[h, i] == above[h, j]:
                                    deep = h + 1
                            cell = (cell * base + item[j] - low) * (heights + 1) + deep
                            kind = kind * len(caps) + table[j]
                        if turn == 0:
                            # a person counts once for a combination; entries of earlier classes are void
                            if last[cell] < first:
                                counts[cell] = 1
                            elif last[cell] != p:
                                counts[cell] += 1
                            last[cell] = p
                            continue
                        good = enough[counts[cell]]
                        if last[cell] >= 0:
                            last[cell] = -1
                            kinds[kind, 0] += 1
                            kinds[kind, 1] += not good
                            kinds[kind, 2] = min(kinds[kind, 2], counts[cell])
                        if not good:
                            if n < len(out):
                                out[n, 0] = i
                                out[n, size - 1] = j
                            n += 1
        first = beyond
    return n


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
        How many equal events of the person precede the row. A combination uses the first of equal events, so that it
        counts once; all 0 if equal events must be distinguished.
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
    """Return the combinations of some people as rows, limited to a range of first items.

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
