"""Kernels of group-by: exact class numbers, counting sort by label, sparse histograms; and sorts inside kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray, first_places, inverted, joined_ranges, run_starts, summed
from hushtable.kernels.compile import dispatch

DENSE = 4
"""Maximum number of cells (groups x values) per row for which counting is faster than sorting the rows by group."""


def number_rows(columns: Sequence[AnyArray], sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Number the distinct rows of several code columns, exactly (no hashes), in lexicographic order.

    Parameters
    ----------
    columns : sequence of integer arrays
        Codes in ``0 .. size - 1``.
    sizes : sequence of int
        How many codes each column has.

    Returns
    -------
    labels, first
        The number of each row's combination, and for each combination a row that has it.

    Examples
    --------
    >>> labels, first = number_rows([np.array([1, 0, 1]), np.array([0, 0, 0])], [2, 1])
    >>> labels.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    n = len(columns[0]) if columns else 0
    key = np.zeros(n, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        size = max(int(size), 1)
        if span * size >= 2**62:
            key, first = _compact(key, span)
            span = len(first)
        key *= size
        key += column
        span *= size
    return _compact(key, span)


def count_rows(
    columns: Sequence[AnyArray], sizes: Sequence[int], records: IntArray | None = None
) -> tuple[list[IntArray], IntArray]:
    """Count the distinct rows of several code columns, in lexicographic order, without numbering every row.

    Sorting plain keys is several times faster than numbering, and needs no compiled kernel.

    Parameters
    ----------
    columns, sizes
        As for ``number_rows``.
    records : int64 array, optional
        Number of records that each row represents.

    Examples
    --------
    >>> codes, counts = count_rows([np.array([1, 0, 1]), np.array([0, 2, 0])], [2, 3])
    >>> [c.tolist() for c in codes], counts.tolist()
    ([[0, 1], [2, 0]], [1, 2])
    """
    spans = [max(int(size), 1) for size in sizes]
    if math.prod(spans) >= 2**62:
        labels, first = number_rows(columns, sizes)
        counts = summed(1 if records is None else records, labels, len(first))
        return [np.asarray(column[first], dtype=np.int64) for column in columns], counts
    distinct, counts = _count_keys(_small_keys(columns, spans), records)
    codes = []
    for size in reversed(spans):
        distinct, code = np.divmod(distinct, size)
        codes.append(code)
    return codes[::-1], counts


def sum_rows(columns: Sequence[AnyArray], sizes: Sequence[int], records: IntArray) -> IntArray:
    """Return the records of each distinct row of several code columns, in lexicographic order of the rows.

    Parameters
    ----------
    columns, sizes
        As for ``number_rows``.
    records : int64 array
        Number of records that each row represents: at least one, and fewer than 2**53 in total.

    Examples
    --------
    >>> sum_rows([np.array([1, 0, 1]), np.array([0, 2, 0])], [2, 3], np.array([3, 4, 5])).tolist()
    [4, 8]
    """
    spans = [max(int(size), 1) for size in sizes]
    if math.prod(spans) >= 2**62:
        return count_rows(columns, sizes, records)[1]
    key = _small_keys(columns, spans)
    if math.prod(spans) > 8 * len(key):
        return _count_keys(key, records)[1]
    sums = np.bincount(key, weights=records)
    return sums[sums > 0].astype(np.int64)


def _small_keys(columns: Sequence[AnyArray], spans: Sequence[int]) -> Any:
    """One number for each row, as narrow as possible: numbers of half the width sort in half the time."""
    key: Any = np.zeros(len(columns[0]), dtype=np.uint32 if math.prod(spans) < 2**32 else np.int64)
    for column, size in zip(columns, spans, strict=True):
        key *= key.dtype.type(size)
        key += column.astype(key.dtype, copy=False)
    return key


def _count_keys(key: Any, records: IntArray | None) -> tuple[IntArray, IntArray]:
    """Return the distinct keys in ascending order, and how many records each has."""
    if not len(key):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    # rows with record counts are usually sorted by a superset of these columns: a stable sort merges the sorted
    # runs in a third of the time
    order = None if records is None else np.argsort(key, kind="stable")
    key = np.sort(key) if order is None else key[order]
    begin = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    if order is None or records is None:
        counts = np.diff(np.append(begin, len(key))).astype(np.int64)
    else:
        counts = np.add.reduceat(records[order], begin)
    return key[begin].astype(np.int64), counts


def _compact(key: IntArray, span: int) -> tuple[IntArray, IntArray]:
    """Renumber keys 0, 1, ... in ascending order of key."""
    if span <= max(len(key) // 2, 1024):
        first_row = first_places(key, span)
        present = first_row >= 0
        rank = np.cumsum(present) - 1
        return rank[key], first_row[present]
    labels = np.empty(len(key), dtype=np.int64)
    first = np.empty(len(key) // 8 + 1, dtype=np.int64)
    found = dispatch(_number_loops, _number_numpy, len(key))(key, labels, first)
    if found >= 0:
        first = first[:found]
        order = np.argsort(key[first], kind="stable")
        rank = inverted(order)
        np.take(rank, labels, out=labels)
        return labels, first[order]
    order = np.argsort(key, kind="stable")
    in_order = key[order]
    new = run_starts(in_order)
    labels[order] = np.cumsum(new) - 1
    return labels, order[new]


def _number_numpy(key: Any, labels: Any, first: Any) -> int:
    """Number keys by first occurrence; -1 if there are more than ``first`` holds, so that sorting is better."""
    _, start, inverse = np.unique(key, return_index=True, return_inverse=True)
    if len(start) > len(first):
        return -1
    order = np.argsort(start, kind="stable")
    labels[:] = inverted(order)[inverse]
    first[: len(start)] = start[order]
    return len(start)


def _number_loops(key: Any, labels: Any, first: Any) -> int:
    capacity = np.int64(1024)
    table = np.full(capacity, -1, np.int64)
    found = 0
    for i in range(len(key)):
        k = key[i]
        # Fibonacci hashing; keys are compared in full, so collisions cost time and never exactness
        h = ((np.uint64(k) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & np.uint64(capacity - 1)
        while table[h] >= 0 and key[first[table[h]]] != k:
            h = (h + np.uint64(1)) & np.uint64(capacity - 1)
        if table[h] < 0:
            if found == len(first):
                return -1
            table[h] = found
            first[found] = i
            found += 1
            labels[i] = found - 1
            if 2 * found > capacity:
                capacity *= 4
                table = np.full(capacity, -1, np.int64)
                for g in range(found):
                    again = key[first[g]]
                    h = ((np.uint64(again) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & np.uint64(capacity - 1)
                    while table[h] >= 0:
                        h = (h + np.uint64(1)) & np.uint64(capacity - 1)
                    table[h] = g
        else:
            labels[i] = table[h]
    return found


def group_rows(labels: AnyArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """Order rows by label (stable); rows with label -1 are omitted.

    Returns
    -------
    rows, offsets
        Rows of group g are ``rows[offsets[g]:offsets[g + 1]]``.
    """
    counts = np.bincount(labels[labels >= 0], minlength=n_groups)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = np.empty(offsets[-1], dtype=np.int64)
    dispatch(_group_loops, _group_numpy, len(labels))(labels, offsets, rows)
    return rows, offsets


def _group_numpy(labels: Any, offsets: Any, rows: Any) -> None:
    order = np.argsort(labels, kind="stable")
    rows[:] = order[len(labels) - len(rows) :]


def _group_loops(labels: Any, offsets: Any, rows: Any) -> None:
    place = offsets[:-1].copy()
    for i in range(len(labels)):
        g = labels[i]
        if g >= 0:
            rows[place[g]] = i
            place[g] += 1


def histogram(
    rows: AnyArray, starts: IntArray, ends: IntArray, codes: AnyArray, units: IntArray, n_values: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Count the codes of each group's rows.

    Parameters
    ----------
    rows : integer array
        Original row numbers; group g owns ``rows[starts[g]:ends[g]]``.
    codes : integer array
        The code of each original row.
    units : int64 array
        The weight of each original row, or empty if every row weighs 1. Weight 0 is not counted.
    n_values : int
        Codes are below this.

    Returns
    -------
    offsets, values, counts
        In compressed rows, values ascending within a group.

    Examples
    --------
    >>> o, v, c = histogram(np.arange(3), np.array([0, 2]), np.array([2, 3]), np.array([1, 1, 0]), np.empty(0, int), 2)
    >>> o.tolist(), v.tolist(), c.tolist()
    ([0, 1, 2], [1, 0], [2, 1])
    """
    function = dispatch(_histogram_loops, _histogram_numpy, len(rows))
    offsets, values, counts = function(rows, starts, ends, codes, units, n_values)
    return offsets, values, counts


def _histogram_numpy(rows: Any, starts: Any, ends: Any, codes: Any, units: Any, n_values: Any) -> tuple[Any, Any, Any]:
    lengths = ends - starts
    group = np.repeat(np.arange(len(starts)), lengths)
    row = rows[joined_ranges(starts, lengths)]
    weight = units[row] if len(units) else np.ones(len(row), dtype=np.int64)
    keep = weight > 0
    key = group[keep] * np.int64(n_values) + codes[row[keep]].astype(np.int64)
    present, inverse = np.unique(key, return_inverse=True)
    counts = summed(weight[keep], inverse, len(present))
    owner = present // n_values
    offsets = np.searchsorted(owner, np.arange(len(starts) + 1)).astype(np.int64)
    return offsets, (present % n_values).astype(np.int64), counts


def _histogram_loops(rows: Any, starts: Any, ends: Any, codes: Any, units: Any, n_values: Any) -> tuple[Any, Any, Any]:
    weighted = len(units) > 0
    n_groups = len(starts)
    offsets = np.zeros(n_groups + 1, np.int64)
    capacity = 0
    for g in range(n_groups):
        capacity += min(ends[g] - starts[g], n_values)
    values = np.empty(capacity, np.int64)
    counts = np.empty(capacity, np.int64)
    scratch = np.zeros(n_values, np.int64)
    at = 0
    for g in range(n_groups):
        begin = at
        for i in range(starts[g], ends[g]):
            row = rows[i]
            u = units[row] if weighted else 1
            if u > 0:
                c = np.int64(codes[row])
                if scratch[c] == 0:
                    values[at] = c
                    at += 1
                scratch[c] += u
        if at - begin > 24:
            sort_between(values, begin, at)
        else:
            for a in range(begin + 1, at):
                x = values[a]
                b = a - 1
                while b >= begin and values[b] > x:
                    values[b + 1] = values[b]
                    b -= 1
                values[b + 1] = x
        for a in range(begin, at):
            counts[a] = scratch[values[a]]
            scratch[values[a]] = 0
        offsets[g + 1] = at
    return offsets, values[:at].copy(), counts[:at].copy()


def tally(
    labels: AnyArray, codes: AnyArray, units: IntArray, n_groups: int, n_values: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Count the codes of rows by label, like ``histogram``; rows with label -1 are omitted.

    Examples
    --------
    >>> o, v, c = tally(np.array([1, -1, 0, 1]), np.array([1, 0, 0, 1]), np.array([1, 1, 2, 3]), 2, 2)
    >>> o.tolist(), v.tolist(), c.tolist()
    ([0, 1, 2], [0, 1], [2, 4])
    """
    if n_groups * n_values > DENSE * len(labels) + 1024:
        rows, offsets = group_rows(labels, n_groups)
        return histogram(rows, offsets[:-1], offsets[1:], codes, units, n_values)
    offsets, values, counts = dispatch(_tally_loops, _tally_numpy, len(labels))(
        labels, codes, units, n_groups, n_values
    )
    return offsets, values, counts


def _tally_numpy(labels: Any, codes: Any, units: Any, n_groups: Any, n_values: Any) -> tuple[Any, Any, Any]:
    matrix = np.zeros(n_groups * n_values, dtype=np.int64)
    some = np.flatnonzero(labels >= 0)
    np.add.at(matrix, labels[some].astype(np.int64) * n_values + codes[some], units[some])
    present = np.flatnonzero(matrix)
    offsets = np.searchsorted(present, np.arange(n_groups + 1) * n_values).astype(np.int64)
    return offsets, present % n_values, matrix[present]


def _tally_loops(labels: Any, codes: Any, units: Any, n_groups: Any, n_values: Any) -> tuple[Any, Any, Any]:
    matrix = np.zeros(n_groups * n_values, np.int64)
    for i in range(len(labels)):
        if labels[i] >= 0:
            matrix[np.uint64(np.int64(labels[i]) * n_values + codes[i])] += units[i]
    n = 0
    for place in range(len(matrix)):
        n += matrix[place] != 0
    offsets = np.empty(n_groups + 1, np.int64)
    values = np.empty(n, np.int64)
    counts = np.empty(n, np.int64)
    offsets[0] = n = 0
    for g in range(n_groups):
        for c in range(n_values):
            u = matrix[g * n_values + c]
            if u != 0:
                values[n] = c
                counts[n] = u
                n += 1
        offsets[g + 1] = n
    return offsets, values, counts


def sort_between(values: Any, begin: Any, end: Any) -> None:
    """Sort ``values[begin:end]`` in place (heap sort).

    Numba's own sorts take a second to compile, these take a fifth of that.

    Examples
    --------
    >>> numbers = np.array([9, 3, 1, 2, 0])
    >>> sort_between(numbers, 1, 5)
    >>> numbers.tolist()
    [9, 0, 1, 2, 3]
    """
    n = end - begin
    for step in range(n // 2 + n - 1):
        # the first half of the steps make a heap; each of the others moves its greatest to the end
        last = n
        root = n // 2 - 1 - step
        if root < 0:
            last = n - 1 - (step - n // 2)
            root = 0
            greatest = values[begin]
            values[begin] = values[begin + last]
            values[begin + last] = greatest
        x = values[begin + root]
        child = 2 * root + 1
        while child < last:
            if child + 1 < last and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= x:
                break
            values[begin + root] = values[begin + child]
            root = child
            child = 2 * root + 1
        values[begin + root] = x


def stable_order(keys: Any) -> Any:
    """Return the stable ascending order of the keys (bottom-up merge sort).

    Examples
    --------
    >>> stable_order(np.array([2, 1, 2, 0])).tolist()
    [3, 1, 0, 2]
    """
    n = len(keys)
    order = np.empty(n, np.int64)
    other = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            a, b = begin, middle
            for at in range(begin, end):
                if a < middle and (b >= end or keys[order[a]] <= keys[order[b]]):
                    other[at] = order[a]
                    a += 1
                else:
                    other[at] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order
