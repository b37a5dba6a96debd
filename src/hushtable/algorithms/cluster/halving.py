"""Blocks of near points: a space is halved across its most scattered column until no part is too large."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray

__all__ = ["halved", "part_of"]


def halved(space: Space, size: int) -> list[IntArray]:
    """Return the points in blocks of at most ``size``, each in canonical order, from the lower half up.

    Points that are equal in the column of a cut are told apart by their rank, so that halves are even.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> [block.tolist() for block in halved(Space.of(example().table, np.arange(5)), 3)]
    [[0, 1, 2], [3, 4]]
    """
    waiting, blocks = [np.arange(len(space), dtype=np.int64)], []
    while waiting:
        block = waiting.pop()
        if len(block) <= max(size, 1):
            blocks.append(block)
            continue
        scatter = [_scatter(space, block, j) for j in range(space.points.shape[1])]
        order = np.argsort(space.points[block, int(np.argmax(scatter))], kind="stable")
        middle = (len(block) + 1) // 2
        waiting += [np.sort(block[order[middle:]]), np.sort(block[order[:middle]])]
    return blocks


def part_of(space: Space, block: IntArray) -> Space:
    """Return some of the points as a space."""
    units = None if space.units is None else space.units[block]
    return Space(space.rows[block], space.points[block], space.metric, units, space.unit)


def _scatter(space: Space, block: IntArray, j: int) -> float:
    """Half the mean squared distance of two points in a column, hierarchies left out."""
    values = space.points[block, j]
    if space.metric.labels[j]:
        shares = np.bincount(values.astype(np.int64)) / len(values)
        return float(space.metric.steps[j, int(space.metric.height[j])] * (1 - (shares * shares).sum()) / 2)
    known = values if space.metric.plain else values[~np.isnan(values)]
    return float(known.var()) if len(known) else 0.0
