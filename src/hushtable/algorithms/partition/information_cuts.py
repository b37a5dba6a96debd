"""Information cuts: a partition in which columns depend on each other as little as possible within a group.

Start with all records in one group. Cut every group where the side of the cut, left or right, reveals most about all
columns together, and keep the cut if both halves satisfy the model. Otherwise, try the best cut of the next-best
column. A group without a valid cut is finished.

When rows are drawn from the counts of a group, values are drawn column by column. This loses the dependence of
columns within the group, but keeps what the group itself reveals about them. So the best groups are the most
informative ones.

Details: a column counts in at most 20 bins with about the same number of people; a missing value has its own bin. A
group may be cut at its octiles in each column, and between missing and other values. The score of a cut is the mutual
information between its side and the bins, summed over the columns by their weights; plus n log2 of the number of groups
that fit into either half, minus the same for the whole group. This looks ahead: a cut that leaves 1.9 times the
smallest group on one side wastes nearly half of it, and every lost group could have carried information. A group that
lies within one bin of every column uses its own octiles. Scores are integers; ties go to the column that the policy
names first, then to the lower cut. Nominal values keep the order of their leaves in the hierarchy, or of their labels;
cutting one value against all others was no better.

When to use
-----------
When users will draw rows from the release, count combinations of several columns or train models on it.

When not
--------
When narrow cells matter more than relationships between columns: Mondrian's ranges are narrower.

Cost
----
n log n, and quadratic in the number of columns: a million rows by eight columns in about a second on one core.

References
----------
Own work. The criterion is that of decision trees for several targets: H. Blockeel, L. De Raedt, J. Ramon, "Top-down
induction of clustering trees", ICML 1998.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem, Recoding
from hushtable.algorithms.partition.frontier import CHUNK, Frontier, divide
from hushtable.algorithms.refining.refinable import Refinable
from hushtable.algorithms.trim import trim
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.information import NO_CUT, WEIGHT, informative_cuts
from hushtable.table.coded_columns import QuasiColumn

BINS = 20
"""Bins in which the values of a column are counted."""

_MOST_UNITS = 30
"""Bits of a group's units used to compute information, so that sums over columns do not overflow."""


@dataclass(frozen=True)
class InformationCuts(Refinable):
    """Partitioning by the cuts that reveal most about all columns.

    Examples
    --------
    >>> InformationCuts().values()
    {}
    """

    name: ClassVar[str] = "information-cuts"
    recoding: ClassVar[Recoding] = Recoding.LOCAL

    def run(self, problem: Problem) -> Partition:
        """Partition from the top; see the module's docstring."""
        if not self.refine:
            problem = problem.together("every cut is judged by all columns together")
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        frontier = _Informed(problem, kept)
        partition = divide(frontier, problem)
        if not self.refine:
            return partition
        from hushtable.algorithms.refining.swaps import refine_for_samples

        weights = column_weights(problem.table.quasi)
        return refine_for_samples(problem, partition, frontier.tables, weights, seconds=self.refine_seconds)


class _Informed(Frontier):
    """A frontier that uses the most informative cuts."""

    def __init__(self, problem: Problem, kept: BoolArray) -> None:
        table = problem.table
        units = np.where(kept, table.units_of(slice(table.n_rows)), 0)
        self.tables = [
            coarse_bins(np.bincount(c.codes, weights=units, minlength=c.coded.size).astype(np.int64), c.coded.missing)
            for c in table.quasi
        ]
        self._bins = _one_after_another(self.tables)
        self._weights = column_weights(table.quasi)
        self._missing = np.array([c.coded.missing for c in table.quasi])
        self._shift = max(0, int(units.sum()).bit_length() - _MOST_UNITS)
        super().__init__(problem, kept, relaxed=False, children=False)

    def _split_off(self) -> list[int]:
        # separating missing values is one of a column's own cuts
        return []

    def _rank(self) -> None:
        """Order each group's columns by their most informative cut; those without one come last."""
        shape = self.open, self.width
        self._cuts = np.empty(shape, dtype=self._work.dtype)
        self._left = np.empty(shape, dtype=np.int64)
        self._order = np.empty(shape, dtype=np.min_scalar_type(self.width))
        self._eligible = np.empty(self.open, dtype=np.int16)
        self._widest = np.empty(self.open, dtype=np.int64)
        for first in range(0, self.open, CHUNK):
            some = slice(first, first + CHUNK)
            score, self._cuts[some], self._left[some] = informative_cuts(
                self._work, self._index, self._table.row_units, self._starts[some], self._ends[some],
                self._bins, self._weights, self._missing, self._minimum, self._shift,
            )  # fmt: skip
            self._eligible[some] = np.count_nonzero(score > NO_CUT, axis=1)
            self._widest[some] = score.max(axis=1)
            self._order[some] = np.argsort(-score, axis=1, kind="stable")

    def _choose(self, group: IntArray, dims: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        left = self._left[group, dims]
        return self._cuts[group, dims].astype(np.int64), left, self._group_units[group] - left


def coarse_bins(units: IntArray, missing: bool) -> AnyArray:
    """Return the bin of each code: at most ``BINS`` with about the same number of units, and one for missing values.

    Examples
    --------
    >>> coarse_bins(np.array([3, 0, 5]), missing=False).tolist()
    [0, 1, 2]
    >>> np.bincount(coarse_bins(np.ones(1000, dtype=np.int64), missing=False)).tolist() == [50] * 20
    True
    """
    known = units[int(missing) :]
    if len(known) <= BINS:
        return np.arange(len(units), dtype=np.uint8)
    total = max(int(known.sum()), 1)
    # by the midpoint of a value's people, so that a frequent value does not push its neighbors into one bin
    bins = (2 * np.cumsum(known) - known) * BINS // (2 * total)
    return np.concatenate([np.zeros(int(missing)), np.minimum(bins, BINS - 1) + missing]).astype(np.uint8)


def column_weights(quasi: Sequence[QuasiColumn]) -> IntArray:
    """Return the weight of each column for ``informative_cuts``, from 1/16 to 16."""
    return np.array([min(max(round(WEIGHT * c.weight), 1), 16 * WEIGHT) for c in quasi], dtype=np.int64)


def _one_after_another(tables: Sequence[AnyArray]) -> tuple[AnyArray, IntArray]:
    lengths = [len(t) for t in tables]
    return np.concatenate(tables), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
