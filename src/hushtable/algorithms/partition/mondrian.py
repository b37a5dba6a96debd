"""Mondrian: greedy multidimensional partitioning, level by level, under any model.

Start with all records in one group. Cut every group of the level at the median of its widest quasi-identifier, and
keep the cut if both halves satisfy the model. Otherwise, try the next-widest. A group without a valid cut is
finished.

Details: the median is the cut that divides the group's people most evenly, the lower one of two equally even cuts. The
textbook's "at most the median" can leave one side empty if many records are equal. Widths are compared as integers on
the column's scale times its weight; ties go to the column that the policy names first. A missing value is a separate
category: if a group contains both missing and other values, separating them counts as the widest cut of that column and
precedes all cuts of that width. Strict partitioning keeps equal records together; relaxed partitioning may divide them.

Table-level models start from one satisfied group. The cuts of a level are then committed in order of width, as long
as the table stays satisfied.

When to use
-----------
The default: fast, little loss, any model, any number of rows.

When not
--------
When all cells of a column must be at one level of its hierarchy (published tables with fixed codes): use optimal.

Cost
----
n log n: a million rows by eight columns in well under a second on one core.

References
----------
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006; Allard 2023, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np

from hushtable.algorithms.base import Partition, Problem, Recoding
from hushtable.algorithms.partition.frontier import (
    Frontier,
    Proposals,
    accepted_cuts,
    column_spans,
    divide,
    gap_columns,
)
from hushtable.algorithms.refining.refinable import Refinable
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.bounds import column_bounds
from hushtable.kernels.grouping import histogram
from hushtable.kernels.partition import balanced_cuts
from hushtable.models.compose import AllOf
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram

if TYPE_CHECKING:
    from hushtable.algorithms.store import FarStore, LevelCounts


@dataclass(frozen=True)
class Mondrian(Refinable):
    """Greedy multidimensional partitioning.

    Parameters
    ----------
    mode : {"strict", "relaxed"}
        Whether records with equal values in the cut column stay together.
    nominal : {"cuts", "children"}
        For nominal columns with a hierarchy: binary cuts in leaf order, or one group for each child of the lowest
        node that covers the group.

    Examples
    --------
    >>> Mondrian(mode="relaxed").values()
    {'mode': 'relaxed'}
    """

    mode: Annotated[Literal["strict", "relaxed"], "whether equal records stay together"] = "strict"
    nominal: Annotated[Literal["cuts", "children"], "how nominal columns are divided"] = "cuts"

    name: ClassVar[str] = "mondrian"
    recoding: ClassVar[Recoding] = Recoding.LOCAL

    def run(self, problem: Problem) -> Partition:
        """Partition from the top; see the module's docstring."""
        if self.mode == "strict" and not self.refine:
            far = problem.store.far
            if far is not None and not problem.store.fits and self.nominal == "cuts" and not problem.budget:
                return self._from_counts(problem, far)
            why = "suppression weighs all groups against one another" if problem.budget else "children are not counted"
            problem = problem.together(why)
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        frontier = Frontier(problem, kept, relaxed=self.mode == "relaxed", children=self.nominal == "children")
        del kept
        return self.refined(problem, divide(frontier, problem))

    def _from_counts(self, problem: Problem, far: FarStore) -> Partition:
        """Partition remote combinations: large groups from counts, small ones where they are stored."""
        if not bool(problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]):
            raise self.not_found(problem)
        return divide_by_counts(problem, far, self._group)

    def _group(self, problem: Problem, closed: BoolArray) -> Partition:
        """Partition one group of a larger table; no column is closed."""
        return self.run(problem)


# A level of a top-down partition, represented by counts of values, for rows on other machines.
#
# Per group and column there is a histogram of codes, split by sensitive values. Its entries represent rows of that
# weight, so the kernel that cuts rows also cuts entries, and the statistics of a proposed child are those of its
# entries.


class HistogramLevel:
    """The groups of a level.

    Parameters
    ----------
    quasi : sequence of QuasiColumn
        Their codes are not used.
    counts : LevelCounts
    minimum : int
        Units of the smallest group that can be satisfied.
    unit : int
        Units per person.
    """

    def __init__(self, quasi: Sequence[QuasiColumn], counts: LevelCounts, minimum: int, unit: int = 1) -> None:
        d, n = len(quasi), counts.n_groups
        order = np.lexsort((counts.code, counts.column, counts.group))
        self.order = order
        self._units = counts.units[order]
        self._values = {key: values[order] for key, values in counts.values.items()}
        self._sizes, self._minimum, self._unit = counts.sizes, minimum, unit
        code = counts.code[order]
        # the second column says whether the value is present: code 0 means missing
        self._work = np.column_stack([code, code > 0]).astype(np.int64)
        place = counts.group[order] * d + counts.column[order]
        edges = np.searchsorted(place, np.arange(n * d + 1)).astype(np.int64)
        self.starts, self.ends = edges[:-1].reshape(n, d), edges[1:].reshape(n, d)
        gaps = gap_columns(quasi)
        self._n_gaps = len(gaps)
        self._owner = np.array([*gaps, *range(d)], dtype=np.int64)
        self.width = len(self._owner)
        low, high = code[self.starts], code[self.ends - 1]
        spans = column_spans(
            quasi,
            gaps,
            np.concatenate([(low[:, gaps] > 0).astype(np.int64), low], axis=1),
            np.concatenate([(high[:, gaps] > 0).astype(np.int64), high], axis=1),
        )
        self._order = np.argsort(-spans, axis=1, kind="stable")
        self._eligible = np.count_nonzero(spans >= 0, axis=1)
        total = np.concatenate([[0], np.cumsum(self._units)]).astype(np.int64)
        units = total[self.ends[:, 0]] - total[self.starts[:, 0]]
        self._eligible[units < 2 * minimum] = 0

    def propose(self, turn: int, accepted: Proposals) -> Proposals:
        """Return each undivided group's cut of its widest column but ``turn``, if every child is large enough.

        Rows of the proposals are entries.
        """
        waiting = self._eligible > turn
        waiting[accepted.group] = False
        group = np.flatnonzero(waiting)
        if not len(group):
            return Proposals.none()
        dims = self._order[group, turn]
        column, gap = self._owner[dims], (dims < self._n_gaps).astype(np.int64)
        starts, ends = self.starts[group, column], self.ends[group, column]
        index = np.arange(len(self._work))
        cuts, left, right = balanced_cuts(
            self._work, index, self._units, starts, ends, gap, *column_bounds(self._work, starts, ends, gap)
        )
        middle = np.array(
            [
                s + np.searchsorted(self._work[s:e, g], cut, "right")
                for s, e, g, cut in zip(starts, ends, gap, cuts, strict=True)
            ],
            dtype=np.int64,
        )
        proposals = Proposals.binary(group, column, (starts, middle, ends), (left, right), cuts)
        return proposals.take(np.minimum(left, right) >= self._minimum)

    def judge(self, proposals: Proposals, model: AllOf, reference: Reference) -> BoolArray:
        """Return which proposed children satisfy a groupwise model."""
        rows = np.arange(len(self._units))
        histograms = {}
        for key in model.histogram_keys():
            parts = histogram(rows, proposals.starts, proposals.ends, self._values[key], self._units, self._sizes[key])
            histograms[key] = Histogram(*parts, self._unit)
        return model.satisfied(GroupStats(proposals.units, self._unit, histograms), reference)


def divide_by_counts(problem: Problem, far: FarStore, run: Callable[..., Partition]) -> Partition:
    """Cut remote groups that are too large for one task; ``run`` divides the others where they are."""
    outline, groups = problem.store.outline, far.groups()
    model = problem.model.part(table_level=False)
    keys, minimum = sorted(model.histogram_keys()), problem.model.min_group_size() * outline.unit
    large, fresh = np.zeros(int(len(groups) > groups.most), dtype=np.int64), 1
    leaves: list[IntArray] = []
    while len(large):
        problem.progress(0.0, "partitioning")
        counts, tuples = groups.counts(large, keys)
        level = HistogramLevel(outline.quasi, counts, minimum, outline.unit)
        accepted = accepted_cuts(level, model, problem)
        leaves.append(np.delete(large, accepted.group))
        children = fresh + np.arange(2 * len(accepted), dtype=np.int64)
        fresh += len(children)
        groups.cut(large[accepted.group], accepted.column, accepted.cuts[::2], children)
        total = np.concatenate([[0], np.cumsum(tuples[level.order])])
        held = total[accepted.ends] - total[accepted.starts]
        large = children[held > groups.most]
    return groups.finish(np.concatenate([np.empty(0, dtype=np.int64), *leaves]), None, run)
