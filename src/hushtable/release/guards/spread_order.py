"""Groups in an order in which neighbours lie close together: halves, quarters and eighths of it are regions.

Groups are divided again and again where they spread most, the lower ones first, at a power of two, so that the
``i``-th stretch of ``2**h`` groups is one node of a binary tree over all of them. Only quasi-identifiers are looked at.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import IntArray
from hushtable.table.encoded import EncodedTable

__all__ = ["group_centres", "spread_order"]


def group_centres(table: EncodedTable, labels: IntArray, n_groups: int) -> IntArray:
    """Return the middle of every group in every quasi-identifier, rounded down."""
    rows = np.flatnonzero(labels[: table.n_sample] >= 0)
    owner = labels[rows]
    centres = np.zeros((n_groups, len(table.quasi)), dtype=np.int64)
    for j, column in enumerate(table.quasi):
        place = column.positions[column.codes[rows]]
        low = np.full(n_groups, np.iinfo(np.int64).max)
        high = np.full(n_groups, np.iinfo(np.int64).min)
        np.minimum.at(low, owner, place)
        np.maximum.at(high, owner, place)
        centres[:, j] = np.where(low <= high, low // 2 + high // 2, 0)
    return centres


def spread_order(centres: IntArray, rank: IntArray) -> IntArray:
    """Return the groups in an order whose stretches of a power of two are close together.

    Parameters
    ----------
    centres : int64 array, group by column
    rank : int64 array
        Breaks ties; no two groups share one.

    Examples
    --------
    >>> spread_order(np.array([[0, 9], [5, 9], [1, 0], [6, 0]]), np.arange(4)).tolist()
    [2, 3, 0, 1]
    """
    n = len(centres)
    order = np.argsort(rank, kind="stable")
    width = 1 << max(n - 1, 0).bit_length()
    while width > 1:
        segment = np.arange(n) // width
        starts = np.arange(0, n, width)
        here = centres[order]
        spread = np.maximum.reduceat(here, starts, axis=0) - np.minimum.reduceat(here, starts, axis=0)
        widest = np.argmax(spread, axis=1)
        key = np.take_along_axis(here, widest[segment][:, None], axis=1)[:, 0]
        order = order[np.lexsort((rank[order], key, segment))]
        width //= 2
    return order
