"""Evaluating one node: which groups must be suppressed, whether that fits the budget, and the cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.monotone import additive, not_monotone
from hushtable.algorithms.lattice.objectives import CellObjective, ClassObjective, Objective, objective_of
from hushtable.algorithms.lattice.space import Grouping, SearchSpace, Tuples
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.algorithms.store import FarStore, Rolled
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.kernels.screen import Screened, ShareLimits, screen_groups
from hushtable.kernels.tuples import spread
from hushtable.models.base import SensitiveModel, Stat
from hushtable.table.stats import GroupStats

MOST_VALUES = 64
"""With more sensitive values, groups are not screened by their shares: most do not occur in most groups."""

CAREFUL = 1 - 1e-12
"""Sums are rounded, and a lower bound must not exceed the true value."""


class Judge:
    """Evaluates nodes of one problem's lattice.

    Parameters
    ----------
    problem : Problem
    objective : str
    fixed : mapping of str to int
        Quasi-identifiers with a fixed level.
    more
        Additional parameters of the objective.
    """

    def __init__(
        self, problem: Problem, objective: str = "loss", fixed: Mapping[str, int] | None = None, **more: Any
    ) -> None:
        keys = problem.model.histogram_keys()
        self._far = problem.store.far if not problem.store.fits else None
        far = None if self._far is None else self._far.tuples(sorted(keys))
        self.problem = problem = problem if far is not None else problem.collapsed("nodes are judged")
        self.model = problem.model
        self.space = SearchSpace(problem.store.outline, keys, fixed, far)
        unit = self.space.table.unit
        least = problem.model.least_people(problem.reference) if unit == 1 else problem.model.min_group_size()
        # 1 is no constraint: a group may contain one of a person's several rows
        self.minimum = least * unit if least > 1 else 1
        self.budget = problem.budget
        self._groupwise = problem.model.part(table_level=False)
        self._tablewise = problem.model.part(table_level=True)
        self.by_size = self._by_size()
        self.objective: Objective = objective_of(
            objective, self.space, self.minimum, by_size=self.by_size, suppresses=self.budget > 0, **more
        )
        if self.objective.by_population and (far is not None or not len(self.space.table.population_rows)):
            raise IncompatibleError(
                f"The objective {objective!r} counts a population, which has to fit into memory with the table.",
                hint="Give 'population: file.csv' in the policy, or choose 'payout'.",
            )
        self._additive = additive(self._groupwise)
        self.monotone = not not_monotone(problem.model, suppression=self.budget > 0)
        self._limits = self._share_limits()
        self._half: float | None = None
        self.seen = Evaluated(self.space.d)

    def _share_limits(self) -> ShareLimits | None:
        """What the models demand of a group's shares, if groups can be screened by that."""
        table, keys = self.space.table, self.space.keys
        plain = isinstance(self.objective, CellObjective | ClassObjective) and not self._tablewise.members
        if len(keys) != 1 or not plain or table.n_rows > table.n_sample:
            return None
        members = [m for m in self._groupwise.members if isinstance(m, SensitiveModel)]
        n_values = table.attribute_size(keys[0])
        if n_values > MOST_VALUES or self.space.units >= 2**31:
            return None
        limits = ShareLimits(
            np.ones((len(members), n_values)),
            np.zeros((len(members), n_values)),
            np.zeros(len(members)),
            np.array([m.values_needed() for m in members], dtype=np.int64),
            self.minimum,
            all(m.kept_by_shares for m in members)
            and all(m.stats_needed() == {Stat.SIZE} for m in self._groupwise.members if m not in members),
        )
        for i, member in enumerate(members):
            caps, floors = member.loose_caps(self.problem.reference), member.loose_floors(self.problem.reference)
            if caps is not None:
                limits.caps[i], limits.slack[i] = caps
            if floors is not None:
                limits.floors[i] = floors
        return limits

    def _by_size(self) -> bool:
        """Whether a group violates the models exactly if it is below the minimum.

        Models that only use sizes and survive adding records have a minimum size.
        """
        seen = self.model.stats_needed() == frozenset({Stat.SIZE})
        if self._tablewise.members or not seen or not additive(self._groupwise):
            return False
        sizes = GroupStats(np.array([self.minimum - 1, self.minimum]), self.space.table.unit)
        below, at = self._groupwise.satisfied(sizes, self.problem.reference).tolist()
        return at and (not below or self.minimum == 1)

    def __call__(
        self, node: IntArray, source: Tuples | Rolled | None = None, *, beat: float | None = None
    ) -> NodeVerdict:
        """Evaluate a node, grouping from a source if one is given, and record it.

        With ``beat``, only better nodes matter: one that cannot fit, or have a value below that, by the sizes of its
        classes and the shares of their values is not evaluated further. If it might fit, it is not recorded.
        """
        node = np.asarray(node, dtype=np.int64)
        tuples = source or self.space.source(node)
        if isinstance(tuples, Tuples):
            verdict = self._judge_here(node, tuples, beat)
        else:
            with closing(tuples.roll_up(node)) as groups:
                if groups.fits:
                    verdict = self._judge(node, next(self.space.groups(node, groups)), beat)
                else:
                    verdict = self._judge_far(node, groups, beat)
        if not (verdict.fits and verdict.value == float("inf")):
            self.seen.add(verdict)
        return verdict

    def _closes(self, beat: float | None) -> bool:
        """Whether to count the suppression forced on finer nodes: whether half of all units would rule one out."""
        half = self.space.units // 2
        if beat is None or half > self.budget or not isinstance(self.objective, ClassObjective):
            return True
        if self._half is None:
            self._half = float(self.objective.bound(self.space.high[None], np.array([half]))[0])
        return self._half >= beat

    def _by_sizes(self, node: IntArray, sizes: IntArray, times: IntArray, beat: float | None) -> NodeVerdict:
        """Return the verdict by sizes alone: a node that fits at infinite cost is ruled out."""
        if isinstance(self.objective, ClassObjective):
            facts = self.objective.facts(sizes, times)
        else:
            facts = int((sizes * times)[sizes < self.minimum].sum()), 0, 0
        return self._by_facts(node, int(times.sum()), *facts, beat)

    def _by_facts(
        self, node: IntArray, n: int, small: int, squares: int, large: int, beat: float | None
    ) -> NodeVerdict:
        objective, floor, ruled_out = self.objective, -float("inf"), False
        if isinstance(objective, ClassObjective):
            floor = objective.floor_of(small, squares, large)
            ruled_out = beat is not None and not self.by_size and objective.value_of(small, squares, large) >= beat
        fits = small <= self.budget and ruled_out and not self._closes(beat)
        return NodeVerdict(node, fits, small, small, n, float("inf"), floor)

    def again(self, node: IntArray) -> NodeVerdict:
        """Evaluate a node that may have been evaluated before."""
        return self.seen.find(node) or self(node)

    def _judge_far(self, node: IntArray, groups: Rolled, beat: float | None) -> NodeVerdict:
        """Evaluate a node whose groups are elsewhere: by their sizes if that is enough, otherwise here."""
        sizes, times = groups.group_sizes()
        least = self._by_sizes(node, sizes, times, beat)
        if least.fits or least.small > self.budget:
            return least
        closes = self._closes(beat)
        limits = self._screening(beat, closes)
        units, small, kept, facts = 0, 0, times.copy(), np.zeros(4, dtype=np.int64)
        gone, inherited, doomed, charged = np.zeros((4, int(self.space.leaves.sum())), dtype=np.int64)
        for grouping in self.space.groups(node, groups):
            screened = None if limits is None else self._screen(grouping, limits, parts=closes)
            if screened is not None:
                facts += screened.facts
                doomed += self.space.units_by_leaf(grouping, np.where(screened.lost, grouping.sizes, 0))
                charged += self.space.units_by_leaf(grouping, screened.forced)
            lost, forced, _ = self._lost_and_forced(grouping, screened, closes)
            small += int(forced.sum())
            units += int(grouping.sizes[lost].sum())
            np.subtract.at(kept, np.searchsorted(sizes, grouping.sizes[lost]), 1)
            gone += self.space.units_by_leaf(grouping, np.where(lost, grouping.sizes, 0))
            inherited += self.space.units_by_leaf(grouping, forced)
        if limits is not None and beat is not None:
            extras = self.objective.extras(node, charged) if isinstance(self.objective, CellObjective) else None
            verdict = self._ruled_out(least, facts, beat, extras, lambda: doomed)
            if verdict is not None:
                return verdict
        fits = units <= self.budget and units < self.space.units
        value = self.objective.value(node, sizes, kept, gone) if fits else float("inf")
        extras = self.objective.extras(node, inherited) if isinstance(self.objective, CellObjective) else None
        return replace(least, fits=fits, lost=units, small=small, value=value, extras=extras)

    def _lost_of(self, node: IntArray, groups: Rolled) -> Iterator[tuple[Grouping, GroupStats, BoolArray]]:
        """Bring groups here, some at a time, and find those that violate a model; all models are groupwise."""
        for grouping in self.space.groups(node, groups):
            stats = self._stats(grouping)
            yield grouping, stats, self._violating(stats)

    def _forced(self, stats: GroupStats, lost: BoolArray) -> IntArray:
        """Units of each violating group that no part of it can keep: every finer node has to suppress them too.

        Groups that satisfy the models may or may not violate them at a finer node, so they force nothing.
        """
        if self._additive:
            return np.where(lost, stats.units, 0)
        out = np.zeros(len(stats), dtype=np.int64)
        if self.budget:
            violating = np.flatnonzero(lost)
            some = stats.take(violating)
            kept = self._groupwise.keepable(some, self.problem.reference)
            out[violating] = some.units - np.minimum(kept, some.units).astype(np.int64)
        return out

    def _judge_here(self, node: IntArray, tuples: Tuples, beat: float | None) -> NodeVerdict:
        """Evaluate a node whose groups are here, by their sizes if the models and the objective use nothing else."""
        objective = self.objective
        found = self.space.size_facts(node, tuples, self.minimum)
        if found is None:
            return self._judge(node, self.space.group(node, tuples), beat)
        grouping, facts = found
        if not self.by_size or not isinstance(objective, ClassObjective):
            return self._judge(node, grouping, beat, facts)
        n, small, squares, large = facts
        fits = small <= self.budget and small < self.space.units
        value = objective.value_of(small, squares, large) if fits else float("inf")
        return NodeVerdict(node, fits, small, small, n, value, objective.floor_of(small, squares, large))

    def _judge(
        self, node: IntArray, grouping: Grouping, beat: float | None, facts: tuple[int, int, int, int] | None = None
    ) -> NodeVerdict:
        sizes = grouping.sizes
        if facts is None:
            least = self._by_sizes(node, sizes, np.ones_like(sizes), beat)
        else:
            least = self._by_facts(node, *facts, beat)
        if least.fits or least.small > self.budget:
            return least
        closes = self._closes(beat)
        limits = self._screening(beat, closes)
        screened = None
        if limits is not None and beat is not None:
            screened = self._screen(grouping, limits, parts=closes)
            doomed = np.where(screened.lost, sizes, 0)
            extras = self._extras(node, grouping, screened.forced)
            verdict = self._ruled_out(
                least, screened.facts, beat, extras, lambda: self.space.units_by_leaf(grouping, doomed)
            )
            if verdict is not None:
                return verdict
        if self._tablewise.members:
            # groups that are too small are lost at every finer node, regardless of their values
            forced = np.where(sizes < self.minimum, sizes, 0)
            stats = self._stats(grouping, node=node)
            lost = self._violating(stats)
            forced = np.maximum(forced, self._forced(stats, lost))
            lost = self._worst_too(grouping, stats, lost)
        else:
            lost, forced, stats = self._lost_and_forced(grouping, screened, closes)
        units, small = int(sizes[lost].sum()), int(forced.sum())
        fits = units <= self.budget and units < self.space.units and self._holds(stats, grouping, lost)
        extras = self._extras(node, grouping, forced)
        value = float("inf")
        if fits and extras is not None and units == small and isinstance(self.objective, CellObjective):
            # what is lost is what finer nodes inherit
            value = self.objective.value_of(node, extras)
        elif fits:
            kept = sizes[~lost]
            by_class = isinstance(self.objective, ClassObjective)
            gone = np.empty(0, np.int64) if by_class else self.space.units_by_leaf(grouping, np.where(lost, sizes, 0))
            crowds = self.space.stats(grouping).population if self.objective.by_population else None
            value = self.objective.value(
                node, kept, np.ones_like(kept), gone, None if crowds is None else crowds[~lost]
            )
        return replace(least, fits=fits, lost=units, small=small, value=value, extras=extras)

    def _lost_and_forced(
        self, grouping: Grouping, screened: Screened | None, closes: bool
    ) -> tuple[BoolArray, IntArray, GroupStats]:
        """Which groups violate a groupwise model, and how much of each no finer node can keep.

        Groups that are too small are lost at every finer node, regardless of their values.
        """
        sizes = grouping.sizes
        forced = np.where(sizes < self.minimum, sizes, 0) if screened is None else screened.forced
        doubtful = np.flatnonzero(sizes >= self.minimum if screened is None else ~screened.lost & (sizes > 0))
        stats = self._stats(grouping, doubtful)
        violating = self._violating(stats)
        lost = sizes > 0
        lost[doubtful[~violating]] = False
        if closes:
            forced[doubtful] = self._forced(stats, violating)
        return lost, forced, stats

    def _screening(self, beat: float | None, closes: bool) -> ShareLimits | None:
        """How to screen the groups of a node, if only its being better than ``beat`` matters."""
        limits = self._limits
        # what finer nodes inherit must not be less than the models would say
        return limits if beat is not None and limits is not None and (limits.complete or not closes) else None

    def _screen(self, grouping: Grouping, limits: ShareLimits, *, parts: bool) -> Screened:
        tuples = grouping.tuples
        codes = tuples.sensitive[self.space.keys[0]]
        return screen_groups(grouping.group, grouping.sizes, codes, tuples.units, limits, parts=parts)

    def _ruled_out(
        self, least: NodeVerdict, facts: IntArray, beat: float, extras: FloatArray | None, gone: Callable[[], IntArray]
    ) -> NodeVerdict | None:
        """Return the verdict if what cannot be kept exceeds the budget, or makes the node no better than ``beat``.

        ``facts`` are those of ``Screened``; ``extras`` and ``gone`` are about the units that cannot be kept.
        """
        units, squares, classes, small = facts.tolist()
        objective, lost = self.objective, self.space.units - units
        fits = lost <= self.budget and lost < self.space.units
        if fits:
            if isinstance(objective, ClassObjective):
                value = objective.value_of(lost, squares, classes)
            elif isinstance(objective, CellObjective):
                more = extras if extras is not None and lost == small else objective.extras(least.node, gone())
                value = objective.value_of(least.node, more) * CAREFUL
            else:
                return None
            if value < beat:
                return None
        return replace(least, fits=fits, lost=lost, small=small, extras=extras)

    def _extras(self, node: IntArray, grouping: Grouping, forced: IntArray) -> FloatArray | None:
        """The extra cost of records that finer nodes have to suppress too, column by column.

        The records of a group have the same cells here, so it does not matter which of them are suppressed.
        """
        if not isinstance(self.objective, CellObjective):
            return None
        return self.objective.extras(node, self.space.units_by_leaf(grouping, forced))

    def _stats(self, grouping: Grouping, some: IntArray | None = None, node: IntArray | None = None) -> GroupStats:
        if self.model.stats_needed() == frozenset({Stat.SIZE}):
            return GroupStats(grouping.sizes if some is None else grouping.sizes[some], self.space.table.unit)
        stats = self.space.stats(grouping, some)
        if node is None or Stat.CELLS not in self.model.stats_needed():
            return stats
        return replace(stats, cells=self.space.cells(node, grouping))

    def _violating(self, stats: GroupStats) -> BoolArray:
        """Return the groups that violate a groupwise model."""
        return np.asarray(~self._groupwise.satisfied(stats, self.problem.reference) & (stats.units > 0))

    def _worst_too(self, grouping: Grouping, stats: GroupStats, lost: BoolArray) -> BoolArray:
        """Add the groups to suppress for the table-level models, the worst first, within the budget."""
        if not self._tablewise.members:
            return lost
        lost = lost.copy()
        kept = np.flatnonzero(~lost & (grouping.sizes > 0))
        spent = int(grouping.sizes[lost].sum())
        while len(kept) and spent < self.budget:
            current = stats.take(kept)
            if bool(self._tablewise.table_satisfied(current, self.problem.reference)[0]):
                break
            worst = kept[self._worst(current)]
            spent += int(grouping.sizes[worst])
            if spent > self.budget:
                break
            lost[worst] = True
            kept = kept[kept != worst]
        return lost

    def _worst(self, stats: GroupStats) -> int:
        """The group with the worst score under the first violated table-level model."""
        for member in self._tablewise.members:
            if not bool(member.table_satisfied(stats, self.problem.reference)[0]):
                score = member.score(stats, self.problem.reference)
                return int(np.argmin(score) if member.sense == ">=" else np.argmax(score))
        return 0

    def _holds(self, stats: GroupStats, grouping: Grouping, lost: BoolArray) -> bool:
        if not self._tablewise.members:
            return True
        kept = np.flatnonzero(~lost & (grouping.sizes > 0))
        return len(kept) > 0 and bool(self._tablewise.table_satisfied(stats.take(kept), self.problem.reference)[0])

    def partition(self, node: IntArray) -> Partition:
        """Return the partition of a node that fits."""
        node = np.asarray(node, dtype=np.int64)
        if self._far is not None and not isinstance(self.space.root, Tuples):
            return self._far_partition(node, self.space.root, self._far)
        grouping = self.space.group(node, self.space.base)
        stats = self._stats(grouping, node=node)
        lost = self._worst_too(grouping, stats, self._violating(stats))
        # the smallest integer type that fits: most of the time is spent on looking these up row by row
        short = np.int16 if len(lost) < 2**15 else np.int32
        number = np.where(lost, -1, np.cumsum(~lost) - 1).astype(short)
        labels = spread(number[grouping.group], self.space.of_row)
        return replace(Partition(labels, int((~lost).sum())), levels=tuple(int(level) for level in node))

    def _far_partition(self, node: IntArray, root: Rolled, store: FarStore) -> Partition:
        """Return the partition of a node whose records are elsewhere: the store recodes them."""
        kept, left_out = 0, [np.empty((self.space.d, 0), dtype=np.int64)]
        with closing(root.roll_up(node)) as groups:
            for grouping, _, lost in self._lost_of(node, groups):
                kept += int(np.count_nonzero(~lost))
                left_out.append(grouping.tuples.columns[:, grouping.first[lost]])
        store.recode(node, np.concatenate(left_out, axis=1))
        return Partition(np.empty(0, dtype=np.int64), kept, levels=tuple(int(level) for level in node))


# The history of a search: every evaluated node as one row of a few arrays, with no Python object per node.


class Evaluated:
    """Evaluated nodes in order of evaluation; 33 bytes per node, and 2 per node and column.

    Examples
    --------
    >>> seen = Evaluated(2)
    >>> seen.add(NodeVerdict(np.array([0, 1]), True, 3, 3, 7, 0.25))
    >>> len(seen), seen.nodes.tolist(), seen.value.tolist()
    (1, [[0, 1]], [0.25])
    >>> seen.find(np.array([0, 1])).lost, seen.find(np.array([1, 1]))
    (3, None)
    """

    def __init__(self, d: int) -> None:
        self._n = 0
        self._nodes: AnyArray = np.empty((16, d), dtype=np.int16)
        self._fits: BoolArray = np.empty(16, dtype=np.bool_)
        self._counts: IntArray = np.empty((16, 3), dtype=np.int64)
        self._costs: FloatArray = np.empty((16, 2))

    def __len__(self) -> int:
        return self._n

    @property
    def nodes(self) -> AnyArray:
        """Levels, node by column."""
        return self._nodes[: self._n]

    @property
    def fits(self) -> BoolArray:
        """Whether each node satisfies the models within the suppression budget."""
        return self._fits[: self._n]

    @property
    def lost(self) -> IntArray:
        """Units to suppress at each node; a lower bound if they exceed the budget."""
        return self._counts[: self._n, 0]

    @property
    def small(self) -> IntArray:
        """Units that every finer node has to suppress too."""
        return self._counts[: self._n, 1]

    @property
    def groups(self) -> IntArray:
        """Number of groups of each node, including suppressed ones."""
        return self._counts[: self._n, 2]

    @property
    def value(self) -> FloatArray:
        """The objective; infinite if the node does not fit."""
        return self._costs[: self._n, 0]

    def add(self, verdict: NodeVerdict) -> None:
        """Append one verdict."""
        if self._n == len(self._fits):
            self._nodes, self._fits = _longer(self._nodes), _longer(self._fits)
            self._counts, self._costs = _longer(self._counts), _longer(self._costs)
        self._nodes[self._n], self._fits[self._n] = verdict.node, verdict.fits
        self._counts[self._n] = verdict.lost, verdict.small, verdict.groups
        self._costs[self._n] = verdict.value, verdict.floor
        self._n += 1

    def find(self, node: IntArray) -> NodeVerdict | None:
        """Return the verdict on a node, if there is one."""
        found = np.flatnonzero((self.nodes == node).all(axis=1))
        if not len(found):
            return None
        i = int(found[0])
        lost, small, groups = (int(c) for c in self._counts[i])
        value, floor = (float(c) for c in self._costs[i])
        return NodeVerdict(np.asarray(node, dtype=np.int64), bool(self._fits[i]), lost, small, groups, value, floor)


def _longer(array: AnyArray) -> AnyArray:
    """Return the array with its capacity doubled."""
    return np.concatenate([array, np.empty_like(array)])
