"""Judging one node: which groups must be suppressed, whether that fits the budget, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.objectives import Objective, objective_of
from hushtable.algorithms.lattice.space import Grouping, Space
from hushtable.arrays import BoolArray, IntArray
from hushtable.models.base import Stat
from hushtable.table.stats import GroupStats

__all__ = ["Judge", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """What judging a node found.

    Attributes
    ----------
    node : int64 array
    fits : bool
        Whether the node satisfies the models within the suppression budget.
    lost : int
        Units that have to be suppressed.
    small : int
        Units in groups that are too small for any of the models: every finer node loses at least these.
    groups : int
    value : float
        The objective; infinite where the node does not fit.
    floor : float
        Every coarser node costs at least this.
    """

    node: IntArray
    fits: bool
    lost: int
    small: int
    groups: int
    value: float
    floor: float = -float("inf")


class Judge:
    """Judges nodes of one problem's lattice."""

    def __init__(self, problem: Problem, objective: str = "loss") -> None:
        self.problem = problem
        self.model = problem.model
        self.space = Space(problem.table, problem.model.histogram_keys())
        self.minimum = problem.model.min_group_size() * problem.table.unit
        self.objective: Objective = objective_of(objective, self.space, self.minimum)
        self.budget = problem.budget
        self._groupwise = problem.model.part(table_level=False)
        self._tablewise = problem.model.part(table_level=True)
        self.seen: dict[tuple[int, ...], Verdict] = {}

    def __call__(self, node: IntArray) -> Verdict:
        """Judge a node, once."""
        key = tuple(int(level) for level in node)
        if key not in self.seen:
            node = np.asarray(node, dtype=np.int64)
            self.seen[key] = self._judge(node)
        return self.seen[key]

    def _judge(self, node: IntArray) -> Verdict:
        grouping = self.space.group(node)
        small = int(grouping.sizes[grouping.sizes < self.minimum].sum())
        floor = self.objective.floor(grouping)
        if small > self.budget:
            return Verdict(node, False, small, small, len(grouping.sizes), float("inf"), floor)
        stats = self._stats(grouping)
        lost = self._lost_groups(grouping, stats)
        units = int(grouping.sizes[lost].sum())
        fits = units <= self.budget and units < self.space.units and self._holds(stats, grouping, lost)
        value = self.objective.value(node, grouping, lost) if fits else float("inf")
        return Verdict(node, fits, units, small, len(grouping.sizes), value, floor)

    def _stats(self, grouping: Grouping) -> GroupStats:
        if self.model.stats_needed() == frozenset({Stat.SIZE}):
            return GroupStats(grouping.sizes, self.space.table.unit)
        return self.space.stats(grouping)

    def _lost_groups(self, grouping: Grouping, stats: GroupStats) -> BoolArray:
        """Return the groups to suppress: those that violate, then the worst for the table-level models."""
        lost = ~self._groupwise.satisfied(stats, self.problem.reference) & (grouping.sizes > 0)
        if not self._tablewise.members:
            return lost
        kept = np.flatnonzero(~lost & (grouping.sizes > 0))
        spent = int(grouping.sizes[lost].sum())
        while len(kept):
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
        """The group that stands farthest outside the first violated table-level model."""
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
        grouping, labels = self.space.labels(node)
        lost = self._lost_groups(grouping, self._stats(grouping))
        number = np.where(lost, -1, np.cumsum(~lost) - 1)
        return replace(Partition(number[labels], int((~lost).sum())), levels=tuple(int(level) for level in node))
