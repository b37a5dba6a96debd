"""Cut points of equal-frequency intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hushtable.arrays import IntArray

__all__ = ["equal_frequency_cuts"]


def equal_frequency_cuts(numbers: npt.NDArray[Any], counts: IntArray, bins: Sequence[int]) -> list[list[int | float]]:
    """Return the cut points of each level.

    The finest level is cut between the two values where the number of records below is nearest to its share (the
    lower one of two equally near), so a value is never split and fewer intervals may result; a coarser level keeps
    every n-th of these cuts.

    Parameters
    ----------
    numbers : array
        Distinct values, rising.
    counts : int64 array
        How often each occurs.
    bins : sequence of int
        Intervals per level, each dividing the one before.

    Examples
    --------
    >>> equal_frequency_cuts(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), [4, 2])
    [[2, 3, 4], [3]]
    >>> equal_frequency_cuts(np.array([1, 2, 3]), np.array([98, 1, 1]), [4, 2])
    [[2], [2]]
    """
    if len(numbers) < 2:
        return [[] for _ in bins]
    finest = bins[0]
    below = np.cumsum(counts)[:-1]
    total = int(np.sum(counts))
    targets = np.arange(1, finest, dtype=np.int64) * total
    right = np.minimum(np.searchsorted(below * finest, targets, side="left"), len(below) - 1)
    left = np.maximum(right - 1, 0)
    nearer = np.abs(targets - below[left] * finest) <= np.abs(targets - below[right] * finest)
    nearest = np.where(nearer, left, right)
    cuts = numbers[nearest + 1]
    return [np.unique(cuts[finest // n - 1 :: finest // n][: n - 1]).tolist() for n in bins]
