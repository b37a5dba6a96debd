"""Groups of points: their centroids, nearest points and statistics for models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray, scattered
from hushtable.kernels.metric import Metric
from hushtable.models.compose import AllOf
from hushtable.table.stats import GroupStats

SHARE = 64
"""If only the table as a whole fails, one in this many groups is merged at a time."""


def labels_of(groups: Sequence[IntArray], n: int) -> IntArray:
    """Return each point's group; -1 if it is in none.

    Examples
    --------
    >>> labels_of([np.array([2, 0]), np.array([3])], 4).tolist()
    [0, -1, 0, 1]
    """
    labels = np.full(n, -1, dtype=np.int64)
    for number, members in enumerate(groups):
        labels[members] = number
    return labels


def centroids(points: FloatArray, labels: IntArray, n_groups: int, metric: Metric) -> FloatArray:
    """Return the mean record of each group: means of known numbers (NaN: none known), modes of labels.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> centroids(line, np.array([0, 0, 1]), 2, Metric.of_numbers(1)).tolist()
    [[0.5], [5.0]]
    """
    out = np.full((n_groups, points.shape[1]), np.nan)
    member = labels >= 0
    owner, inside = labels[member], points[member]
    for j in range(points.shape[1]):
        x = inside[:, j]
        if metric.labels[j]:
            size = int(metric.size[j])
            pairs, counts = np.unique(owner * size + x.astype(np.int64), return_counts=True)
            group, code = pairs // size, pairs % size
            order = np.lexsort((code, -counts, group))
            chosen, first = np.unique(group[order], return_index=True)
            out[chosen, j] = code[order][first]
            continue
        known = ~np.isnan(x)
        # bincount adds in the order of the points, which is canonical
        n = np.bincount(owner[known], minlength=n_groups)
        total = np.bincount(owner[known], weights=x[known], minlength=n_groups)
        out[:, j] = np.divide(total, n, out=np.full(n_groups, np.nan), where=n > 0)
    return out


def stats_of(problem: Problem, space: Space, labels: IntArray, n_groups: int) -> GroupStats:
    """Return the statistics of groups of points that models need."""
    everything = scattered(labels, space.rows, problem.table.n_rows)
    return problem.table.stats_of(everything, n_groups, problem.model.histogram_keys())


def worst_groups(problem: Problem, model: AllOf, stats: GroupStats) -> IntArray:
    """Return some groups with the worst scores under the first member that the table as a whole fails."""
    failing = next(m for m in model.members if not bool(m.table_satisfied(stats, problem.reference)[0]))
    score = failing.score(stats, problem.reference)
    order = np.lexsort((np.arange(len(score)), score if failing.sense == ">=" else -score))
    return order[: max(1, len(score) // SHARE)]
