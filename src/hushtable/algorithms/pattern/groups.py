"""Groups made of patterns: every record is in at most one group, and the models accept every group."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.pattern.anti_unify import Condition
from hushtable.algorithms.pattern.search import Patterns, Records, find_patterns
from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Monotone


@dataclass
class PatternGroups:
    """The groups so far, and the records that are in none.

    Attributes
    ----------
    problem : Problem
    records : Records
    apart : int64 array
        Records with different numbers are never searched together.
    labels : int64 array
        The group of every row; -1 for ungrouped rows.
    n_groups : int
    bounded : bool
        Whether some search had to skip tied attributes.
    """

    problem: Problem
    records: Records
    apart: IntArray
    labels: IntArray
    n_groups: int = 0
    bounded: bool = False
    _open: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        self._open = np.ones(len(self.labels), dtype=np.bool_)
        self._open[self.problem.table.n_sample :] = False

    def leave_out(self, rows: BoolArray) -> None:
        """Remove rows from the search; they stay ungrouped."""
        self._open &= ~rows

    @property
    def rest(self) -> IntArray:
        """The ungrouped rows."""
        return np.flatnonzero(self._open & (self.labels < 0))

    def units(self, rows: IntArray) -> int:
        """Total weight of some rows, in units."""
        return int(self.problem.table.units_of(rows).sum())

    @property
    def smallest(self) -> int:
        """Minimum units of a group."""
        return self.problem.model.min_group_size() * self.problem.table.unit

    def judge(self, rows: IntArray, offsets: IntArray) -> tuple[BoolArray, BoolArray]:
        """Return which sets of rows satisfy the models, and which may have proper subsets that do."""
        table, model = self.problem.table, self.problem.model.part(table_level=False)
        total = np.concatenate([[0], np.cumsum(table.units_of(rows))])
        size = total[offsets[1:]] - total[offsets[:-1]]
        good = size >= self.smallest
        large = np.flatnonzero(good)
        stats = table.stats(rows, offsets[:-1][large], offsets[1:][large], model.histogram_keys())
        good[large] = model.satisfied(stats, self.problem.reference)
        open_ = size > self.smallest
        if Monotone.ADD in model.flags:
            open_ &= good
        return good, open_

    def extract(self, condition: Condition, length: int) -> None:
        """Search the rest for patterns repeatedly, until no more are found, and turn them into groups."""
        while len(rest := self.rest):
            _, owner = np.unique(self.apart[rest], return_inverse=True)
            order, offsets = group_rows(owner.astype(np.int64), int(owner.max()) + 1)
            found = find_patterns(
                self.records, rest[order], offsets, condition=condition, length=length, judge=self.judge
            )
            self.bounded |= found.bounded
            before = self.n_groups
            self._assign(found)
            placed = len(self.labels) - np.count_nonzero(self.labels < 0)
            self.problem.progress(min(placed / len(self.labels), 1.0), "patterns")
            if self.n_groups == before:
                return

    def _assign(self, found: Patterns) -> None:
        """Assign each record to the first of its patterns that keeps enough records, the longest patterns first."""
        parts: list[IntArray] = []
        bounds = found.offsets.tolist()
        for p in range(len(found)):
            rows = found.rows[bounds[p] : bounds[p + 1]]
            mine = rows[self.labels[rows] < 0]
            if len(mine) and self.units(mine) >= self.smallest:
                self.labels[mine] = self.n_groups + len(parts)
                parts.append(mine)
        if not parts:
            return
        rows, offsets = np.concatenate(parts), np.cumsum([0, *map(len, parts)]).astype(np.int64)
        # an earlier pattern may have taken records that this one needs
        good, _ = self.judge(rows, offsets)
        number = np.where(good, self.n_groups + np.cumsum(good) - 1, -1)
        self.labels[rows] = np.repeat(number, np.diff(offsets))
        self.n_groups += int(good.sum())
