"""The fourth phase of m-invariant re-publication: a bucket is cut into classes whose cells are small.

A bucket holds equally many records of every value. Sorted along a quasi-identifier, value by value, its lower halves
are a bucket and so are its upper halves; the quasi-identifier with the smallest halves is taken, until every value has
one record. Counterfeits have no place of their own and go with the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hushtable.algorithms.invariant.buckets import FAKE
from hushtable.arrays import IntArray

__all__ = ["classes"]


def classes(records: IntArray, positions: Sequence[IntArray], rank: IntArray) -> Iterator[IntArray]:
    """Yield the classes of a bucket: one record of each value, ``FAKE`` for counterfeits.

    Parameters
    ----------
    records : int64 array, values x depth
        Row numbers.
    positions : sequence of int64 arrays
        Where each row lies along each quasi-identifier.
    rank : int64 array
        The rows' rank, which breaks ties.

    Examples
    --------
    >>> age = np.array([20, 50, 52, 21])
    >>> [c.tolist() for c in classes(np.array([[0, 1], [2, 3]]), [age], np.arange(4))]
    [[0, 3], [1, 2]]
    """
    waiting = [records]
    while waiting:
        bucket = waiting.pop()
        depth = bucket.shape[1]
        if depth == 1:
            yield bucket[:, 0]
            continue
        best: tuple[int, IntArray] | None = None
        for along in positions:
            ordered = _ordered(bucket, along, rank)
            cost = _extent(ordered[:, : depth // 2], positions) + _extent(ordered[:, depth // 2 :], positions)
            if best is None or cost < best[0]:
                best = cost, ordered
        assert best is not None
        waiting += [best[1][:, depth // 2 :], best[1][:, : depth // 2]]


def _ordered(bucket: IntArray, along: IntArray, rank: IntArray) -> IntArray:
    """Sort the records of every value; counterfeits stand last."""
    far = np.iinfo(np.int64).max
    place = np.where(bucket == FAKE, far, along[bucket])
    tie = np.where(bucket == FAKE, far, rank[bucket])
    value = np.repeat(np.arange(len(bucket)), bucket.shape[1])
    order = np.lexsort((tie.ravel(), place.ravel(), value))
    ordered: IntArray = bucket.ravel()[order].reshape(bucket.shape)
    return ordered


def _extent(bucket: IntArray, positions: Sequence[IntArray]) -> int:
    """Add up how far the records reach along every quasi-identifier, for each class that it will make."""
    real = bucket[bucket != FAKE]
    if not len(real):
        return 0
    return int(bucket.shape[1]) * sum(int(along[real].max() - along[real].min()) for along in positions)
