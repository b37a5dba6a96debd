"""The fourth phase of m-invariant re-publication: buckets are cut into classes whose cells are small.

A bucket holds equally many records of every value. Sorted along a quasi-identifier, value by value, its lower halves
are a bucket and so are its upper halves; the quasi-identifier with the smallest halves is taken, until every value has
one record. Counterfeits have no place of their own and go with the last. All buckets are halved at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.algorithms.invariant.buckets import FAKE
from hushtable.arrays import BoolArray, IntArray

__all__ = ["classes"]

_FAR = np.iinfo(np.int64).max


def classes(buckets: Sequence[IntArray], positions: Sequence[IntArray], rank: IntArray) -> tuple[IntArray, IntArray]:
    """Return the class of every record of the buckets, and which bucket each class is of.

    Parameters
    ----------
    buckets : sequence of int64 arrays, values x depth
        Row numbers, ``FAKE`` for counterfeits; every class takes one of each value.
    positions : sequence of int64 arrays
        Where each row lies along each quasi-identifier.
    rank : int64 array
        The rows' rank, which breaks ties.

    Returns
    -------
    label, owner
        The class of each entry of the buckets, in their order, and the bucket of each class.

    Examples
    --------
    >>> age = np.array([20, 50, 52, 21])
    >>> classes([np.array([[0, 1], [2, 3]])], [age], np.arange(4))[0].tolist()
    [0, 1, 1, 0]
    """
    record = np.concatenate([bucket.ravel() for bucket in buckets])
    value = np.concatenate([np.repeat(np.arange(len(b)), b.shape[1]) for b in buckets])
    node = np.repeat(np.arange(len(buckets), dtype=np.int64), [b.size for b in buckets])
    depth = np.array([b.shape[1] for b in buckets], dtype=np.int64)
    owner = np.arange(len(buckets), dtype=np.int64)
    while np.any(depth > 1):
        wide = np.flatnonzero(depth[node] > 1)
        upper = np.zeros(len(node), dtype=np.bool_)
        upper[wide] = _halves(record[wide], value[wide], node[wide], depth, positions, rank)
        # a node's lower half keeps its number; upper halves get new ones
        split = np.flatnonzero(depth > 1)
        fresh = np.zeros(len(depth), dtype=np.int64)
        fresh[split] = len(depth) + np.arange(len(split))
        node = np.where(upper, fresh[node], node)
        lower = depth[split] // 2
        depth, owner = np.concatenate([depth, depth[split] - lower]), np.concatenate([owner, owner[split]])
        depth[split] = lower
    return node, owner


def _halves(
    record: IntArray, value: IntArray, node: IntArray, depth: IntArray, positions: Sequence[IntArray], rank: IntArray
) -> BoolArray:
    """Tell which records go to the upper half of their node, along the quasi-identifier with the smallest halves."""
    best = np.full(len(depth), _FAR)
    chosen = np.zeros(len(record), dtype=np.bool_)
    for along in positions:
        upper = _upper(record, value, node, depth, along, rank)
        cost = _cost(record, node, upper, depth, positions)
        better = cost < best
        best = np.where(better, cost, best)
        chosen = np.where(better[node], upper, chosen)
    return chosen


def _upper(
    record: IntArray, value: IntArray, node: IntArray, depth: IntArray, along: IntArray, rank: IntArray
) -> BoolArray:
    """Sort the records of every value of every node, counterfeits last, and cut in the middle."""
    fake = record == FAKE
    place = np.where(fake, _FAR, along[record])
    tie = np.where(fake, _FAR, rank[record])
    order = np.lexsort((tie, place, value, node))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (node[order[1:]] != node[order[:-1]]) | (value[order[1:]] != value[order[:-1]])
    start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    upper = np.empty(len(order), dtype=np.bool_)
    upper[order] = np.arange(len(order)) - start >= depth[node[order]] // 2
    return upper


def _cost(
    record: IntArray, node: IntArray, upper: BoolArray, depth: IntArray, positions: Sequence[IntArray]
) -> IntArray:
    """Add up how far the records of both halves reach along every quasi-identifier, for each class that they will make.

    Whole numbers, and the same whatever the order of the records.
    """
    real = np.flatnonzero(record != FAKE)
    half = 2 * node[real] + upper[real]
    classes_of = np.empty(2 * len(depth), dtype=np.int64)
    classes_of[0::2], classes_of[1::2] = depth // 2, depth - depth // 2
    reach = np.zeros(2 * len(depth), dtype=np.int64)
    filled = np.bincount(half, minlength=len(reach)) > 0
    for along in positions:
        low, high = np.full(len(reach), _FAR), np.full(len(reach), -1, dtype=np.int64)
        np.minimum.at(low, half, along[record[real]])
        np.maximum.at(high, half, along[record[real]])
        reach[filled] += high[filled] - low[filled]
    total = classes_of * reach
    return total[0::2] + total[1::2]
