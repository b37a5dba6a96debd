"""Lattice sweep: local recoding with hierarchy nodes, from the cheapest node of the lattice up.

At each node, the records not yet placed are grouped; groups that satisfy the model are kept, and the others wait for a
coarser node. The sweep never leaves records stranded: the waiting records must satisfy the model as one group, or be
few enough to suppress; groups are dissolved, the last one first, until this holds. The root takes the remaining
records. If any record may join a satisfied group, the records of a group that accounts for much of the total cost then
join others if that is cheaper: small groups may have taken a value that every group needs.

Details: nodes are ordered by their NCP over the whole table, then by their levels. Cells of one node differ in cost
(a region with three countries and one with twenty), so the sweep proceeds in bands: in each band, it visits all nodes
for the cells that cost no more than the band allows. Published cells are the lowest nodes that cover a group, so they
are never above the node where it was found. If a lattice has too many nodes, middle levels are skipped, those of the
column with the most levels first; if that is not enough, the last columns rise together.

Cells of different groups may overlap (142** and 14***). For models that do not survive merging, or that count a
population or an adversary's background by the cells that cover it, one node must serve all records: the cheapest one,
as found by ``optimal``.

When to use
-----------
For hierarchy nodes as cells (``cells: nodes``) with less loss than full-domain generalization.

When not
--------
For models beyond k-anonymity that few small groups satisfy: large groups come late, after most of the lattice.

Cost
----
Groups the waiting records once per visited node; grows with the lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem, Recoding
from hushtable.algorithms.cluster.leftovers import without_costly
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.refining.cells import leaf_cost
from hushtable.algorithms.refining.refinable import Refinable
from hushtable.algorithms.trim import trim
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, joined_ranges, scattered, summed
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.kernels.sweep import first_crowd, marks_of, remember
from hushtable.models.base import Monotone, Stat
from hushtable.params import AtLeast
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats, Histogram

TUPLES_PER_BAND = 64
"""Number of distinct records that justify a band."""


@dataclass(frozen=True)
class LatticeSweep(Refinable):
    """Local recoding by sweeping the lattice from the cheapest node up.

    Parameters
    ----------
    bands : int
        Maximum number of cost bands for the sweep; 1 sweeps the lattice once. Small tables use fewer.

    Examples
    --------
    >>> LatticeSweep(refine=True).values()
    {'refine': True}
    """

    bands: Annotated[int, AtLeast(1), "maximum number of cost bands for the sweep"] = 48

    name: ClassVar[str] = "lattice-sweep"
    recoding: ClassVar[Recoding] = Recoding.LOCAL

    def run(self, problem: Problem) -> Partition:
        """Sweep; see the module's docstring."""
        if Monotone.MERGE not in problem.model.flags or problem.table.n_rows > problem.table.n_sample:
            return self._one_node(problem)
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        nodes = SweepNodes(problem.table, kept)
        waiting = Waiting(problem, kept, nodes.of_row)
        ceilings = nodes.ceilings(min(self.bands, 1 + len(nodes.codes) // TUPLES_PER_BAND))
        for band, ceiling in enumerate(ceilings):
            problem.progress(band / len(ceilings), "sweeping the lattice")
            at, node = nodes.within(ceiling), 0
            while len(waiting) and node < len(at):
                codes, units, marks = nodes.codes[waiting.tuples], waiting.units, waiting.marks
                node, group, found = first_crowd(
                    codes, units, marks, waiting.refused, nodes.lut, nodes.cost, at, node, waiting.minimum, ceiling
                )
                if found:
                    waiting.place(group, found)
                node += 1
        partition = waiting.partition()
        if Monotone.ADD in problem.model.flags and not problem.model.part(table_level=True).members:
            partition = without_costly(problem, partition)
        return self.refined(problem, partition)

    def _one_node(self, problem: Problem) -> Partition:
        partition = Optimal(objective="ncp").run(problem)
        return replace(partition, levels=None, notes={"one_node": partition.notes["levels"]})


# The nodes of a lattice in sweep order, and the cost of their cells.


MOST_NODES = 2**17
"""Lattices with more nodes are swept with some levels skipped."""


def level_axes(heights: list[int], most: int = MOST_NODES) -> list[list[tuple[int, ...]]]:
    """Return the axes that nodes are composed from, each a list of levels for some columns.

    By default, an axis is a column with all its levels. If there are too many nodes, middle levels of the longest
    axis are dropped one by one; once all axes have two, the last two become one.

    Examples
    --------
    >>> level_axes([1, 2])
    [[(0,), (1,)], [(0,), (1,), (2,)]]
    >>> level_axes([1, 2, 1], most=4)
    [[(0,), (1,)], [(0, 0), (2, 1)]]
    """
    axes: list[list[tuple[int, ...]]] = [[(level,) for level in range(h + 1)] for h in heights]
    while math.prod(len(axis) for axis in axes) > most:
        longest = max(range(len(axes)), key=lambda i: len(axes[i]))
        if len(axes[longest]) > 2:
            del axes[longest][len(axes[longest]) // 2]
        else:
            last, before = axes.pop(), axes.pop()
            # a column without a hierarchy has one level, which combines with all of the other's
            n = max(len(last), len(before))
            axes.append([before[min(i, len(before) - 1)] + last[min(i, len(last) - 1)] for i in range(n)])
    return axes


class SweepNodes:
    """A table's distinct tuples, and the lattice's nodes by their cost.

    Parameters
    ----------
    table : EncodedTable
    kept : bool array
        Rows that take part.

    Attributes
    ----------
    codes : (T, d) integer array
        The distinct tuples, in canonical order.
    of_row : int64 array
        The tuple of each kept row.
    lut, cost : int64 arrays
        The node above each code and its cost, by level and column.
    """

    def __init__(self, table: EncodedTable, kept: BoolArray) -> None:
        rows = np.flatnonzero(kept)
        columns = [c.codes[rows] for c in table.quasi]
        self.of_row, first = number_rows(columns, [c.coded.size for c in table.quasi])
        self.codes = np.column_stack([c[first] for c in columns])
        count = np.bincount(self.of_row, minlength=len(first))
        heights = [c.coded.height for c in table.quasi]
        starts = np.zeros((len(heights), max(heights) + 1), dtype=np.int64)
        mean, least = np.zeros(starts.shape), np.zeros_like(starts)
        lut, cost, begin = [], [], 0
        for j, column in enumerate(table.quasi):
            for h, level in enumerate(column.coded.levels):
                each = (column.coded.leaves(h)[level] - 1) * leaf_cost(column)
                starts[j, h] = begin
                mine = each[self.codes[:, j]]
                # in integers: the order of the rows must not matter
                mean[j, h] = sum(int(a) * int(b) for a, b in zip(*_sums(mine, count), strict=True)) / len(rows)
                least[j, h] = mine.min()
                lut.append(level)
                cost.append(each)
                begin += len(level)
        self.lut, self.cost = np.concatenate(lut).astype(np.int64), np.concatenate(cost).astype(np.int64)
        self._order(starts, mean, least, level_axes(heights))

    def _order(self, starts: IntArray, mean: FloatArray, least: IntArray, axes: list[list[tuple[int, ...]]]) -> None:
        places = np.indices([len(a) for a in axes]).reshape(len(axes), -1)
        levels = np.column_stack([np.array(axis)[place] for axis, place in zip(axes, places, strict=True)])
        columns = np.arange(levels.shape[1])
        total = np.zeros(len(levels))
        for j in columns:
            total += mean[j, levels[:, j]]
        order = np.argsort(total, kind="stable")
        self._at = starts[columns, levels[order]]
        self._least = least[columns, levels[order]].sum(axis=1)
        self._top = int(self.cost[self._at[-1] + self.codes.astype(np.int64)].sum(axis=1).max())

    def ceilings(self, bands: int) -> list[int]:
        """Return the maximum cost of a cell in each band: from small to all, in equal proportions."""
        low = math.log2(max(self._top, 1)) - 11
        steps = [2 ** (low + 11 * (i + 1) / bands) for i in range(bands - 1)]
        return [*map(int, steps), max(self._top, int(self.cost.sum()))]

    def within(self, ceiling: int) -> IntArray:
        """Return the offsets of the look-up tables for each node with some cell within the ceiling."""
        return np.ascontiguousarray(self._at[self._least <= ceiling])


def _sums(values: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Number of records with each value."""
    present, inverse = np.unique(values, return_inverse=True)
    return present, np.bincount(inverse.reshape(-1), weights=count, minlength=len(present)).astype(np.int64)


# The records that a sweep has not placed yet. They are never stranded.


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
        Groups that the model refused, in the form that ``first_crowd`` uses.
    """

    def __init__(self, problem: Problem, kept: BoolArray, of_row: IntArray) -> None:
        self._problem = problem
        table = problem.table
        self._kept = np.flatnonzero(kept)
        self._of_row = of_row
        n = int(of_row.max()) + 1
        self._rows, self._offsets = group_rows(of_row, n)
        self._rows = self._kept[self._rows]
        weight = table.units_of(self._rows)
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
        """Keep the groups that satisfy the model, as long as the rest can spare them.

        ``group`` is the group of each waiting tuple, -1 for those that keep waiting.
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
        label = scattered(self._n_groups + np.arange(number), chosen, n_groups + 1)[group]
        self._labels[self.tuples[label >= 0]] = label[label >= 0]
        self._n_groups += number
        taken = stats.take(chosen)
        self._rest = _minus(self._rest, taken.whole())
        if self._tablewise.members:
            self._placed.append(taken)
        self.tuples = self.tuples[label < 0]

    def _refuse(self, tuples: IntArray, group: IntArray, bad: BoolArray) -> None:
        """Remember refused groups by the marks of their tuples, so that they are not evaluated again."""
        marks = np.zeros(len(bad), dtype=np.uint64)
        np.add.at(marks, group, self._tuple_marks[tuples])
        self.refused = remember(self.refused, marks[bad], self._n_refused)
        self._n_refused += int(np.count_nonzero(bad))

    def _spared(self, stats: GroupStats, good: IntArray) -> int:
        """Return how many of the first groups the rest can spare: all, or one fewer, two, four, ..."""
        dropped, step = 0, 1
        while dropped < len(good):
            chosen = stats.take(good[: len(good) - dropped])
            rest = _minus(self._rest, chosen.whole())
            if self._stands(rest) and self._table_stands(chosen, rest):
                return len(good) - dropped
            dropped, step = dropped + step, 2 * step
        return 0

    def _stands(self, rest: GroupStats) -> bool:
        """Whether no records remain, or those that do satisfy the model as one group or can be suppressed."""
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
        """Return the statistics of groups of tuples that the model needs."""
        table = self._problem.table
        if self._by_size:
            return GroupStats(summed(self._tuple_units[tuples], group, n_groups), table.unit)
        by_group = np.argsort(group, kind="stable")
        ordered = tuples[by_group]
        lengths = self._offsets[ordered + 1] - self._offsets[ordered]
        rows = self._rows[joined_ranges(self._offsets[ordered], lengths)]
        per_group = summed(lengths, group[by_group], n_groups)
        ends = np.cumsum(per_group)
        return table.stats(rows, ends - per_group, ends, self._problem.model.histogram_keys())

    def partition(self) -> Partition:
        """Return the groups; the remaining records form one group, or are suppressed if they cannot."""
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
