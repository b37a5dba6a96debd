"""Making groups of records by their sensitive values alone."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import IntArray

__all__ = ["deal"]


def deal(values: IntArray, groups: int) -> IntArray:
    """Deal the records, sorted by value, to the groups in turn: every group gets its share of every value.

    Where no value has more records than there are groups, the values of a group are all different. The records of a
    value go in the order given.

    Parameters
    ----------
    values : int64 array
        Codes.
    groups : int

    Returns
    -------
    int64 array
        The group of every record; sizes differ by one at most.

    Examples
    --------
    >>> deal(np.array([1, 0, 1, 0]), 2).tolist()
    [0, 0, 1, 1]
    """
    labels = np.empty(len(values), dtype=np.int64)
    labels[np.argsort(values, kind="stable")] = np.arange(len(values)) % groups
    return labels
