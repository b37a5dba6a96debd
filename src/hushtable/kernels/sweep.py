"""Kernel of sweeping a lattice: the first node at which some of the unplaced records form a large enough group.

A group is identified by the sum of its tuples' marks, 64 random bits each, so that groups that a model has refused are
skipped at other nodes. Two groups with the same sum are extremely unlikely, and would at most hide a better solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray, summed
from hushtable.kernels.compile import dispatch
from hushtable.kernels.grouping import number_rows


def marks_of(n: int) -> AnyArray:
    """Return ``n`` marks, the same ones every time.

    Examples
    --------
    >>> len(set(marks_of(1000).tolist()))
    1000
    """
    mixed = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def remember(known: AnyArray, marks: AnyArray, count: int) -> AnyArray:
    """Insert marks into a hash table of ``count`` marks; return it, or a larger one.

    Examples
    --------
    >>> known = remember(np.zeros(4, dtype=np.uint64), np.array([5, 9], dtype=np.uint64), 0)
    >>> len(known), sorted(known[known > 0].tolist())
    (8, [5, 9])
    """
    size = len(known)
    while size < 4 * (count + len(marks)):
        size *= 2
    if size > len(known):
        marks, known = np.concatenate([known[known > 0], marks]), np.zeros(size, dtype=np.uint64)
    # no twin: marks are inserted one by one
    dispatch(_remember_loops, _remember_loops, 50 * len(marks))(known, marks)
    return known


def _remember_loops(table: Any, marks: Any) -> None:
    last = np.uint64(len(table) - 1)
    for mark in marks:
        s = mark & last
        while table[s] != np.uint64(0) and table[s] != mark:
            s = (s + np.uint64(1)) & last
        table[s] = mark


def _is_known(table: Any, mark: Any) -> bool:
    last = np.uint64(len(table) - 1)
    s = mark & last
    while table[s] != np.uint64(0):
        if table[s] == mark:
            return True
        s = (s + np.uint64(1)) & last
    return False


def first_crowd(
    codes: AnyArray, units: IntArray, marks: AnyArray, known: AnyArray, lut: AnyArray, cost: IntArray, at: IntArray,
    begin: int, minimum: int, ceiling: int,
) -> tuple[int, IntArray, int]:  # fmt: skip
    """Group tuples at one node after the other, and stop if an unknown group has at least ``minimum`` units.

    Parameters
    ----------
    codes : (T, d) integer array
        Leaf codes of distinct tuples.
    units : int64 array
        Weight of each tuple.
    marks : uint64 array
        The mark of each tuple.
    known : uint64 array
        Sums of marks of groups to skip, in the form of ``remember``.
    lut : integer array
        All look-up tables, one after the other.
    cost : int64 array
        The cost of each entry of ``lut``.
    at : (M, d) int64 array
        Where the look-up table of each column begins, node by node.
    begin : int
        The first node to try.
    minimum : int
        Minimum units of a large enough group; at least 1.
    ceiling : int
        Tuples whose cell at a node costs more than this are skipped there.

    Returns
    -------
    node, group, n_groups
        The node, or M if there is none; the group of each tuple there, numbered by first occurrence, -1 in groups that
        are too small or known; and the number of groups that are neither.

    Examples
    --------
    >>> lut = np.array([0, 1, 2, 0, 0, 1])  # three leaves; above them two nodes
    >>> codes, units = np.array([[0], [1], [2]]), np.array([1, 1, 1])
    >>> marks, known = marks_of(3), np.zeros(4, dtype=np.uint64)
    >>> node, group, n = first_crowd(codes, units, marks, known, lut, lut, np.array([[0], [3]]), 0, 2, 9)
    >>> node, group.tolist(), n
    (1, [0, 0, -1], 1)
    """
    group = np.full(len(codes), -1, dtype=np.int64)
    work = len(codes) * max(len(at) - begin, 1)
    node, n = dispatch(_crowd_loops, _crowd_numpy, work)(
        codes, units, marks, known, lut, cost, at, begin, minimum, ceiling, group
    )
    return int(node), group, int(n)


def _crowd_numpy(
    codes: Any, units: Any, marks: Any, known: Any, lut: Any, cost: Any, at: Any, begin: Any, minimum: Any,
    ceiling: Any, group: Any,
) -> tuple[int, int]:  # fmt: skip
    for m in range(begin, len(at)):
        entry = at[m] + codes.astype(np.int64)
        cheap = np.flatnonzero(cost[entry].sum(axis=1) <= ceiling)
        if not len(cheap):
            continue
        lifted = lut[entry[cheap]]
        inverse, first = number_rows(list(lifted.T), (lifted.max(axis=0) + 1).tolist())
        total = summed(units[cheap], inverse, len(first))
        mark = np.zeros(len(first), dtype=np.uint64)
        np.add.at(mark, inverse, marks[cheap])
        large = np.flatnonzero((total >= minimum) & ~np.isin(mark, known))
        if len(large):
            number = np.full(len(first), -1, dtype=np.int64)
            number[large[np.argsort(first[large], kind="stable")]] = np.arange(len(large))
            group[cheap] = number[inverse]
            return m, len(large)
    return len(at), 0


def _crowd_loops(
    codes: Any, units: Any, marks: Any, known: Any, lut: Any, cost: Any, at: Any, begin: Any, minimum: Any,
    ceiling: Any, group: Any,
) -> tuple[int, int]:  # fmt: skip
    n, d = codes.shape
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    stamp, slot_of = np.full(size, -1, np.int64), np.empty(n, np.int64)
    head, total = np.empty(size, np.int64), np.empty(size, np.int64)
    hashes, mark = np.empty(size, np.uint64), np.empty(size, np.uint64)
    for m in range(begin, len(at)):
        found = False
        for i in range(n):
            h, price = np.uint64(0), np.int64(0)
            for j in range(d):
                entry = at[m, j] + codes[i, j]
                price += cost[entry]
                h = (h + np.uint64(lut[entry])) * np.uint64(0x9E3779B97F4A7C15)
            slot_of[i] = -1
            if price > ceiling:
                continue
            h ^= h >> np.uint64(29)
            s = np.int64(h & mask)
            while True:
                if stamp[s] != m:
                    stamp[s], head[s], hashes[s], total[s], mark[s] = m, i, h, 0, 0
                    break
                if hashes[s] == h:
                    same = True
                    other = head[s]
                    for j in range(d):
                        if lut[at[m, j] + codes[i, j]] != lut[at[m, j] + codes[other, j]]:
                            same = False
                            break
                    if same:
                        break
                s = (s + 1) & np.int64(mask)
            slot_of[i] = s
            total[s] += units[i]
            mark[s] += marks[i]
            found |= total[s] >= minimum
        if found:
            count = 0
            for i in range(n):
                s = slot_of[i]
                if s >= 0 and total[s] >= minimum:
                    if head[s] == i:
                        if _is_known(known, mark[s]):
                            total[s] = -1
                            continue
                        hashes[s] = np.uint64(count)
                        count += 1
                    group[i] = np.int64(hashes[s])
            if count > 0:
                return m, count
    return len(at), 0
