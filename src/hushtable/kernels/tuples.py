"""Kernels of the lattice: grouping distinct tuples at the levels of a node, and what is lost there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.compile import dispatch

__all__ = ["blocks_of", "group_tuples", "leaf_cube", "lost_units", "pack_tuples", "small_group_units"]

MOST_IN_BLOCK = 1024
"""Combinations of the columns that are packed into one number: their look-up table stays in the fastest cache."""


def blocks_of(leaves: Sequence[int]) -> IntArray:
    """Divide columns into runs of few combinations: the first column of each run, and the number of columns.

    Examples
    --------
    >>> blocks_of([2, 100, 5, 7, 16, 41]).tolist()
    [0, 3, 5, 6]
    """
    first, product = [0], 1
    for j, size in enumerate(leaves):
        if product * size > MOST_IN_BLOCK and j > first[-1]:
            first.append(j)
            product = 1
        product *= size
    return np.array([*first, len(leaves)], dtype=np.int64)


def pack_tuples(columns: AnyArray, leaves: IntArray, blocks: IntArray) -> AnyArray:
    """Return one number per tuple and block, given a row of codes per column: fewer look-ups than one per column.

    Examples
    --------
    >>> pack_tuples(np.array([[1], [2], [3]]), np.array([2, 3, 4]), np.array([0, 2, 3])).tolist()
    [[5, 3]]
    """
    widest = max(math.prod(leaves[a:b].tolist()) for a, b in itertools.pairwise(blocks))
    packed = np.empty((columns.shape[1], len(blocks) - 1), dtype=np.uint16 if widest <= 1 << 16 else np.uint32)
    for number, (a, b) in enumerate(itertools.pairwise(blocks)):
        value = columns[a].astype(packed.dtype)
        for j in range(a + 1, b):
            value *= packed.dtype.type(leaves[j])
            value += columns[j].astype(packed.dtype)
        packed[:, number] = value
    return packed


def group_tuples(
    packed: AnyArray,
    units: IntArray,
    blocks: IntArray,
    lut: AnyArray,
    at: IntArray,
    leaves: IntArray,
    strides: IntArray,
    space: int,
) -> tuple[AnyArray, IntArray, IntArray]:
    """Group tuples whose codes are equal after looking them up.

    Parameters
    ----------
    packed : (T, blocks) integer array
        Leaf codes, as ``pack_tuples`` returns them.
    units : int64 array
        Weight of each tuple.
    blocks : int64 array
        The first column of each block, and the number of columns.
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
    group = np.empty(len(packed), dtype=np.int32)
    sizes = np.empty(len(packed), dtype=np.int64)
    first = np.empty(len(packed), dtype=np.int64)
    n = dispatch(_group_loops, _group_numpy, 50 * len(packed))(
        packed, units, blocks, lut, at, leaves, strides, space, group, sizes, first
    )
    return group, sizes[:n], first[:n]


def _group_numpy(
    packed: Any, units: Any, blocks: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
    group: Any, sizes: Any, first: Any,
) -> int:  # fmt: skip
    key = np.zeros(len(packed), dtype=np.int64)
    for number in range(packed.shape[1]):
        rest = packed[:, number].astype(np.int64)
        for j in range(blocks[number + 1] - 1, blocks[number] - 1, -1):
            key += lut[at[j] + rest % leaves[j]].astype(np.int64) * strides[j]
            rest //= leaves[j]
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
    packed: Any, units: Any, blocks: Any, lut: Any, at: Any, leaves: Any, strides: Any, space: Any,
    group: Any, sizes: Any, first: Any,
) -> int:  # fmt: skip
    n_tuples, n_blocks = packed.shape
    # what each combination adds to the key, block after block; unsigned indices spare the check for negative ones
    offset = _block_offsets(blocks, leaves)
    worth = np.zeros(offset[n_blocks], np.int64)
    for b in range(n_blocks):
        own = worth[offset[b] : offset[b + 1]]
        width = 1
        for j in range(blocks[b], blocks[b + 1]):
            # from the last on: what stands there has been read by then
            for combination in range(width - 1, -1, -1):
                before = own[combination]
                for c in range(leaves[j] - 1, -1, -1):
                    own[combination * leaves[j] + c] = before + lut[at[j] + c] * strides[j]
            width *= leaves[j]
    # in a loop of its own: together with the numbering, which branches, it takes three times as long
    keys = np.empty(n_tuples, np.int64)
    for i in range(n_tuples):
        key = np.int64(0)
        for b in range(n_blocks):
            key += worth[offset[b] + np.uint64(packed[i, b])]
        keys[i] = key
    if space <= 4 * n_tuples + 1024:
        return int(_number_dense(keys, units, space, group, sizes, first))
    return int(_number_hashed(keys, units, group, sizes, first))


def _block_offsets(blocks: Any, leaves: Any) -> Any:
    """Where each block's combinations begin, and how many there are in all."""
    offset = np.zeros(len(blocks), np.uint64)
    for b in range(len(blocks) - 1):
        width = 1
        for j in range(blocks[b], blocks[b + 1]):
            width *= leaves[j]
        offset[b + 1] = offset[b] + np.uint64(width)
    return offset


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


def lost_units(packed: AnyArray, units: IntArray, blocks: IntArray, leaves: IntArray, lost: BoolArray) -> IntArray:
    """Add up the units of lost tuples, leaf by leaf: those of the first column's leaves, of the second's, ...

    Examples
    --------
    >>> lost_units(np.array([[1], [3]]), np.array([5, 7]), np.array([0, 2]), np.array([2, 2]), np.array([True, True]))
    array([ 5,  7,  0, 12])
    """
    out = np.zeros(int(leaves.sum()), dtype=np.int64)
    dispatch(_lost_loops, _lost_numpy, 50 * len(packed))(packed, units, blocks, leaves, lost, out)
    return out


def _lost_numpy(packed: Any, units: Any, blocks: Any, leaves: Any, lost: Any, out: Any) -> None:
    at = np.concatenate([[0], np.cumsum(leaves)])
    for number in range(packed.shape[1]):
        rest = packed[lost, number].astype(np.int64)
        for j in range(blocks[number + 1] - 1, blocks[number] - 1, -1):
            np.add.at(out, at[j] + rest % leaves[j], units[lost])
            rest //= leaves[j]


def _lost_loops(packed: Any, units: Any, blocks: Any, leaves: Any, lost: Any, out: Any) -> None:
    n_tuples, n_blocks = packed.shape
    offset = _block_offsets(blocks, leaves)
    together = np.zeros(offset[n_blocks], np.int64)
    for i in range(n_tuples):
        if lost[i]:
            for b in range(n_blocks):
                together[offset[b] + np.uint64(packed[i, b])] += units[i]
    at = leaves.sum()
    for b in range(n_blocks - 1, -1, -1):
        step = np.uint64(1)
        for j in range(blocks[b + 1] - 1, blocks[b] - 1, -1):
            at -= leaves[j]
            for combination in range(offset[b + 1] - offset[b]):
                place = np.uint64(combination)
                out[np.uint64(at) + place // step % np.uint64(leaves[j])] += together[offset[b] + place]
            step *= np.uint64(leaves[j])


def leaf_cube(columns: Sequence[AnyArray], units: IntArray, leaves: Sequence[int]) -> IntArray:
    """Count the leaves of up to three columns together: an array with one axis per column, three in all.

    Examples
    --------
    >>> leaf_cube([np.array([1, 1])], np.array([3, 4]), [2]).tolist()
    [[[0]], [[7]]]
    """
    shape = [*leaves, 1, 1][:3]
    flat = np.zeros(math.prod(shape), dtype=np.int64)
    steps = np.array([shape[1] * shape[2], shape[2], 1], dtype=np.uint64)
    # a column too few has one place, whatever codes stand in for it
    steps[len(columns) :] = 0
    first, second, third = [*columns, columns[0], columns[0]][:3]
    dispatch(_cube_loops, _cube_numpy, 50 * len(units))(first, second, third, steps, units, flat)
    return flat.reshape(shape)


def _cube_numpy(first: Any, second: Any, third: Any, steps: Any, units: Any, flat: Any) -> None:
    a, b, c = (column.astype(np.uint64) * step for column, step in zip((first, second, third), steps, strict=True))
    np.add.at(flat, (a + b + c).astype(np.int64), units)


def _cube_loops(first: Any, second: Any, third: Any, steps: Any, units: Any, flat: Any) -> None:
    a, b, c = steps
    for i in range(len(units)):
        place = np.uint64(first[i]) * a + np.uint64(second[i]) * b + np.uint64(third[i]) * c
        flat[place] += units[i]


def small_group_units(
    leaf: IntArray, lut: AnyArray, starts: AnyArray, sizes: AnyArray, columns: Sequence[int], minimum: int
) -> IntArray:
    """Return, for every combination of levels of a few columns, the units in groups below ``minimum``.

    Parameters
    ----------
    leaf : three-dimensional int64 array
        Units of the leaves of these columns together, as ``leaf_cube`` returns them.
    lut : integer array
        All look-up tables; the table of column j at level l begins at ``starts[j, l]`` and has ``sizes[j, l]`` nodes,
        0 where the column has no such level.
    columns : sequence of int
        Three at most.

    Returns
    -------
    int64 array
        One number per combination, the last column's level changing fastest.
    """
    index = np.array(columns, dtype=np.int64)
    levels = np.array([np.count_nonzero(sizes[j]) for j in columns], dtype=np.int64)
    out = np.empty(int(np.prod(levels)), dtype=np.int64)
    dispatch(_small_loops, _small_numpy, 1000 * leaf.size)(leaf, lut, starts, sizes, index, minimum, levels, out)
    return out


def _small_numpy(
    leaf: Any, lut: Any, starts: Any, sizes: Any, columns: Any, minimum: Any, levels: Any, out: Any
) -> None:
    for number, combination in enumerate(np.ndindex(*levels)):
        total = leaf
        for axis, (j, level) in enumerate(zip(columns, combination, strict=True)):
            nodes = lut[starts[j, level] : starts[j, level] + sizes[j, 0]]
            shape = [sizes[j, level] if a == axis else n for a, n in enumerate(total.shape)]
            merged = np.zeros(shape, dtype=np.int64)
            np.add.at(np.moveaxis(merged, axis, 0), nodes, np.moveaxis(total, axis, 0))
            total = merged
        out[number] = total[total < minimum].sum()


def _small_loops(
    leaf: Any, lut: Any, starts: Any, sizes: Any, columns: Any, minimum: Any, levels: Any, out: Any
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
    for x in range(leaves[0]):
        for y in range(leaves[1]):
            for z in range(leaves[2]):
                cube[x, y, z] = leaf[x, y, z]
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
