"""The state of a refinement: groups, their cells, the best target of each record, and changes to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.refining.cells import cost_tables
from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.cover import cheapest_groups, cover
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Stat
from hushtable.table.stats import GroupStats

__all__ = ["Regrouping", "State"]

DETAIL = 32
"""In groups with more records, removing one record is assumed not to narrow the cells."""

PATIENCE = 4
"""A record ignores groups that cost more than this many times its own."""


@dataclass(frozen=True)
class Regrouping:
    """Some records that move to other groups; group numbers from ``State.n`` on are new.

    Attributes
    ----------
    gain : int
        Decrease of the loss, as estimated before trying.
    rows, to : int64 arrays
    """

    gain: int
    rows: IntArray
    to: IntArray


class State:
    """The groups of some records, and the cost of publishing them.

    Rows are numbered in canonical order and groups by their first row, so that nothing depends on the input's order.

    Parameters
    ----------
    problem : Problem
    rows : int64 array
        The table's rows that take part, in canonical order.
    labels : int64 array
        Their groups.
    """

    def __init__(self, problem: Problem, rows: IntArray, labels: IntArray) -> None:
        self.problem = problem
        self.origin = rows
        self.codes, self.tables, self._exact_weight = cost_tables(problem.table, rows)
        table = problem.table
        self.units = table.row_units[rows] if len(table.row_units) else np.ones(len(rows), dtype=np.int64)
        self.minimum = problem.model.min_group_size() * table.unit
        self._refused: set[tuple[int, ...]] = set()
        self.version = np.empty(0, dtype=np.int64)
        self._clock = 0
        self._take(labels, np.ones(int(labels.max()) + 1, dtype=np.bool_))

    def _take(self, labels: IntArray, touched: BoolArray) -> None:
        """Renumber groups by their first row; look up the cells of changed ones, and the new targets of rows."""
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        old = labels[np.sort(first)]
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(len(first))
        fresh = not len(self.version)
        was = np.full(int(labels.max()) + 1, -1, dtype=np.int64)
        was[old] = np.arange(len(old))
        self._clock += 1
        self.labels = rank[inverse.reshape(-1)]
        self.n = len(old)
        self.rows, self.offsets = group_rows(self.labels, self.n)
        self.sizes = np.diff(self.offsets)
        self.cells = cover(self.codes, self.rows, self.offsets, self.tables)
        self.cost = self.cells[3].sum(axis=1)
        self.group_units = np.add.reduceat(self.units[self.rows], self.offsets[:-1])
        changed = touched[old]
        version = np.full(self.n, self._clock, dtype=np.int64)
        if not fresh:
            version[~changed] = self.version[old[~changed]]
        self.version = version
        self._spare()
        if fresh:
            self.best = np.full(len(labels), -1, dtype=np.int64)
            self.price = np.zeros(len(labels), dtype=np.int64)
            self._look(np.ones(len(labels), dtype=np.bool_), changed)
        else:
            lost = self.best >= 0
            lost[lost] = touched[self.best[lost]]
            self.best[lost] = -1
            kept = self.best >= 0
            self.best[kept] = was[self.best[kept]]
            self._look(changed[self.labels] | lost, changed)

    def _spare(self) -> None:
        """Compute what each group saves when one of its records leaves."""
        own = self.cost[self.labels]
        self.saving = own.copy()
        small = np.flatnonzero((self.sizes[self.labels] <= DETAIL) & (self.sizes[self.labels] > 1) & (own > 0))
        if not len(small):
            return
        group = self.labels[small]
        size = self.sizes[group]
        owner = np.repeat(np.arange(len(small)), size)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
        others = self.rows[self.offsets[group][owner] + place]
        others = others[others != small[owner]]
        offsets = np.concatenate([[0], np.cumsum(size - 1)]).astype(np.int64)
        without = cover(self.codes, others, offsets, self.tables, keep=False)[3]
        self.saving[small] = size * own[small] - (size - 1) * without

    def _look(self, anew: BoolArray, changed: BoolArray) -> None:
        """Find each row's cheapest other group: among all groups for rows in ``anew``, otherwise among changed ones."""
        by_cost = np.argsort(self.cost, kind="stable")
        rows = np.flatnonzero(anew)
        own = self.cost[self.labels[rows]]
        self.price[rows] = PATIENCE * np.maximum(own, self.saving[rows] // PATIENCE) + 1
        arguments = (self.sizes, self.cells, self.tables, self.best, self.price)
        cheapest_groups(self.codes, rows, self.labels, by_cost, *arguments)
        rest = np.flatnonzero(~anew)
        cheapest_groups(self.codes, rest, self.labels, by_cost[changed[by_cost]], *arguments)

    @property
    def loss(self) -> int:
        """The total cost of all records' cells."""
        return sum(int(c) * int(s) for c, s in zip(self.cost.tolist(), self.sizes.tolist(), strict=True))

    @property
    def exact_loss(self) -> float:
        """The same without the rounding of the scale, which matters in columns with millions of leaves."""
        weight = np.maximum(self.tables.weight, 1)
        leaves = (self.cells[3] // weight * self.sizes[:, None]).sum(axis=0)
        return float((leaves * self._exact_weight).sum())

    def members(self, group: int) -> IntArray:
        """Return the rows of one group."""
        return self.rows[self.offsets[group] : self.offsets[group + 1]]

    def try_all(self, changes: Sequence[Regrouping]) -> int:
        """Make the changes that lower the loss and keep every group satisfied; return the decrease.

        Changes are taken by their gain; a change that affects the same group as an earlier one has to wait.
        """
        chosen, groups = self._compatible(changes)
        if not chosen:
            return 0
        tried = self.labels.copy()
        for change in chosen:
            tried[change.rows] = change.to
        everything = np.unique(np.concatenate(groups))
        rows, offsets = self._rows_of(tried, everything)
        loss = cover(self.codes, rows, offsets, self.tables, keep=False)[3] * np.diff(offsets)
        fell = np.zeros(int(everything.max()) + 1, dtype=np.int64)
        fell[everything] = -loss
        standing = everything[everything < self.n]
        fell[standing] += self.cost[standing] * self.sizes[standing]
        gain = np.array([int(fell[g].sum()) for g in groups])
        good = np.zeros(len(fell), dtype=np.bool_)
        good[everything] = self._satisfied(rows, offsets)
        accepted = [i for i in range(len(chosen)) if gain[i] > 0 and bool(good[groups[i]].all())]
        for i in sorted(set(range(len(chosen))) - set(accepted)):
            self._refused.add(self._key(chosen[i], groups[i]))
        accepted = self._whole_table(chosen, accepted)
        if not accepted:
            return 0
        labels = self.labels.copy()
        touched = np.zeros(int(max(labels.max(), everything.max())) + 1, dtype=np.bool_)
        for i in accepted:
            labels[chosen[i].rows] = chosen[i].to
            touched[groups[i]] = True
        self._take(labels, touched)
        return int(gain[accepted].sum())

    def _compatible(self, changes: Sequence[Regrouping]) -> tuple[list[Regrouping], list[IntArray]]:
        """Return the changes, largest gain first, that affect no group twice, and the groups that they affect."""
        taken = np.zeros(self.n, dtype=np.bool_)
        chosen, groups, new = [], [], self.n
        for i in sorted(range(len(changes)), key=lambda i: (-changes[i].gain, i)):
            change = changes[i]
            there = change.to[change.to < self.n]
            touched = np.unique(np.concatenate([self.labels[change.rows], there]))
            if taken[touched].any() or self._key(change, touched) in self._refused:
                continue
            taken[touched] = True
            founded = int(change.to.max()) + 1 - self.n
            if founded > 0:
                to = np.where(change.to >= self.n, change.to - self.n + new, change.to)
                touched = np.concatenate([touched, np.arange(new, new + founded)])
                new += founded
                change = Regrouping(change.gain, change.rows, to)
            chosen.append(change)
            groups.append(touched)
        return chosen, groups

    def _key(self, change: Regrouping, groups: IntArray) -> tuple[int, ...]:
        """Identify a change for as long as the groups that it affects do not change."""
        standing = groups[groups < self.n]
        to = np.where(change.to < self.n, change.to, -1)
        here = self.labels[change.rows]
        return (*change.rows.tolist(), -2, *here.tolist(), *to.tolist(), *self.version[standing].tolist())

    def _rows_of(self, labels: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
        number = np.full(int(max(labels.max(), groups.max())) + 1, -1, dtype=np.int64)
        number[groups] = np.arange(len(groups))
        return group_rows(number[labels], len(groups))

    def _satisfied(self, rows: IntArray, offsets: IntArray) -> BoolArray:
        """Whether each group satisfies the groupwise models; an empty one does."""
        good: BoolArray = np.diff(offsets) == 0
        filled = np.flatnonzero(~good)
        stats = self._stats(rows, offsets[:-1][filled], offsets[1:][filled])
        model = self.problem.model.part(table_level=False)
        good[filled] = model.satisfied(stats, self.problem.reference)
        return good

    def _stats(self, rows: IntArray, starts: IntArray, ends: IntArray) -> GroupStats:
        table, model = self.problem.table, self.problem.model
        if model.stats_needed() == frozenset({Stat.SIZE}):
            total = np.concatenate([[0], np.cumsum(self.units[rows])]).astype(np.int64)
            return GroupStats(total[ends] - total[starts], table.unit)
        return table.stats(self.origin[rows], starts, ends, model.histogram_keys())

    def _whole_table(self, chosen: Sequence[Regrouping], accepted: list[int]) -> list[int]:
        """Return as many of the accepted changes as keep the table satisfied: all, or the first half, or ..."""
        model = self.problem.model.part(table_level=True)
        while model.members and accepted:
            labels = self.labels.copy()
            for i in accepted:
                labels[chosen[i].rows] = chosen[i].to
            rows, offsets = self._rows_of(labels, np.unique(labels))
            stats = self._stats(rows, offsets[:-1], offsets[1:])
            if bool(model.table_satisfied(stats, self.problem.reference)[0]):
                break
            accepted = accepted[: len(accepted) // 2]
        return accepted
