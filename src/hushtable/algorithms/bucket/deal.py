"""Making groups of records by their sensitive values alone."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import IntArray

__all__ = ["deal", "deal_until"]

_GROWTH = 1.25
"""By how much groups grow where the models refuse them."""


def deal_until(problem: Problem, rows: IntArray, values: IntArray) -> Partition | None:
    """Deal these rows to as many groups as the models allow; None where not even one group satisfies them.

    The number of groups is the first that fits of n/s, for sizes s that grow by a quarter. Rows are dealt in the order
    given, which has to be a secret one.
    """
    model, reference, table = problem.model, problem.reference, problem.table
    labels = np.full(table.n_rows, -1, dtype=np.int64)
    size = float(model.min_group_size())
    tried = 0
    while tried != 1:
        groups = max(1, int(len(rows) / size))
        size = max(size * _GROWTH, size + 1)
        if groups == tried:
            continue
        problem.progress(1 / groups, "dealing")
        tried = groups
        labels[rows] = deal(values, groups)
        stats = table.stats_of(labels, groups, model.histogram_keys())
        if model.satisfied(stats, reference).all() and bool(model.table_satisfied(stats, reference)[0]):
            return Partition(labels, groups)
    return None


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
