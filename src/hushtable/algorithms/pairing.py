"""Merging groups along a binary tree: where a group violates a model, and at random elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.table.coins import Coins
from hushtable.table.stats import GroupStats


def pair_up(
    stats: GroupStats, satisfied: Callable[[GroupStats], BoolArray], extra: float, coins: Coins, floor: int = 0
) -> IntArray | None:
    """Return the class of every group; the groups are the leaves of a binary tree, in this order.

    From the bottom up, two neighbors become one class if one of them is invalid (it violates the model, and so do its
    parts), otherwise with probability ``extra ** h`` at height h, or always up to the height ``floor``. A class that
    would violate the model is never made. None if even all groups together violate it.

    Examples
    --------
    >>> from hushtable.table.stats import GroupStats
    >>> groups = GroupStats.of(sizes=[5, 2, 5, 5])
    >>> pair_up(groups, lambda g: g.sizes >= 4, 0.0, Coins(b"")).tolist()
    [0, 0, 1, 2]
    >>> pair_up(groups, lambda g: g.sizes >= 4, 1.0, Coins(b"")).tolist()
    [0, 0, 0, 0]
    """
    n = len(stats)
    number = np.arange(n, dtype=np.int64)
    height = np.zeros(n, dtype=np.int64)
    standing = satisfied(stats)
    for h in range(1, max(n - 1, 0).bit_length() + 1):
        children = len(standing)
        nodes = (children + 1) // 2
        stats = stats.merge(np.arange(children) // 2, nodes)
        divided = standing[0::2].copy()
        divided[: children // 2] &= standing[1::2]
        paired = np.arange(nodes) < children // 2
        fits = satisfied(stats)
        wanted = (coins.uniform(f"height {h}", nodes) < extra**h) | (h <= floor)
        merged = paired & fits & (~divided | wanted)
        height[merged[number >> h]] = h
        standing = divided | (paired & fits)
    if not standing.all():
        return None
    _, classes = np.unique(number >> height << height, return_inverse=True)
    return np.asarray(classes, dtype=np.int64)
