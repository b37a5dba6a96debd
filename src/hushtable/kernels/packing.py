"""Kernels of the lattice: several columns of a tuple packed into one number, and sums over packed tuples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.compile import dispatch

__all__ = ["block_offsets", "blocks_of", "lost_units", "pack_tuples"]

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
    offset = block_offsets(blocks, leaves)
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
