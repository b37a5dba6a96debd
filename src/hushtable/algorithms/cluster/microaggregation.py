"""Base of microaggregation: points, groups, repair, and a partition to publish as centroids."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Reads, Recoding
from hushtable.algorithms.cluster.descent import Refining, temper
from hushtable.algorithms.cluster.groups import centroids, labels_of, stats_of, worst_groups
from hushtable.algorithms.cluster.space import Scale, Space
from hushtable.algorithms.kinds import Kinds, add_groups
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, FloatArray, IntArray, scattered
from hushtable.errors import ParameterError
from hushtable.kernels.anneal import anneal
from hushtable.kernels.device import rounds_for
from hushtable.kernels.grouping import number_rows
from hushtable.kernels.neighbours import neighbours, spread
from hushtable.kernels.rounds import QUANTILES, Processor, RoundsState
from hushtable.kernels.scan import scan_nearest
from hushtable.kernels.tiles import DeviceLost
from hushtable.kernels.unassigned import Unassigned, all_unassigned
from hushtable.models.base import Monotone, Stat
from hushtable.params import AtLeast, Positive
from hushtable.rng import exponential_quantiles
from hushtable.table.stats import GroupStats

BLOCK = 200_000
"""Maximum block size for ``quality: fast``; the edges of smaller blocks cost more than 5%."""


def separate_blocks(names: Sequence[str], known: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return blocks of columns that can be grouped separately: columns known together are in one block.

    Columns that ``known`` does not mention form a separate block.

    Examples
    --------
    >>> separate_blocks(["a", "b", "c", "d", "e"], [["a", "b"], ["c"], ["b", "d"]])
    [[0, 1, 3], [2], [4]]
    """
    block = list(range(len(names)))
    for some in [*known, [name for name in names if not any(name in k for k in known)]]:
        places = [names.index(name) for name in some]
        joined = {block[p] for p in places}
        block = [min(joined) if b in joined else b for b in block]
    return [[j for j, b in enumerate(block) if b == first] for first in sorted(set(block))]


def needed_units(problem: Problem, space: Space) -> int:
    """Return the smallest group size that the models allow, in units of the space."""
    return max(problem.model.min_group_size(), 1) * space.unit


@dataclass(frozen=True)
class Microaggregation(Algorithm):
    """Base of the algorithms that publish centroids; subclasses form the groups.

    Parameters
    ----------
    scale : {"standard", "range", "none"}
        Scaling of numbers, dates and ranks: by standard deviation, by range, or none.
    nominal : {"hierarchy", "equal"}
        Distance between nominal labels: height of the lowest common node, or 0 and 1.
    round : bool
        Whether to round means of integers to integers.
    quality : {"fast", "balanced", "best"}
        ``balanced``: the algorithm as described. ``fast``: the same within blocks of at most 200,000 similar records.
        ``best``: refines the groups, in about half a minute, to a lower sum of squared errors.
    refine_seconds : float, optional
        With ``best``: stop refining after about this time. If the limit is reached, the result depends on the
        machine, and the release's notes contain ``stopped_by_time``; otherwise it has no effect.
    refine_steps : int, optional
        With ``best``: refinement steps per record; more steps take longer and lose less. Defaults to about half a
        minute of work on small tables, and to 3,000 steps from 50,000 records on.
    """

    scale: Annotated[Scale, "scaling of numbers, dates and ranks"] = "standard"
    nominal: Annotated[Literal["hierarchy", "equal"], "distance of labels: common node's height, or 0 and 1"] = (
        "hierarchy"
    )
    round: Annotated[bool, "whether to round means of integers to integers"] = False
    quality: Annotated[
        Literal["fast", "balanced", "best"], "fast: within blocks; balanced: as described; best: refined afterwards"
    ] = "balanced"
    refine_seconds: Annotated[float | None, Positive(), "time limit for refining, with quality: best"] = field(
        default=None, kw_only=True
    )

    refine_steps: Annotated[int | None, AtLeast(1), "refinement steps per record, with quality: best"] = field(
        default=None, kw_only=True
    )

    recoding: ClassVar[Recoding] = Recoding.CENTROID
    reads_cells: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("refine_seconds", "refine_steps"):
            if getattr(self, name) is not None and self.quality != "best":
                raise ParameterError(
                    f"The '{name}' parameter of {type(self).__name__} limits refining, which 'quality: "
                    f"{self.quality}' does not do.",
                    hint="Set 'quality: best', or remove the parameter.",
                )

    @abstractmethod
    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Return groups of points, and notes on them; some points may stay ungrouped."""

    def run(self, problem: Problem) -> Partition:
        """Form groups of whole records, or of the columns that an adversary may know together."""
        known = problem.model.known_together()
        # groups of these columns satisfy the models that evaluate cells
        problem = problem.of_classes()
        space = self.space(problem)
        parts = None if known is None else separate_blocks([c.name for c in problem.table.quasi], known)
        if parts is None or len(parts) == 1:
            labels, n, notes = self._grouped(problem, space)
            return Partition(self._everywhere(problem, space, labels), n, whole_numbers=self.round, notes=notes)
        found = [self._grouped(problem, space.only(part))[0] for part in parts]
        labels, first = number_rows(found, [int(f.max()) + 1 for f in found])
        by_column = {
            problem.table.quasi[j].name: self._everywhere(problem, space, own)
            for part, own in zip(parts, found, strict=True)
            for j in part
        }
        everything = self._everywhere(problem, space, labels)
        notes = {"separate_columns": len(parts)}
        return Partition(everything, len(first), whole_numbers=self.round, by_column=by_column, notes=notes)

    @staticmethod
    def _everywhere(problem: Problem, space: Space, labels: IntArray) -> IntArray:
        """The labels of all rows, including those without a point."""
        return scattered(labels, space.rows, problem.table.n_rows)

    def _grouped(self, problem: Problem, space: Space) -> tuple[IntArray, int, dict[str, Any]]:
        """Form groups, add ungrouped records to them, and merge groups that violate the model."""
        groups, notes = self._in_blocks(problem, space) if self.quality == "fast" else self.groups(problem, space)
        labels, n = join_records(problem, space, labels_of(groups, len(space)), len(groups))
        merged = merge_until_satisfied(problem, space, labels, n) if n else None
        if merged is None:
            raise self.not_found(problem)
        if self.quality == "best":
            needed, limits = needed_units(problem, space), (self.refine_seconds, self.refine_steps)
            better = improve(problem, space, *merged, needed, seconds=limits[0], steps=limits[1])
            merged, notes = (better.labels, better.n), {**notes, "error_saved": better.saved}
            if self.refine_seconds is not None:
                notes["stopped_by_time"] = not better.in_time
        return *merged, notes

    def _in_blocks(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Form groups in each block separately; leftover records join groups of any block."""
        blocks = halved(space, max(BLOCK, 8 * needed_units(problem, space) // space.unit))
        if len(blocks) == 1:
            return self.groups(problem, space)
        found: list[IntArray] = []
        for done, block in enumerate(blocks):

            def report(share: float, what: str, done: int = done) -> None:
                problem.progress((done + share) / len(blocks), what)

            groups, _ = self.groups(replace(problem, progress=report), part_of(space, block))
            found += [block[group] for group in groups]
        return found, {"blocks": len(blocks)}

    def space(self, problem: Problem) -> Space:
        """Place the records; suppress those that make even the whole table fail, within the budget."""
        table = problem.table
        order = problem.order if self.reads_sensitive is Reads.CHECKS else problem.secret_order
        order = order[order < table.n_sample]
        kept = trim(problem)
        if kept is None and Monotone.MERGE in problem.model.flags:
            raise self.not_found(problem)
        rows = order if kept is None else order[kept[order]]
        return Space.of(table, rows, scale=self.scale, hierarchical=self.nominal == "hierarchy")

    @staticmethod
    def unassigned(space: Space) -> Unassigned:
        """All points, as ungrouped records."""
        return all_unassigned(space.points, space.metric, space.units)


# Blocks of near points: a space is halved across its most scattered column until no part is too large.


def halved(space: Space, size: int) -> list[IntArray]:
    """Return the points in blocks of at most ``size``, each in canonical order, from the lower half up.

    Points with equal values in the cut column are ordered by rank, so that halves are even.

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
    """Half the mean squared distance of two points in a column, ignoring hierarchies."""
    values = space.points[block, j]
    if space.metric.labels[j]:
        shares = np.bincount(values.astype(np.int64)) / len(values)
        return float(space.metric.steps[j, int(space.metric.height[j])] * (1 - (shares * shares).sum()) / 2)
    known = values if space.metric.plain else values[~np.isnan(values)]
    return float(known.var()) if len(known) else 0.0


# Groups that violate the model merge with their nearest until all are satisfied, and single records join groups.
#
# Adding a record, or a group, can violate models like t-closeness; merging two satisfied groups cannot. So a record
# joins the nearest group whose union with it is satisfied, and a group that is not satisfied is merged with the group
# whose centroid is nearest, the closest pairs first. For a model that survives merging this ends at the latest with
# the whole table.


CANDIDATES = 64
"""Number of groups to try for a record."""


def join_records(problem: Problem, space: Space, labels: IntArray, n: int) -> tuple[IntArray, int]:
    """Return the labels after every ungrouped point (-1) joins the nearest group that stays satisfied.

    Distances are to the original centroids of the groups. Points that fit no group form one together.
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
    """Merge groups until each of them, and the table, satisfies the model; None if even a single group fails."""
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
    """Renumber the groups, merging each bad one with its nearest, closest pairs first; no group merges twice."""
    others = all_unassigned(centroids(space.points, labels, n, space.metric), space.metric)
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


# Microaggregation with less loss: refines any valid groups to a lower sum of squared errors.
#
# If the models require only a size, groups are annealed (``kernels.anneal``): records move and swap places, and
# groups dissolve and form, at first even if that costs something. In large tables, many groups are annealed at once
# (``kernels.rounds``). With other models (``descent``), changes are made in rounds, and the model is evaluated on all
# groups that a round affects. Either way, every group stays satisfied, the loss never exceeds the initial loss, the
# budget is a number of steps, and the result depends only on the table's content. With a time limit, the result may
# depend on the machine, and says so.


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
"""No annealing if group sizes are so uneven that the table of members would be larger than this."""


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
    given = Refining(problem, space, points, neighbours(points, WIDTH), needed, deadline)
    late = False
    better: IntArray | None = None
    if _sizes_alone(problem, needed):
        better, late = _annealed(given, labels, start, steps)
    if better is None:
        better, late = temper(given, labels, n)
    better = np.unique(better, return_inverse=True)[1].astype(np.int64)
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
    return bool(problem.model.table_satisfied(stats, problem.reference)[0])


def _annealed(given: Refining, labels: IntArray, error: float, each: int | None) -> tuple[IntArray | None, bool]:
    """Return labels after all steps, and whether the time limit was reached; None if group sizes are too uneven."""
    if given.space.units is None and len(labels) >= ROUNDS_FROM:
        return _in_rounds(given, labels, error, each)
    units = given.space.weights
    if int(np.bincount(labels).max()) * (int(units.sum()) // given.needed + 1) > MEMORY:
        return None, False
    steps = min(STEPS_EACH * len(labels), max(STEPS, LEAST_EACH * len(labels)))
    steps = steps if each is None else each * len(labels)
    # more steps allow more initial heat
    hot = error / len(labels) * min(2.0, (steps / len(labels) / 2800) ** 0.5)
    tolerance = exponential_quantiles(4096)
    pace, done = _Pace(given.deadline), 0
    for part in range(CHUNKS):
        given.problem.progress(part / CHUNKS, "refining")
        size = pace.fitting(steps // CHUNKS, part, done)
        heat = (hot * ((CHUNKS - part) / CHUNKS) ** COOLING, hot * ((CHUNKS - part - 1) / CHUNKS) ** COOLING)
        if pace.over:
            # no time is left to cool down: one part without heat
            size, heat = steps // CHUNKS, (0.0, 0.0)
        labels = anneal(given.points, labels, given.near, units, given.needed, size, heat, tolerance, part + 1)
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


def _in_rounds(given: Refining, labels: IntArray, error: float, each: int | None) -> tuple[IntArray, bool]:
    """Return labels after all rounds, and whether the time limit was reached."""
    start = (given.points, labels, given.near, given.needed, exponential_quantiles(QUANTILES))
    rounds = max((each or ROUND_STEPS) * len(labels) // (int(labels.max()) + 1) // CHUNKS, 1)
    try:
        return _cooled(given, rounds_for(*start), rounds, WARMTH * error / len(labels))
    except DeviceLost as lost:
        _log.warning("%s The processor starts again.", lost)
        return _cooled(given, Processor(*start), rounds, WARMTH * error / len(labels))


def _cooled(given: Refining, state: RoundsState, rounds: int, hot: float) -> tuple[IntArray, bool]:
    pace, done = _Pace(given.deadline), 0
    for part in range(CHUNKS):
        given.problem.progress(part / CHUNKS, "refining")
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
    """Return the points as numbers without missing values.

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
