"""Kernel of collapsing: a table's distinct rows, in order, with the weight of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray, inverted, summed
from hushtable.kernels.compile import dispatch
from hushtable.kernels.grouping import number_rows


def collapse_rows(
    columns: Sequence[AnyArray], sizes: Sequence[int], weights: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Number the distinct rows of several code columns in lexicographic order, and add up their weights.

    Parameters
    ----------
    columns : sequence of integer arrays
        Codes in ``0 .. size - 1``.
    sizes : sequence of int
    weights : int64 array
        Weight of every row; empty if every row weighs 1.

    Returns
    -------
    labels, first, units
        The number of each row's combination; for each combination, a row that has it, and its weight.

    Examples
    --------
    >>> parts = collapse_rows([np.array([1, 0, 1]), np.array([0, 0, 0])], [2, 1], np.empty(0, np.int64))
    >>> [part.tolist() for part in parts]
    [[1, 0, 1], [1, 0], [1, 2]]
    """
    if math.prod(max(int(size), 1) for size in sizes) >= 2**62:
        labels, first = number_rows(columns, sizes)
        units = summed(weights if len(weights) else 1, labels, len(first))
        return labels, first, units
    n = len(columns[0])
    keys, first, units = (np.empty(n, dtype=np.int64) for _ in range(3))
    labels = np.empty(n, dtype=np.int32)
    stacked, widths = np.stack(columns), np.array([max(int(size), 1) for size in sizes])
    # detecting that the hash table is too small costs less than one that does not fit the cache
    capacity, found = 2**16, -1
    while found < 0:
        found = dispatch(_collapse_loops, _collapse_numpy, n)(
            stacked, widths, weights, labels, keys, first, units, capacity
        )
        capacity *= 16
    order = np.argsort(keys[:found])
    return inverted(order)[labels], first[order], units[order]


def _collapse_numpy(
    columns: Any, sizes: Any, weights: Any, labels: Any, keys: Any, first: Any, units: Any, capacity: Any
) -> int:
    key = np.zeros(columns.shape[1], dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    distinct, start, inverse = np.unique(key, return_index=True, return_inverse=True)
    n = len(distinct)
    labels[:], keys[:n], first[:n] = inverse, distinct, start
    units[:n] = 0
    np.add.at(units, labels, weights if len(weights) else 1)
    return n


def _collapse_loops(
    columns: Any, sizes: Any, weights: Any, labels: Any, keys: Any, first: Any, units: Any, capacity: Any
) -> int:
    d, n = columns.shape
    table = np.full(capacity, -1, np.int32)
    mask = np.uint64(capacity - 1)
    found = 0
    for i in range(n):
        key = np.int64(0)
        for j in range(d):
            key = key * sizes[j] + columns[j, i]
        # Fibonacci hashing; keys are compared in full, so collisions cost time and never exactness
        h = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        g = table[h]
        while g >= 0 and keys[g] != key:
            h = (h + np.uint64(1)) & mask
            g = table[h]
        if g < 0:
            if 2 * found >= capacity:
                return -1
            g = found
            table[h] = g
            keys[g] = key
            first[g] = i
            units[g] = 0
            found += 1
        labels[i] = g
        units[g] += weights[i] if len(weights) else 1
    return found
