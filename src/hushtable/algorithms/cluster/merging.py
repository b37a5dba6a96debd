"""Groups that violate the model join their nearest until all are satisfied, and single records join groups.

Adding a record, or a group, can violate models like t-closeness; merging two satisfied groups cannot. So a record joins
the nearest group whose union with it is satisfied, and a group that is not satisfied is merged with the group whose
centroid is nearest, the closest pairs first. For a model that survives merging this ends at the latest with the whole
table.
"""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.groups import centroids, stats_of, worst_groups
from hushtable.algorithms.cluster.space import Space
from hushtable.algorithms.kinds import Kinds, add_groups
from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.remaining import remaining
from hushtable.kernels.scan import scan_nearest
from hushtable.models.base import Monotone
from hushtable.table.stats import GroupStats

__all__ = ["join_records", "merge_until_satisfied"]

CANDIDATES = 64
"""How many groups a record tries before it gives up."""


def join_records(problem: Problem, space: Space, labels: IntArray, n: int) -> tuple[IntArray, int]:
    """Return the labels with every point that is in no group (-1) in the nearest one that stays satisfied with it.

    Nearest is judged by the groups' centroids as they were formed. Points that no group takes form one together.
    """
    left = np.flatnonzero(labels < 0)
    if not len(left):
        return labels, n
    labels = labels.copy()
    if not n:
        labels[left] = 0
        return labels, 1
    model = problem.model.part(table_level=False)
    middle = centroids(space.points, labels, n, space.metric)
    everyone = np.arange(n, dtype=np.int64)
    freely = Monotone.ADD in model.flags
    stats = GroupStats.of([]) if freely else stats_of(problem, space, labels, n)
    kinds = None if freely else Kinds.of(problem)
    for step, point in enumerate(left.tolist()):
        if step % 256 == 0:
            problem.progress(step / len(left), "joining")
        found, _ = scan_nearest(middle, everyone, space.points[point], space.metric, 1 if freely else CANDIDATES)
        if kinds is None:
            labels[point] = found[0]
            continue
        record = kinds.stats.take(kinds.of_row[space.rows[[point]]])
        union = add_groups(stats.take(found), record.take(np.zeros(len(found), dtype=np.int64)))
        good = np.flatnonzero(model.satisfied(union, problem.reference))
        if len(good):
            labels[point] = found[good[0]]
            stats = GroupStats.concat([stats, record]).merge(np.append(everyone, labels[point]), n)
    refused = labels < 0
    labels[refused] = n
    return labels, n + int(refused.any())


def merge_until_satisfied(problem: Problem, space: Space, labels: IntArray, n: int) -> tuple[IntArray, int] | None:
    """Merge groups until each of them, and the table, satisfies the model; None where even a single one fails."""
    groupwise, together = problem.model.part(table_level=False), problem.model.part(table_level=True)
    stats = stats_of(problem, space, labels, n)
    while True:
        problem.progress(1.0, "merging")
        bad = ~groupwise.satisfied(stats, problem.reference)
        if not bad.any() and not bool(together.table_satisfied(stats, problem.reference)[0]):
            bad[worst_groups(problem, together, stats)] = True
        if not bad.any():
            return labels, n
        if n == 1:
            return None
        target, n = _partners(space, labels, n, bad)
        labels, stats = target[labels], stats.merge(target, n)


def _partners(space: Space, labels: IntArray, n: int, bad: BoolArray) -> tuple[IntArray, int]:
    """Number the groups anew, each bad one with its nearest, closest pairs first; no group takes part twice."""
    others = remaining(centroids(space.points, labels, n, space.metric), space.metric)
    pairs = []
    others.expect(np.flatnonzero(bad))
    for group in np.flatnonzero(bad).tolist():
        partner, far = others.nearest(group)
        pairs.append((far, group, partner))
    target = np.arange(n, dtype=np.int64)
    free = np.ones(n, dtype=np.bool_)
    for _, group, partner in sorted(pairs):
        if free[group] and free[partner]:
            free[[group, partner]] = False
            target[max(group, partner)] = min(group, partner)
    _, target = np.unique(target, return_inverse=True)
    return target.astype(np.int64), int(target.max()) + 1
