"""Kernels of the lattice: counts over a few columns, groups that are too small there, finer and coarser nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.compile import dispatch


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
    # an unused axis has one place
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
        All look-up tables; the table of column j at level l begins at ``starts[j, l]`` and has ``sizes[j, l]`` nodes, 0
        if the column has no such level.
    columns : sequence of int
        At most three.

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
    # up to three axes, each with the nodes of all its levels one after the other; an unused axis has one node
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


def related(nodes: AnyArray, open_: BoolArray, node: IntArray, begin: int, end: int, *, finer: bool) -> IntArray:
    """Return which open nodes from ``begin`` to ``end`` are finer than a node (or coarser), or equal to it.

    Parameters
    ----------
    nodes : (n, d) integer array
        Levels, node by column.
    open_ : bool array
    node : int64 array

    Examples
    --------
    >>> nodes, open_ = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int16), np.array([True, False, True])
    >>> related(nodes, open_, np.array([1, 1]), 0, 3, finer=True).tolist()
    [0, 2]
    >>> related(nodes, open_, np.array([1, 0]), 0, 3, finer=False).tolist()
    [2]
    """
    out = np.empty(max(end - begin, 0), dtype=np.int64)
    n = dispatch(_related_loops, _related_numpy, 20 * len(out))(nodes, open_, node, begin, end, finer, out)
    return out[:n]


def _related_numpy(nodes: Any, open_: Any, node: Any, begin: Any, end: Any, finer: Any, out: Any) -> int:
    some = nodes[begin:end]
    inside = (some <= node).all(axis=1) if finer else (some >= node).all(axis=1)
    found = begin + np.flatnonzero(inside & open_[begin:end])
    out[: len(found)] = found
    return len(found)


def _related_loops(nodes: Any, open_: Any, node: Any, begin: Any, end: Any, finer: Any, out: Any) -> int:
    n = 0
    d = nodes.shape[1]
    for i in range(begin, end):
        if not open_[i]:
            continue
        # all columns without a branch: the deciding one is unpredictable
        inside = True
        if finer:
            for j in range(d):
                inside &= nodes[i, j] <= node[j]
        else:
            for j in range(d):
                inside &= nodes[i, j] >= node[j]
        if inside:
            out[n] = i
            n += 1
    return n
