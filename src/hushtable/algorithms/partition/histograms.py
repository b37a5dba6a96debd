"""A level of a top-down partition, represented by counts of values, for rows on other machines.

Per group and column there is a histogram of codes, split by sensitive values. Its entries represent rows of that
weight, so the kernel that cuts rows also cuts entries, and the statistics of a proposed child are those of its
entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.partition.frontier import Proposals, accepted_cuts, column_spans, gap_columns
from hushtable.algorithms.store import FarStore, LevelCounts
from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.bounds import column_bounds
from hushtable.kernels.grouping import histogram
from hushtable.kernels.partition import balanced_cuts
from hushtable.models.compose import AllOf
from hushtable.table.encoded import QuasiColumn
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram

__all__ = ["HistogramLevel", "divide_by_counts"]


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
