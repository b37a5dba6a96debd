"""Microaggregation of less loss: any valid groups, refined until their sum of squared errors is lower.

Where the models ask for nothing but a size, groups are annealed (``kernels.anneal``): records move and change places,
groups dissolve and are founded, at first also where that costs something. Under other models (``descent``) only what
saves something is taken, and the model is asked about every touched group. Either way every group stays satisfied, the
loss is never above the one at the start, the budget is a number of steps, and the result depends on the table's
content alone.
"""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.descent import descend
from hushtable.algorithms.cluster.embed import embed
from hushtable.algorithms.cluster.groups import centroids, stats_of
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.anneal import anneal
from hushtable.kernels.neighbours import neighbours, spread
from hushtable.models.base import Monotone, Stat
from hushtable.rng import exponential_quantiles

__all__ = ["group_error", "improve"]

WIDTH = 24
"""Neighbours of a record, whose groups it may join."""

STEPS, STEPS_EACH, LEAST_EACH = 300_000_000, 300_000, 200
"""Steps of annealing: so many for each record, in all no more than the first or the last for each record."""

CHUNKS = 60
"""Annealing is done in so many parts, between which progress is told and sums are computed anew."""

MEMORY = 1 << 27
"""No annealing where groups of such different sizes would need a larger table of members."""


def group_error(space: Space, labels: IntArray, n: int) -> float:
    """Return the sum of squared distances between records and the centroids of their groups."""
    return spread(space.points, labels, centroids(space.points, labels, n, space.metric), space.metric)


def improve(problem: Problem, space: Space, labels: IntArray, n: int, needed: int) -> tuple[IntArray, int, float]:
    """Return labels of lower or equal loss, the number of groups, and the share of the loss that was saved.

    Parameters
    ----------
    problem : Problem
    space : Space
    labels : int64 array
        Of satisfied groups ``0 .. n - 1``; no point is left out.
    n : int
    needed : int
        The least units of a group.
    """
    start = group_error(space, labels, n)
    # less than a float's precision is nothing
    if n < 2 or not start > 1e-12 * len(labels):
        return labels, n, 0.0
    points = embed(space)
    near = neighbours(points, WIDTH)
    better = _annealed(problem, space, points, near, labels, needed) if _sizes_alone(problem, needed) else None
    if better is None:
        better = descend(problem, space, points, near, labels, n, needed)
    _, better = np.unique(better, return_inverse=True)
    better = better.astype(np.int64)
    groups = int(better.max()) + 1
    end = group_error(space, better, groups)
    if not end < start or not _valid(problem, space, better, groups):
        return labels, n, 0.0
    return better, groups, 1.0 - end / start


def _sizes_alone(problem: Problem, needed: int) -> bool:
    """Whether a group of the units needed satisfies the models whoever is in it."""
    members = problem.model.members
    sized = all(m.stats_needed() <= {Stat.SIZE} for m in members) and Monotone.ADD in problem.model.flags
    return needed > 0 and sized and not problem.model.part(table_level=True).members


def _valid(problem: Problem, space: Space, labels: IntArray, n: int) -> bool:
    stats = stats_of(problem, space, labels, n)
    groupwise, together = problem.model.part(table_level=False), problem.model.part(table_level=True)
    if not bool(groupwise.satisfied(stats, problem.reference).all()):
        return False
    return bool(together.table_satisfied(stats, problem.reference)[0])


def _annealed(
    problem: Problem, space: Space, points: FloatArray, near: IntArray, labels: IntArray, needed: int
) -> IntArray | None:
    units = np.ones(len(labels), dtype=np.int64) if space.units is None else space.units
    if int(np.bincount(labels).max()) * (int(units.sum()) // needed + 1) > MEMORY:
        return None
    steps = min(STEPS_EACH * len(labels), max(STEPS, LEAST_EACH * len(labels)))
    each = steps / len(labels)
    middle = centroids(space.points, labels, int(labels.max()) + 1, space.metric)
    scale = spread(space.points, labels, middle, space.metric) / len(labels)
    # the more steps there are, the more heat can be cooled down again
    hot = scale * min(2.0, (each / 2800) ** 0.5)
    tolerance = exponential_quantiles(4096)
    for part in range(CHUNKS):
        problem.progress(part / CHUNKS, "refining")
        heat = (hot * (CHUNKS - part) / CHUNKS, hot * (CHUNKS - part - 1) / CHUNKS)
        labels = anneal(points, labels, near, units, needed, steps // CHUNKS, heat, tolerance, part + 1)
    return labels
