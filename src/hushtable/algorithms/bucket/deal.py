"""Groups records by their sensitive values alone."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import IntArray

_GROWTH = 1.25
"""Factor by which groups grow if the models refuse them."""


def deal_until(problem: Problem, rows: IntArray, values: IntArray) -> Partition | None:
    """Deal these rows to as many groups as the models allow; None if not even one group satisfies them.

    Tries n/s groups, for sizes s that grow by a quarter, and takes the first number that fits. Rows are dealt in the
    given order, which must be secret.
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

    If no value has more records than there are groups, all values of a group are distinct. The records of each value
    are dealt in the given order.

    Parameters
    ----------
    values : int64 array
        Codes.
    groups : int

    Returns
    -------
    int64 array
        The group of every record; sizes differ by at most one.

    Examples
    --------
    >>> deal(np.array([1, 0, 1, 0]), 2).tolist()
    [0, 0, 1, 1]
    """
    labels = np.empty(len(values), dtype=np.int64)
    labels[np.argsort(values, kind="stable")] = np.arange(len(values)) % groups
    return labels
