"""Microaggregation with less loss: refines any valid groups to a lower sum of squared errors.

If the models require only a size, groups are annealed (``kernels.anneal``): records move and swap places, and groups
dissolve and form, at first even if that costs something. In large tables, many groups are annealed at once
(``kernels.rounds``). With other models (``descent``), changes are made in rounds, and the model is
evaluated on all groups that a round affects. Either way, every group stays satisfied, the loss never exceeds the
initial loss, the budget is a number of steps, and the result depends only on the table's content. With a time limit,
the result may depend on the machine, and says so.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.descent import temper
from hushtable.algorithms.cluster.groups import centroids, stats_of
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.anneal import anneal
from hushtable.kernels.device import rounds_for
from hushtable.kernels.neighbours import neighbours, spread
from hushtable.kernels.rounds import QUANTILES, Processor, RoundsState
from hushtable.kernels.tiles import DeviceLost
from hushtable.models.base import Monotone, Stat
from hushtable.rng import exponential_quantiles

__all__ = ["Improved", "embed", "group_error", "improve"]

_log = logging.getLogger(__package__)

WIDTH = 24
"""Number of neighbors of a record whose groups it may join."""

STEPS, STEPS_EACH, LEAST_EACH = 300_000_000, 300_000, 200
"""Annealing steps: in total, per record at most, and per record at least."""

CHUNKS = 60
"""Number of parts of annealing; between parts, progress is reported and sums are recomputed."""

COOLING = 3
"""Heat falls with this power of the remaining steps: few distant records settle early, most need slow final cooling."""

ROUNDS_FROM = 50_000
"""Minimum number of records for annealing groups in rounds, many at once, instead of step by step."""

ROUND_STEPS, WARMTH = 3000, 0.2
"""In rounds: steps per record, and the initial heat, in mean errors of a record."""

MEMORY = 1 << 27
"""No annealing where groups of such different sizes would need a larger table of members."""


@dataclass(frozen=True)
class Improved:
    """Groups after refining.

    Attributes
    ----------
    labels : int64 array
    n : int
        The number of groups.
    saved : float
        Share of the loss saved.
    in_time : bool
        False if a time limit ended the work, so that the groups depend on the machine.
    """

    labels: IntArray
    n: int
    saved: float = 0.0
    in_time: bool = True


def group_error(space: Space, labels: IntArray, n: int) -> float:
    """Return the sum of squared distances between records and the centroids of their groups."""
    return spread(space.points, labels, centroids(space.points, labels, n, space.metric), space.metric)


def improve(
    problem: Problem, space: Space, labels: IntArray, n: int, needed: int, *, seconds: float | None = None,
    steps: int | None = None,
) -> Improved:  # fmt: skip
    """Return groups of lower or equal loss.

    Parameters
    ----------
    problem : Problem
    space : Space
    labels : int64 array
        Labels of satisfied groups ``0 .. n - 1``; every point has one.
    n : int
    needed : int
        Minimum units of a group.
    seconds : float, optional
        Stop after this time. Defaults to no limit.
    steps : int, optional
        Annealing steps per record. Defaults to about half a minute of work.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    start = group_error(space, labels, n)
    # differences below floating-point precision do not count
    if len(labels) < 2 or not start > 1e-12 * len(labels):
        return Improved(labels, n)
    points = embed(space)
    near = neighbours(points, WIDTH)
    late = False
    better: IntArray | None = None
    if _sizes_alone(problem, needed):
        better, late = _annealed(problem, space, points, near, labels, needed, start, steps, deadline)
    if better is None:
        better, late = temper(problem, space, points, near, labels, n, needed, deadline)
    _, better = np.unique(better, return_inverse=True)
    better = better.astype(np.int64)
    groups = int(better.max()) + 1
    end = group_error(space, better, groups)
    if not end < start or not _valid(problem, space, better, groups):
        return Improved(labels, n, 0.0, not late)
    return Improved(better, groups, 1.0 - end / start, not late)


def _sizes_alone(problem: Problem, needed: int) -> bool:
    """Whether any group with the needed units satisfies the models."""
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
    problem: Problem,
    space: Space,
    points: FloatArray,
    near: IntArray,
    labels: IntArray,
    needed: int,
    error: float,
    each: int | None,
    deadline: float | None,
) -> tuple[IntArray | None, bool]:
    """Return labels after all steps, and whether the time limit was reached; None if group sizes are too uneven."""
    if space.units is None and len(labels) >= ROUNDS_FROM:
        return _in_rounds(problem, points, near, labels, needed, error, each, deadline)
    units = np.ones(len(labels), dtype=np.int64) if space.units is None else space.units
    if int(np.bincount(labels).max()) * (int(units.sum()) // needed + 1) > MEMORY:
        return None, False
    steps = min(STEPS_EACH * len(labels), max(STEPS, LEAST_EACH * len(labels)))
    steps = steps if each is None else each * len(labels)
    # more steps allow more initial heat
    hot = error / len(labels) * min(2.0, (steps / len(labels) / 2800) ** 0.5)
    tolerance = exponential_quantiles(4096)
    pace, done = _Pace(deadline), 0
    for part in range(CHUNKS):
        problem.progress(part / CHUNKS, "refining")
        size = pace.fitting(steps // CHUNKS, part, done)
        heat = (hot * ((CHUNKS - part) / CHUNKS) ** COOLING, hot * ((CHUNKS - part - 1) / CHUNKS) ** COOLING)
        if pace.over:
            # no time is left to cool down: one part without heat
            size, heat = steps // CHUNKS, (0.0, 0.0)
        labels = anneal(points, labels, near, units, needed, size, heat, tolerance, part + 1)
        done += size
        if pace.over:
            break
    return labels, pace.late


@dataclass
class _Pace:
    """How much of the work fits into the remaining time, at the current pace."""

    deadline: float | None
    begin: float = field(default_factory=lambda: time.monotonic())
    late: bool = False
    over: bool = False

    def fitting(self, size: int, part: int, done: int) -> int:
        """Return how many of a part's steps fit, at least one, leaving time for the rest of the cooling."""
        if self.deadline is None or not part:
            return size
        now = time.monotonic()
        fits = int(done * (self.deadline - now) / (now - self.begin) / (CHUNKS - part))
        self.late, self.over = self.late or fits < size, now >= self.deadline
        return min(size, max(fits, 1))


def _in_rounds(
    problem: Problem,
    points: FloatArray,
    near: IntArray,
    labels: IntArray,
    needed: int,
    error: float,
    each: int | None,
    deadline: float | None,
) -> tuple[IntArray, bool]:
    """Return labels after all rounds, and whether the time limit was reached."""
    given = (points, labels, near, needed, exponential_quantiles(QUANTILES))
    rounds = max((each or ROUND_STEPS) * len(labels) // (int(labels.max()) + 1) // CHUNKS, 1)
    try:
        return _cooled(problem, rounds_for(*given), rounds, WARMTH * error / len(labels), deadline)
    except DeviceLost as lost:
        _log.warning("%s The processor starts again.", lost)
        return _cooled(problem, Processor(*given), rounds, WARMTH * error / len(labels), deadline)


def _cooled(
    problem: Problem, state: RoundsState, rounds: int, hot: float, deadline: float | None
) -> tuple[IntArray, bool]:
    pace, done = _Pace(deadline), 0
    for part in range(CHUNKS):
        problem.progress(part / CHUNKS, "refining")
        size = pace.fitting(rounds, part, done)
        left = 1.0 - (part + np.arange(size) / size) / CHUNKS
        state.run(done, hot * left**COOLING)
        done += size
    return state.labels(), pace.late


# Mixed records as plain numbers, so that groups of them have sums: what refining works with.
#
# A label becomes one column for each node of each level of its hierarchy, scaled so that squared distances are those
# of the metric; levels of very many nodes are left out. A missing number becomes the column's mean and a mark in a
# column of its own.


WIDEST = 64
"""Levels with more nodes are skipped."""


def embed(space: Space) -> FloatArray:
    """Return the points as numbers without gaps.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> space = Space.of(example().table, np.arange(5))
    >>> numbers = embed(space)
    >>> round(float(((numbers[0, 1:] - numbers[1, 1:]) ** 2).sum()), 4)  # Oslo is half as far as the root is high
    0.25
    """
    metric, points = space.metric, space.points
    if metric.plain:
        return points
    columns: list[FloatArray] = []
    for j in range(points.shape[1]):
        values = points[:, j]
        if not metric.labels[j]:
            gap = np.isnan(values)
            known = values[~gap]
            columns.append(np.where(gap, float(known.sum()) / len(known) if len(known) else 0.0, values))
            if gap.any():
                columns.append(gap * float(np.sqrt(metric.missing[j])))
            continue
        codes, size = values.astype(np.int64), int(metric.size[j])
        for h in range(int(metric.height[j])):
            begin = int(metric.start[j]) + h * size
            nodes = metric.above[begin : begin + size][codes]
            step = float(np.sqrt((metric.steps[j, h + 1] - metric.steps[j, h]) / 2))
            present = np.unique(nodes)
            if 1 < len(present) <= WIDEST:
                columns += [(nodes == node) * step for node in present]
    if not columns:
        return np.zeros((len(points), 1))
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
