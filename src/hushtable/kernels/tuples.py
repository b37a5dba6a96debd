"""Kernels of the lattice: grouping distinct tuples at the levels of a node, and what suppressing costs there."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.compile import dispatch

__all__ = ["group_tuples", "small_group_units", "suppression_costs"]


def group_tuples(
    codes: AnyArray,
    units: IntArray,
    lut: AnyArray,
    at: IntArray,
    leaves: IntArray,
    strides: IntArray,
    space: int,
) -> tuple[AnyArray, IntArray, IntArray]:
    """Group tuples whose codes are equal after looking them up.

    Parameters
    ----------
    codes : (T, d) integer array
        Leaf codes.
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
    group = np.empty(len(codes), dtype=np.int32)
    sizes = np.empty(len(codes), dtype=np.int64)
    first = np.empty(len(codes), dtype=np.int64)
    n = dispatch(_group_loops, _group_numpy, 50 * len(codes))(
        codes, units, lut, at, leaves, strides, space, group, sizes, first
    )
    return group, sizes[:n], first[:n]


def _group_numpy(
    codes: Any, units: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
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
    codes: Any, units: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
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
    # in a loop of its own: together with the numbering, which branches, it takes three times as long
    keys = np.empty(n_tuples, np.int64)
    for i in range(n_tuples):
        key = np.int64(0)
        for j in range(d):
            key += worth[offset[j] + np.uint64(codes[i, j])]
        keys[i] = key
    if space <= 4 * n_tuples + 1024:
        return _number_dense(keys, units, space, group, sizes, first)
    return _number_hashed(keys, units, group, sizes, first)


def _number_dense(keys: Any, units: Any, space: Any, group: Any, sizes: Any, first: Any) -> Any:
    table = np.full(space, -1, np.int32)
    n = np.int32(0)
    for i in range(len(keys)):
        key = np.uint64(keys[i])
        g = table[key]
        if g < 0:
            g = n
            table[key] = n
            first[np.uint64(n)] = i
            sizes[np.uint64(n)] = 0
            n += np.int32(1)
        group[i] = g
        sizes[np.uint64(g)] += units[i]
    return np.int64(n)


def _number_hashed(keys: Any, units: Any, group: Any, sizes: Any, first: Any) -> Any:
    capacity = 64
    while capacity < 2 * len(keys):
        capacity *= 2
    table = np.full(capacity, -1, np.int32)
    known = np.empty(capacity, np.int64)
    last = np.uint64(capacity - 1)
    n = np.int32(0)
    for i in range(len(keys)):
        key = keys[i]
        # Fibonacci hashing; keys are compared in full, so collisions cost time and never exactness
        h = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & last
        g = table[h]
        while g >= 0 and known[h] != key:
            h = (h + np.uint64(1)) & last
            g = table[h]
        if g < 0:
            g = n
            table[h] = n
            known[h] = key
            first[np.uint64(n)] = i
            sizes[np.uint64(n)] = 0
            n += np.int32(1)
        group[i] = g
        sizes[np.uint64(g)] += units[i]
    return np.int64(n)


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
        The columns to project on, three at most.

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
    # up to three axes, each with the nodes of all its levels one after the other; an axis too few has one node
    c = len(columns)
    column = np.zeros(3, np.int64)
    height = np.ones(3, np.int64)
    leaves = np.ones(3, np.int64)
    offset = np.zeros((3, levels.max() + 2), np.int64)
    for a in range(3):
        if a < c:
            column[a] = columns[a]
            height[a] = levels[a]
            leaves[a] = sizes[columns[a], 0]
            for h in range(levels[a]):
                offset[a, h + 1] = offset[a, h] + sizes[columns[a], h]
        else:
            offset[a, 1] = 1
    cube = np.zeros((offset[0, height[0]], offset[1, height[1]], offset[2, height[2]]), np.int64)
    for i in range(len(codes)):
        x = codes[i, column[0]]
        y = codes[i, column[1]] if c > 1 else 0
        z = codes[i, column[2]] if c > 2 else 0
        cube[x, y, z] += units[i]
    width = cube.shape[2]
    for x in range(leaves[0]):
        for y in range(leaves[1]):
            for h in range(1, height[2]):
                begin = starts[column[2], h]
                for z in range(leaves[2]):
                    cube[x, y, offset[2, h] + lut[begin + z]] += cube[x, y, z]
        for h in range(1, height[1]):
            begin = starts[column[1], h]
            for y in range(leaves[1]):
                above = offset[1, h] + lut[begin + y]
                for z in range(width):
                    cube[x, above, z] += cube[x, y, z]
    for h in range(1, height[0]):
        begin = starts[column[0], h]
        for x in range(leaves[0]):
            above = offset[0, h] + lut[begin + x]
            for y in range(cube.shape[1]):
                for z in range(width):
                    cube[above, y, z] += cube[x, y, z]
    number = 0
    for p in range(height[0]):
        for q in range(height[1]):
            for r in range(height[2]):
                total = np.int64(0)
                for x in range(offset[0, p], offset[0, p + 1]):
                    for y in range(offset[1, q], offset[1, q + 1]):
                        for z in range(offset[2, r], offset[2, r + 1]):
                            if cube[x, y, z] < minimum:
                                total += cube[x, y, z]
                out[number] = total
                number += 1
