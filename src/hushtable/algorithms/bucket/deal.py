"""Two ways to make groups of records by their sensitive values alone."""

from __future__ import annotations

import heapq

import numpy as np

from hushtable.arrays import IntArray

__all__ = ["deal", "draw"]


def draw(values: IntArray, size: int) -> IntArray:
    """Make groups of ``size`` records with different values: one from each of the values with most records left.

    The records of a value go in the order given. A record that remains once fewer than ``size`` values are left joins
    the first group that lacks its value and was joined least often, or none.

    Parameters
    ----------
    values : int64 array
        Codes.
    size : int

    Returns
    -------
    int64 array
        The group of every record; -1 for those that no group can take.

    Examples
    --------
    >>> draw(np.array([0, 0, 1, 2, 0, 1]), 2).tolist()
    [0, 1, 0, 2, 2, 1]
    """
    labels = np.full(len(values), -1, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    _, starts, counts = np.unique(values[order], return_index=True, return_counts=True)
    place = starts.tolist()
    # the value with most records first, of equal ones the lowest
    heap = [(-n, c) for c, n in enumerate(counts.tolist())]
    heapq.heapify(heap)
    groups = 0
    while len(heap) >= size:
        taken = [heapq.heappop(heap) for _ in range(size)]
        for left, code in taken:
            labels[order[place[code]]] = groups
            place[code] += 1
            if left < -1:
                heapq.heappush(heap, (left + 1, code))
        groups += 1
    joined = np.zeros(groups, dtype=np.int64)
    for left, code in sorted(heap):
        own = order[starts[code] : place[code]]
        without = np.ones(groups, dtype=np.bool_)
        without[labels[own]] = False
        free = np.flatnonzero(without)
        free = free[np.argsort(joined[free], kind="stable")][:-left]
        labels[order[place[code] : place[code] + len(free)]] = free
        joined[free] += 1
    return labels


def deal(values: IntArray, groups: int) -> IntArray:
    """Deal the records, sorted by value, to the groups in turn: every group gets its share of every value.

    Examples
    --------
    >>> deal(np.array([1, 0, 1, 0]), 2).tolist()
    [0, 0, 1, 1]
    """
    labels = np.empty(len(values), dtype=np.int64)
    labels[np.argsort(values, kind="stable")] = np.arange(len(values)) % groups
    return labels
