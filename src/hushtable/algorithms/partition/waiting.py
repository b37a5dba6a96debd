"""The records that a sweep has not placed yet, and the rule that they are never stranded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.grouping import group_rows
from hushtable.kernels.sweep import marks_of, remember
from hushtable.models.base import Stat
from hushtable.table.stats import GroupStats, Histogram

__all__ = ["Waiting"]


class Waiting:
    """Distinct tuples that wait for a group.

    Parameters
    ----------
    problem : Problem
        Its model survives merging.
    kept : bool array
        Rows that take part; as one group they satisfy the model.
    of_row : int64 array
        The tuple of each kept row; tuples are in canonical order.

    Attributes
    ----------
    tuples : int64 array
        The tuples that wait.
    units : int64 array
        Their weights.
    minimum : int
        No group with fewer units can be satisfied.
    refused : uint64 array
        Groups that the model refused, as ``first_crowd`` knows them.
    """

    def __init__(self, problem: Problem, kept: BoolArray, of_row: IntArray) -> None:
        self._problem = problem
        table = problem.table
        self._kept = np.flatnonzero(kept)
        self._of_row = of_row
        n = int(of_row.max()) + 1
        self._rows, self._offsets = group_rows(of_row, n)
        self._rows = self._kept[self._rows]
        weight = table.row_units[self._rows] if len(table.row_units) else np.ones(len(self._rows), dtype=np.int64)
        self._tuple_units = np.add.reduceat(weight, self._offsets[:-1])
        self.tuples = np.arange(n)
        self.minimum = max(problem.model.min_group_size() * table.unit, 1)
        self._labels = np.full(n, -1, dtype=np.int64)
        self._n_groups = 0
        self._tuple_marks = marks_of(n)
        self.refused: AnyArray = np.zeros(64, dtype=np.uint64)
        self._n_refused = 0
        self._groupwise = problem.model.part(table_level=False)
        self._tablewise = problem.model.part(table_level=True)
        self._by_size = problem.model.stats_needed() == frozenset({Stat.SIZE})
        suppressed = table.sample_units - int(weight.sum())
        self._budget = problem.budget - suppressed
        self._rest = self._stats(np.arange(n), np.zeros(n, dtype=np.int64), 1)
        self._placed: list[GroupStats] = []

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def units(self) -> IntArray:
        """Weights of the tuples that wait."""
        return self._tuple_units[self.tuples]

    @property
    def marks(self) -> AnyArray:
        """Marks of the tuples that wait."""
        return self._tuple_marks[self.tuples]

    def place(self, group: IntArray, n_groups: int) -> None:
        """Keep those of these groups that satisfy the model, as far as the rest can do without them.

        ``group`` is the group of each waiting tuple, -1 for those that go on waiting.
        """
        grouped = np.flatnonzero(group >= 0)
        stats = self._stats(self.tuples[grouped], group[grouped], n_groups)
        satisfied = self._groupwise.satisfied(stats, self._problem.reference)
        self._refuse(self.tuples[grouped], group[grouped], ~satisfied)
        good = np.flatnonzero(satisfied)
        number = self._spared(stats, good)
        if not number:
            return
        chosen = good[:number]
        place = np.full(n_groups + 1, -1, dtype=np.int64)
        place[chosen] = self._n_groups + np.arange(number)
        label = place[group]
        self._labels[self.tuples[label >= 0]] = label[label >= 0]
        self._n_groups += number
        taken = stats.take(chosen)
        self._rest = _minus(self._rest, taken.whole())
        if self._tablewise.members:
            self._placed.append(taken)
        self.tuples = self.tuples[label < 0]

    def _refuse(self, tuples: IntArray, group: IntArray, bad: BoolArray) -> None:
        """Remember groups by the marks of their tuples: wherever they turn up again, they are as bad."""
        marks = np.zeros(len(bad), dtype=np.uint64)
        np.add.at(marks, group, self._tuple_marks[tuples])
        self.refused = remember(self.refused, marks[bad], self._n_refused)
        self._n_refused += int(np.count_nonzero(bad))

    def _spared(self, stats: GroupStats, good: IntArray) -> int:
        """How many of the groups, first ones first, the rest can do without: all, or one fewer, two, four, ..."""
        dropped, step = 0, 1
        while dropped < len(good):
            chosen = stats.take(good[: len(good) - dropped])
            rest = _minus(self._rest, chosen.whole())
            if self._stands(rest) and self._table_stands(chosen, rest):
                return len(good) - dropped
            dropped, step = dropped + step, 2 * step
        return 0

    def _stands(self, rest: GroupStats) -> bool:
        """Whether what would go on waiting is nobody, satisfied as one group, or few enough to be suppressed."""
        units = int(rest.units[0])
        if units <= self._budget and not self._tablewise.members:
            return True
        return units == 0 or bool(self._groupwise.satisfied(rest, self._problem.reference)[0])

    def _table_stands(self, chosen: GroupStats, rest: GroupStats) -> bool:
        if not self._tablewise.members:
            return True
        groups = [*self._placed, chosen, *([rest] if rest.units[0] else [])]
        return bool(self._tablewise.table_satisfied(GroupStats.concat(groups), self._problem.reference)[0])

    def _stats(self, tuples: IntArray, group: IntArray, n_groups: int) -> GroupStats:
        """Return the statistics of groups of tuples, as far as the model needs them."""
        table = self._problem.table
        if self._by_size:
            units = np.zeros(n_groups, dtype=np.int64)
            np.add.at(units, group, self._tuple_units[tuples])
            return GroupStats(units, table.unit)
        by_group = np.argsort(group, kind="stable")
        ordered = tuples[by_group]
        lengths = self._offsets[ordered + 1] - self._offsets[ordered]
        begin = np.cumsum(lengths) - lengths
        rows = self._rows[np.repeat(self._offsets[ordered] - begin, lengths) + np.arange(lengths.sum())]
        per_group = np.zeros(n_groups, dtype=np.int64)
        np.add.at(per_group, group[by_group], lengths)
        ends = np.cumsum(per_group)
        return table.stats(rows, ends - per_group, ends, self._problem.model.histogram_keys())

    def partition(self) -> Partition:
        """Return the groups; whoever still waits is one group, or suppressed where that is all that is left."""
        labels: AnyArray = np.full(self._problem.table.n_rows, -1, dtype=np.int64)
        n_groups = self._n_groups
        if len(self) and self._satisfied_rest():
            self._labels[self.tuples] = n_groups
            n_groups += 1
        labels[self._kept] = self._labels[self._of_row]
        return Partition(labels, n_groups)

    def _satisfied_rest(self) -> bool:
        return bool(self._groupwise.satisfied(self._rest, self._problem.reference)[0])


def _minus(whole: GroupStats, part: GroupStats) -> GroupStats:
    """Return one group without some of its records."""
    histograms = {}
    for key, hist in whole.histograms.items():
        other = part.histograms[key]
        histograms[key] = Histogram.from_pairs(
            np.concatenate([hist.groups, other.groups]),
            np.concatenate([hist.values, other.values]),
            np.concatenate([hist.units, -other.units]),
            1,
            hist.unit,
        )
    return replace(whole, units=whole.units - part.units, histograms=histograms)
