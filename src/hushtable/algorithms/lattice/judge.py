"""Evaluating one node: which groups must be suppressed, whether that fits the budget, and the cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from hushtable.kernels.tuples import spread
from hushtable.models.base import Stat
from hushtable.table.stats import GroupStats

__all__ = ["Evaluated", "Judge"]


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
        # records suppressed at a node are suppressed at every finer one
        self._inherited = self._additive and not self._tablewise.members
        self.monotone = not not_monotone(problem.model, suppression=self.budget > 0)
        self.seen = Evaluated(self.space.d)

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
        self, node: IntArray, source: Tuples | Rolled | None = None, *, beat: float = float("inf")
    ) -> NodeVerdict:
        """Evaluate a node, grouping from a source if one is given, and record it.

        A node whose class sizes alone rule out a value below ``beat`` is not evaluated further, and not recorded.
        """
        node = np.asarray(node, dtype=np.int64)
        tuples = source or self.space.source(node)
        if isinstance(tuples, Tuples):
            verdict = self._judge_sizes(node, tuples)
            if verdict is None:
                grouping, closes = self.space.group(node, tuples), self._closes(beat)
                ruled_out = None if closes else self._ruled_out(node, grouping, beat)
                if ruled_out is not None:
                    return ruled_out
                verdict = self._judge(node, grouping, closes=closes)
        else:
            with closing(tuples.roll_up(node)) as groups:
                verdict = self._judge_far(node, groups)
        self.seen.add(verdict)
        return verdict

    def _closes(self, beat: float) -> bool:
        """Whether counting the suppression forced on finer nodes pays: whether half of all units would rule one out."""
        half = self.space.units // 2
        if half > self.budget or not isinstance(self.objective, ClassObjective):
            return True
        return bool(self.objective.bound(self.space.high[None], np.array([half]))[0] >= beat)

    def _ruled_out(self, node: IntArray, grouping: Grouping, beat: float) -> NodeVerdict | None:
        """The verdict on a node that is no better than ``beat`` even if only groups that are too small are lost."""
        objective, sizes = self.objective, grouping.sizes
        if not isinstance(objective, ClassObjective):
            return None
        facts = objective.facts(sizes, np.ones_like(sizes))
        if objective.value_of(*facts) < beat:
            return None
        return NodeVerdict(node, True, facts[0], facts[0], len(sizes), float("inf"), objective.floor_of(*facts))

    def again(self, node: IntArray) -> NodeVerdict:
        """Evaluate a node that may have been evaluated before."""
        return self.seen.find(node) or self(node)

    def _judge_far(self, node: IntArray, groups: Rolled) -> NodeVerdict:
        """Evaluate a node whose groups are elsewhere: by their sizes if that is enough, otherwise here."""
        if groups.fits:
            return self._judge(node, next(self.space.groups(node, groups)))
        sizes, times = groups.group_sizes()
        small = int((sizes * times)[sizes < self.minimum].sum())
        floor, n = self.objective.floor(sizes, times), int(times.sum())
        if small > self.budget:
            return NodeVerdict(node, False, small, small, n, float("inf"), floor)
        units, forced, kept = 0, 0, times.copy()
        gone = np.zeros(int(self.space.leaves.sum()), dtype=np.int64)
        for grouping, stats, lost in self._lost_of(node, groups):
            forced += self._forced(stats, lost & (stats.units >= self.minimum), 0)
            units += int(grouping.sizes[lost].sum())
            np.subtract.at(kept, np.searchsorted(sizes, grouping.sizes[lost]), 1)
            gone += self.space.units_by_leaf(grouping, lost)
        fits = units <= self.budget and units < self.space.units
        value, extras = self._value(node, sizes, kept, gone) if fits else (float("inf"), None)
        return NodeVerdict(node, fits, units, small + forced, n, value, floor, extras)

    def _lost_of(self, node: IntArray, groups: Rolled) -> Iterator[tuple[Grouping, GroupStats, BoolArray]]:
        """Bring groups here, some at a time, and find those that violate a model; all models are groupwise."""
        for grouping in self.space.groups(node, groups):
            stats = self._stats(grouping)
            yield grouping, stats, self._violating(stats)

    def _forced(self, stats: GroupStats, lost: BoolArray, small: int) -> int:
        """Units that every finer node has to suppress too: those of violating groups that no part can keep.

        Groups that satisfy the models may or may not violate them at a finer node, so they force nothing. ``small``
        counts the units in groups that are too small, which is enough if nothing may be suppressed.
        """
        if self._additive:
            return int(stats.units[lost].sum())
        if not self.budget:
            return small
        violating = stats.take(np.flatnonzero(lost))
        kept = self._groupwise.keepable(violating, self.problem.reference)
        return max(small, int((violating.units - np.minimum(kept, violating.units)).sum()))

    def _judge_sizes(self, node: IntArray, tuples: Tuples) -> NodeVerdict | None:
        """Evaluate a node by the sizes of its groups, if the models and the objective use nothing else."""
        objective = self.objective
        if not self.by_size or not isinstance(objective, ClassObjective):
            return None
        facts = self.space.size_facts(node, tuples, self.minimum)
        if facts is None:
            return None
        n, small, squares, large = facts
        fits = small <= self.budget and small < self.space.units
        value = objective.value_of(small, squares, large) if fits else float("inf")
        return NodeVerdict(node, fits, small, small, n, value, objective.floor_of(small, squares, large))

    def _judge(self, node: IntArray, grouping: Grouping, *, closes: bool = True) -> NodeVerdict:
        small = int(grouping.sizes[grouping.sizes < self.minimum].sum())
        floor = self.objective.floor(grouping.sizes, np.ones_like(grouping.sizes))
        if small > self.budget:
            return NodeVerdict(node, False, small, small, len(grouping.sizes), float("inf"), floor)
        if self._tablewise.members:
            stats = self._stats(grouping, node=node)
            lost = self._violating(stats)
            small = self._forced(stats, lost, small)
            lost = self._worst_too(grouping, stats, lost)
        else:
            # groups that are too small are lost, regardless of their values
            large = np.flatnonzero(grouping.sizes >= self.minimum)
            stats = self._stats(grouping, large)
            violating = self._violating(stats)
            lost = grouping.sizes > 0
            lost[large[~violating]] = False
            small += self._forced(stats, violating, 0) if closes else 0
        units = int(grouping.sizes[lost].sum())
        fits = units <= self.budget and units < self.space.units and self._holds(stats, grouping, lost)
        value, extras = float("inf"), None
        if fits:
            kept = grouping.sizes[~lost]
            by_class = isinstance(self.objective, ClassObjective)
            gone = np.empty(0, dtype=np.int64) if by_class else self.space.units_by_leaf(grouping, lost)
            crowds = self.space.stats(grouping).population if self.objective.by_population else None
            value, extras = self._value(node, kept, np.ones_like(kept), gone, None if crowds is None else crowds[~lost])
        return NodeVerdict(node, fits, units, small, len(grouping.sizes), value, floor, extras)

    def _value(
        self, node: IntArray, sizes: IntArray, times: IntArray, gone: IntArray, crowds: IntArray | None = None
    ) -> tuple[float, FloatArray | None]:
        """The value of a node that fits, and the extra cost of its suppressed records, if finer nodes inherit it."""
        if not isinstance(self.objective, CellObjective):
            return self.objective.value(node, sizes, times, gone, crowds), None
        extras = self.objective.extras(node, gone)
        return self.objective.value_of(node, extras), extras if self._inherited else None

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
