"""Kernels of the lattice: grouping distinct tuples at the levels of a node, and what suppressing costs there."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.compile import dispatch

__all__ = ["group_tuples", "shared_columns", "small_group_units", "suppression_costs"]


def group_tuples(
    codes: AnyArray,
    shared: AnyArray,
    units: IntArray,
    lut: AnyArray,
    at: IntArray,
    leaves: IntArray,
    strides: IntArray,
    space: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Group tuples whose codes are equal after looking them up.

    Parameters
    ----------
    codes : (T, d) integer array
        Leaf codes.
    shared : integer array
        How many leading columns each tuple shares with the one before: their part of the key is not computed again.
    units : int64 array
        Weight of each tuple.
    lut : integer array
        All look-up tables, one after the other; column j of the node begins at ``at[j]``.
    leaves : int64 array
        How many leaf codes each column has.
    strides : int64 array
        What one step in column j is worth in the key; ``space`` is the number of keys (below 2**62).

    Returns
    -------
    group, sizes, first
        The group of every tuple, numbered by first occurrence; units per group; the first tuple of each group.
    """
    group = np.empty(len(codes), dtype=np.int64)
    sizes = np.empty(len(codes), dtype=np.int64)
    first = np.empty(len(codes), dtype=np.int64)
    n = dispatch(_group_loops, _group_numpy, 50 * len(codes))(
        codes, shared, units, lut, at, leaves, strides, space, group, sizes, first
    )
    return group, sizes[:n], first[:n]


def _group_numpy(
    codes: Any, shared: Any, units: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
    group: Any, sizes: Any, first: Any,
) -> int:  # fmt: skip
    key = np.zeros(len(codes), dtype=np.int64)
    for j in range(codes.shape[1]):
        key += lut[at[j] + codes[:, j].astype(np.int64)].astype(np.int64) * strides[j]
    _, start, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(start, kind="stable")
    rank = np.empty(len(start), dtype=np.int64)
    rank[order] = np.arange(len(start))
    group[:] = rank[inverse]
    n = len(start)
    sizes[:n] = 0
    np.add.at(sizes, group, units)
    first[:n] = start[order]
    return n


def _group_loops(
    codes: Any, shared: Any, units: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
    group: Any, sizes: Any, first: Any,
) -> int:  # fmt: skip
    n_tuples, d = codes.shape
    # what each leaf adds to the key, column after column; unsigned indices spare the check for negative ones
    offset = np.zeros(d + 1, np.uint64)
    for j in range(d):
        offset[j + 1] = offset[j] + np.uint64(leaves[j])
    worth = np.empty(offset[d], np.int64)
    for j in range(d):
        for c in range(leaves[j]):
            worth[offset[j] + np.uint64(c)] = lut[at[j] + c] * strides[j]
    dense = space <= 4 * n_tuples + 1024
    capacity = 64
    while capacity < 2 * n_tuples:
        capacity *= 2
    table = np.full(space if dense else capacity, -1, np.int32)
    keys = np.empty(1 if dense else capacity, np.int64)
    partial = np.zeros(d + 1, np.int64)
    previous = np.int64(-1)
    g = 0
    n = 0
    for i in range(n_tuples):
        j = shared[i]
        key = partial[j]
        while j < d:
            key += worth[offset[j] + np.uint64(codes[i, j])]
            j += 1
            partial[j] = key
        key = partial[d]
        if key != previous:
            previous = key
            h = np.uint64(key)
            if not dense:
                # Fibonacci hashing; keys are compared in full, so collisions cost time and never exactness
                h = ((h * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & np.uint64(capacity - 1)
                while table[h] >= 0 and keys[h] != key:
                    h = (h + np.uint64(1)) & np.uint64(capacity - 1)
            g = table[h]
            if g < 0:
                g = n
                table[h] = n
                if not dense:
                    keys[h] = key
                first[n] = i
                sizes[n] = 0
                n += 1
        group[i] = g
        sizes[g] += units[i]
    return n


def shared_columns(codes: AnyArray) -> AnyArray:
    """Return how many leading columns each row shares with the row before; 0 for the first.

    Examples
    --------
    >>> shared_columns(np.array([[1, 1], [1, 2], [2, 2]])).tolist()
    [0, 1, 0]
    """
    out = np.zeros(len(codes), dtype=np.int16)
    if len(codes) > 1:
        differs = codes[1:] != codes[:-1]
        out[1:] = np.where(differs.any(axis=1), differs.argmax(axis=1), codes.shape[1])
    return out


def suppression_costs(
    codes: AnyArray, units: IntArray, group: IntArray, lost: AnyArray, cost: FloatArray, at: IntArray
) -> FloatArray:
    """Add up, column by column, what the tuples of lost groups cost: ``cost[at[j] + code]`` per unit."""
    out = np.zeros(codes.shape[1])
    dispatch(_costs_loops, _costs_numpy, 50 * len(codes))(codes, units, group, lost, cost, at, out)
    return out


def _costs_numpy(codes: Any, units: Any, group: Any, lost: Any, cost: Any, at: Any, out: Any) -> None:
    rows = np.flatnonzero(lost[group])
    for j in range(codes.shape[1]):
        # cumsum adds from left to right, as the loops do; sum would add pairwise
        terms = cost[at[j] + codes[rows, j].astype(np.int64)] * units[rows]
        out[j] = np.cumsum(terms)[-1] if len(terms) else 0.0


def _costs_loops(codes: Any, units: Any, group: Any, lost: Any, cost: Any, at: Any, out: Any) -> None:
    n_tuples, d = codes.shape
    for i in range(n_tuples):
        if lost[group[i]]:
            u = units[i]
            for j in range(d):
                out[j] += cost[at[j] + codes[i, j]] * u


def small_group_units(
    codes: AnyArray, units: IntArray, lut: AnyArray, starts: AnyArray, sizes: AnyArray, columns: IntArray, minimum: int
) -> IntArray:
    """Return, for every combination of levels of a few columns, the units in groups below ``minimum``.

    Parameters
    ----------
    codes, units
        Distinct tuples, all columns.
    lut : integer array
        All look-up tables; the table of column j at level l begins at ``starts[j, l]`` and has ``sizes[j, l]`` nodes,
        0 where the column has no such level.
    columns : int64 array
        The columns to project on.

    Returns
    -------
    int64 array
        One number per combination, the last column's level changing fastest.
    """
    heights = [int(np.count_nonzero(sizes[j])) for j in columns]
    out = np.empty(int(np.prod(heights)), dtype=np.int64)
    levels = np.array(heights, dtype=np.int64)
    dispatch(_small_loops, _small_numpy, 50 * len(codes))(
        codes, units, lut, starts, sizes, columns, minimum, levels, out
    )
    return out


def _small_numpy(
    codes: Any, units: Any, lut: Any, starts: Any, sizes: Any, columns: Any, minimum: Any, levels: Any, out: Any
) -> None:
    for number, combination in enumerate(np.ndindex(*levels)):
        key = np.zeros(len(codes), dtype=np.int64)
        for j, level in zip(columns, combination, strict=True):
            key = key * sizes[j, level] + lut[starts[j, level] + codes[:, j].astype(np.int64)]
        _, inverse = np.unique(key, return_inverse=True)
        total = np.zeros(int(inverse.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(total, inverse, units)
        out[number] = total[total < minimum].sum()


def _small_loops(
    codes: Any, units: Any, lut: Any, starts: Any, sizes: Any, columns: Any, minimum: Any, levels: Any, out: Any
) -> None:
    n_tuples = len(codes)
    c = len(columns)
    space = np.int64(1)
    for a in range(c):
        space *= sizes[columns[a], 0]
    # project once: distinct leaf combinations of these columns, by direct addressing
    base = np.zeros(space, np.int64)
    for i in range(n_tuples):
        leaf_key = np.int64(0)
        for a in range(c):
            leaf_key = leaf_key * sizes[columns[a], 0] + codes[i, columns[a]]
        base[leaf_key] += units[i]
    distinct = 0
    for slot in range(space):
        if base[slot] > 0:
            distinct += 1
    leaf = np.empty((distinct, c), np.int64)
    weight = np.empty(distinct, np.int64)
    at = 0
    for slot in range(space):
        if base[slot] > 0:
            rest = np.int64(slot)
            for a in range(c - 1, -1, -1):
                leaf[at, a] = rest % sizes[columns[a], 0]
                rest //= sizes[columns[a], 0]
            weight[at] = base[slot]
            at += 1
    level = np.zeros(c, np.int64)
    for number in range(len(out)):
        width = np.int64(1)
        for a in range(c):
            width *= sizes[columns[a], level[a]]
        for slot in range(width):
            base[slot] = 0
        for i in range(distinct):
            key = np.int64(0)
            for a in range(c):
                j = columns[a]
                key = key * sizes[j, level[a]] + lut[starts[j, level[a]] + leaf[i, a]]
            base[key] += weight[i]
        total = np.int64(0)
        for slot in range(width):
            if base[slot] < minimum:
                total += base[slot]
        out[number] = total
        for a in range(c - 1, -1, -1):
            level[a] += 1
            if level[a] < levels[a]:
                break
            level[a] = 0
