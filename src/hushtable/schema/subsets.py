"""Number of records that are unique on small subsets of columns.

A record that is unique on some columns is unique on more of them, so each subset is counted only among the records
that its parent subset leaves ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from hushtable.arrays import BoolArray, IntArray

_DENSE = 1 << 23


def regroup(groups: IntArray, codes: IntArray) -> tuple[IntArray, BoolArray]:
    """Split groups by one more column: the new group of each row (dense numbers), and whether it is alone there."""
    width = int(codes.max()) + 1 if len(codes) else 1
    span = (int(groups.max()) + 1 if len(groups) else 1) * width
    key = groups * width + codes
    if span <= max(_DENSE, 2 * len(key)):
        counts = np.bincount(key, minlength=1)
        dense = np.cumsum(counts > 0) - 1
        return dense[key], counts[key] == 1
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return inverse.astype(np.int64), (counts == 1)[inverse]


def count_alone(groups: IntArray, codes: IntArray) -> int:
    """Return the number of rows that are alone in their group once it is split by one more column."""
    if not len(groups):
        return 0
    width = int(codes.max()) + 1
    key = groups * width + codes
    if (int(groups.max()) + 1) * width <= _DENSE // 8:
        return int(np.count_nonzero(np.bincount(key) == 1))
    key.sort()  # beyond the cache a sort is faster than counting at random places
    edge = np.ones(len(key) + 1, dtype=np.bool_)
    np.not_equal(key[1:], key[:-1], out=edge[1:-1])
    return int(np.count_nonzero(edge[1:] & edge[:-1]))


def unique_rows(columns: Sequence[IntArray]) -> BoolArray:
    """Return which rows differ from every other row on these columns of codes (0, 1, 2, ...).

    Examples
    --------
    >>> unique_rows([np.array([0, 0, 1]), np.array([0, 0, 0])]).tolist()
    [False, False, True]
    """
    rows = len(columns[0])
    alone = np.zeros(rows, dtype=np.bool_)
    left = np.arange(rows)
    groups = np.zeros(rows, dtype=np.int64)
    for codes in columns:
        groups, single = regroup(groups, codes[left])
        alone[left[single]] = True
        left, groups = left[~single], groups[~single]
    return alone


def count_duplicates(columns: Sequence[IntArray]) -> int:
    """Return the number of rows that repeat an earlier one on all columns of codes.

    Examples
    --------
    >>> count_duplicates([np.array([0, 0, 0, 1])])
    2
    """
    left = np.arange(len(columns[0]))
    groups = np.zeros(len(left), dtype=np.int64)
    for codes in columns:
        groups, single = regroup(groups, codes[left])
        left, groups = left[~single], groups[~single]
    return len(left) - len(np.unique(groups))


def unique_shares(
    columns: Sequence[IntArray], *, size: int = 3, limit: int = 300
) -> list[tuple[tuple[int, ...], float]]:
    """Return the share of unique rows for subsets of up to ``size`` columns.

    If there are more than ``limit`` subsets, all single columns are counted, then, for each size, subsets that
    add a column to the most revealing ones of the previous size (most unique rows, then most values), until the limit
    is reached.

    Parameters
    ----------
    columns : sequence of int64 arrays
        Codes from 0.
    size : int
    limit : int

    Returns
    -------
    list of (subset, share)
        Subsets as ascending column numbers, in order of size and then of columns.

    Examples
    --------
    >>> unique_shares([np.array([0, 0, 1]), np.array([0, 1, 1])], size=2)
    [((0,), 0.333...), ((1,), 0.333...), ((0, 1), 1.0)]
    """
    rows = len(columns[0]) if columns else 0
    if not rows:
        return []
    shares: dict[tuple[int, ...], float] = {}
    values = [int(np.count_nonzero(np.bincount(c))) if c.max() < _DENSE else len(np.unique(c)) for c in columns]
    parents: list[tuple[int, ...]] = [()]
    for width in range(1, min(size, len(columns)) + 1):
        room = max(limit - len(shares), 0) if width > 1 else len(columns)
        wanted = _extensions(parents, len(columns), room, last=width == size)
        for prefix, lasts in _by_prefix(wanted).items():
            for last, share in _children(columns, prefix, lasts):
                shares[(*prefix, last)] = share
        parents = sorted(wanted, key=lambda s: (-shares[s], -sum(values[i] for i in s), s))
    return sorted(shares.items(), key=lambda item: (len(item[0]), item[0]))


def _extensions(parents: list[tuple[int, ...]], n: int, room: int, *, last: bool) -> list[tuple[int, ...]]:
    """Return subsets with one more column: all of them if the limit permits, otherwise those of the first parents.

    Unless this is the last size, half of the remaining limit is kept for larger subsets.
    """
    width = len(parents[0]) + 1 if parents else 1
    everything = list(combinations(range(n), width)) if n <= 64 else []
    if everything and len(everything) <= room:
        return everything
    room = room if last else room // 2
    found: dict[tuple[int, ...], None] = {}
    for parent in parents:
        for column in range(n):
            if column not in parent and len(found) < room:
                found[tuple(sorted((*parent, column)))] = None
    return list(found)


def _by_prefix(subsets: list[tuple[int, ...]]) -> dict[tuple[int, ...], list[int]]:
    grouped: dict[tuple[int, ...], list[int]] = {}
    for subset in subsets:
        grouped.setdefault(subset[:-1], []).append(subset[-1])
    return grouped


def _children(columns: Sequence[IntArray], prefix: tuple[int, ...], lasts: list[int]) -> list[tuple[int, float]]:
    rows = len(columns[0])
    left = np.arange(rows)
    groups = np.zeros(rows, dtype=np.int64)
    for column in prefix:
        groups, single = regroup(groups, columns[column][left])
        left, groups = left[~single], groups[~single]
    if len(left):
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int64) if prefix else groups
    alone = rows - len(left)
    found = []
    for last in lasts:
        found.append((last, (alone + count_alone(groups, columns[last][left])) / rows))
    return found
