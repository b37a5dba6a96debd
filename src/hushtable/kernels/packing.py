"""Kernels of the lattice: several columns of a tuple packed into one number, and sums over packed tuples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch

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


def block_offsets(blocks: Any, leaves: Any) -> Any:
    """Where each block's combinations begin, and their total number."""
    offset = np.zeros(len(blocks), np.uint64)
    for b in range(len(blocks) - 1):
        width = 1
        for j in range(blocks[b], blocks[b + 1]):
            width *= leaves[j]
        offset[b + 1] = offset[b] + np.uint64(width)
    return offset


def leaf_units(columns: AnyArray, rows: IntArray, units: IntArray, leaves: IntArray) -> IntArray:
    """Add up the units of some tuples, leaf by leaf: those of the first column's leaves, of the second's, ...

    Examples
    --------
    >>> columns = np.array([[0, 0, 1], [1, 0, 1]])
    >>> leaf_units(columns, np.array([0, 2]), np.array([5, 7]), np.array([2, 2]))
    array([ 5,  7,  0, 12])
    """
    out = np.zeros(int(leaves.sum()), dtype=np.int64)
    dispatch(_leaf_loops, _leaf_numpy, 50 * len(rows))(columns, rows, units, leaves, out)
    return out


def _leaf_numpy(columns: Any, rows: Any, units: Any, leaves: Any, out: Any) -> None:
    for codes, end, size in zip(columns, np.cumsum(leaves), leaves, strict=True):
        np.add.at(out[end - size : end], codes[rows], units)


def _leaf_loops(columns: Any, rows: Any, units: Any, leaves: Any, out: Any) -> None:
    at = 0
    for j in range(len(leaves)):
        for i in range(len(rows)):
            out[at + columns[j, rows[i]]] += units[i]
        at += leaves[j]


def charge(gone: IntArray, lut: AnyArray, at: IntArray, leaves: IntArray, extra: AnyArray) -> AnyArray:
    """Sum the extra costs of records at leaves, column by column: the units of each node times its extra cost.

    Parameters
    ----------
    gone : int64 array
        Units leaf by leaf, one column after the other.
    lut : integer array
        The node above each leaf, level by level; column j's begin at ``at[j]``.
    at, leaves : int64 arrays
    extra : float64 array
        Extra cost of each entry of ``lut``; the same for all leaves of a node.

    Examples
    --------
    >>> nodes, cost = np.array([0, 0, 1]), np.array([0.5, 0.5, 2.0])
    >>> charge(np.array([1, 2, 3]), nodes, np.array([0]), np.array([3]), cost).tolist()
    [7.5]
    """
    out = np.zeros(len(leaves))
    dispatch(_charge_loops, _charge_numpy, 50 * len(gone))(gone, lut, at, leaves, extra, out)
    return out


def _charge_numpy(gone: Any, lut: Any, at: Any, leaves: Any, extra: Any, out: Any) -> None:
    end = 0
    for j in range(len(leaves)):
        begin, end, own = end, end + leaves[j], slice(at[j], at[j] + leaves[j])
        # integers, so that the order of summation does not matter
        units = np.bincount(lut[own], weights=gone[begin:end])
        cost = np.zeros(len(units))
        cost[lut[own]] = extra[own]
        # summed from left to right, not pairwise, in every NumPy version
        out[j] = np.cumsum(units * cost)[-1]


def _charge_loops(gone: Any, lut: Any, at: Any, leaves: Any, extra: Any, out: Any) -> None:
    units = np.empty(leaves.max(), np.int64)
    cost = np.empty(leaves.max(), np.float64)
    begin = 0
    for j in range(len(leaves)):
        n = 0
        for leaf in range(leaves[j]):
            n = max(n, lut[at[j] + leaf] + 1)
        units[:n] = 0
        cost[:n] = 0.0
        for leaf in range(leaves[j]):
            node = lut[at[j] + leaf]
            units[node] += gone[begin + leaf]
            cost[node] = extra[at[j] + leaf]
        total = 0.0
        for node in range(n):
            total += units[node] * cost[node]
        out[j] = total
        begin += leaves[j]
