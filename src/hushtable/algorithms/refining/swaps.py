"""Refining for samples: records swap places until the groups together represent the table's pairs of columns.

When the values of each group are redrawn, the counts for any two columns differ from the original's. Within a single
group that is unavoidable, but one group's surplus may offset another's deficit. So records of neighboring groups swap
places if the difference, summed over all pairs of columns, falls by more than the mixing of the groups grows. A swap
that makes it more likely that a complete record reappears by chance must save correspondingly more. Swaps do not change
group sizes. If a model requires more than sizes, it evaluates both groups after a round, and refused swaps are undone.

Each round pairs every group with one that comes one to eight places later in the order of the cuts; a few sweeps over
all pairs are enough. Records are ordered by their quasi-identifiers, equal ones in secret order, so nothing depends
on the order of the input, and the choice never uses sensitive values.

Refined groups overlap, as after any refinement. For models that do not survive merging, and if a population is
counted by the cells that cover it, the partition is returned unchanged.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, BoolArray, IntArray, inverted
from hushtable.kernels.grouping import group_rows
from hushtable.kernels.swapping import LARGEST, ONE, add_expected, pair_places, swap_between
from hushtable.models.base import Monotone, Stat

SWEEPS = 6
"""Number of sweeps over all pairs of neighboring groups."""

NEIGHBOURS = 8
"""A group's neighbors are those that come at most this many places later."""

TRIES = 12
"""Number of records of the other group that each record tries in one round."""


def refine_for_samples(
    problem: Problem, partition: Partition, bins: list[AnyArray], weights: IntArray, *, seconds: float | None = None
) -> Partition:
    """Return a partition whose groups together represent the pairs of columns better.

    Parameters
    ----------
    problem : Problem
    partition : Partition
        Valid for the problem's model; similar groups have neighboring numbers.
    bins : list of uint8 arrays
        The bin of each code, per quasi-identifier.
    weights : int64 array
        Weight of each column, from 1 to 256.
    seconds : float, optional
        Stop after this time; the result then depends on the machine. Defaults to no limit.

    Returns
    -------
    Partition
        Without regions. In the notes, ``refine_rounds`` is the number of rounds with changes, and
        ``stopped_by_time``, with a time limit, says whether it was reached.
    """
    table = problem.table
    if Monotone.MERGE not in problem.model.flags or table.n_rows > table.n_sample or partition.n_groups < 2:
        return partition
    deadline = None if seconds is None else time.monotonic() + seconds
    groups = _Groups(problem, partition, bins, weights)
    used, late = 0, False
    for turn, step, odd in product(range(SWEEPS), range(1, NEIGHBOURS + 1), (0, 1)):
        if deadline is not None and time.monotonic() > deadline:
            late = True
            break
        problem.progress(turn / SWEEPS, "refining")
        used += groups.round(turn, step, odd)
    notes = {**partition.notes, "refine_rounds": used}
    if seconds is not None:
        notes["stopped_by_time"] = late
    return replace(partition, labels=groups.labels(), levels=None, regions=None, notes=notes)


class _Groups:
    """The groups, their records, and the expected counts for pairs of columns."""

    def __init__(self, problem: Problem, partition: Partition, bins: list[AnyArray], weights: IntArray) -> None:
        self._problem, self._partition = problem, partition
        table = problem.table
        order = np.lexsort((inverted(problem.secret_order), table.distinct()[0]))
        labels = partition.labels[order].astype(np.int64)
        rows, self._offsets = group_rows(labels, partition.n_groups)
        self._order = order
        self._rows = rows.astype(np.int64)
        self._bins = np.stack([b[c.codes[order]] for b, c in zip(bins, table.quasi, strict=True)], axis=1)
        self._sizes = self._bins.max(axis=0).astype(np.int64) + 1
        self._weights = weights
        self._surplus = np.zeros(pair_places(self._sizes)[1], dtype=np.int64)
        self._expect(np.arange(partition.n_groups), 1)
        self._subtract_table()
        self._small = np.diff(self._offsets) <= LARGEST
        by_size = problem.model.stats_needed() <= frozenset({Stat.SIZE}) and not len(table.row_units)
        self._judged = not by_size

    def _expect(self, groups: IntArray, sign: int) -> None:
        add_expected(self._surplus, self._bins, self._sizes, self._weights, self._rows, self._offsets, groups, sign)

    def _subtract_table(self) -> None:
        places, _ = pair_places(self._sizes)
        mine = self._bins[self._rows].astype(np.int64)
        for a in range(len(self._sizes)):
            for b in range(a + 1, len(self._sizes)):
                both = mine[:, a] * self._sizes[b] + mine[:, b]
                n = int(self._sizes[a] * self._sizes[b])
                one = ONE * self._weights[a] * self._weights[b]
                self._surplus[places[a, b] : places[a, b] + n] -= one * np.bincount(both, minlength=n)

    def round(self, turn: int, step: int, odd: int) -> bool:
        """Let every group swap with the one ``step`` places later; return whether anything changed."""
        first = np.arange(self._partition.n_groups - step, dtype=np.int64)
        first = first[(first // step % 2 == odd) & self._small[first] & self._small[first + step]]
        second = first + step
        before = self._rows.copy() if self._judged else self._rows
        swapped = swap_between(
            self._surplus, self._bins, self._sizes, self._weights, self._rows, self._offsets, first, second, turn, TRIES
        )
        first, second = first[swapped], second[swapped]
        if self._judged and len(first):
            refused = ~self._accepted(first, second)
            self._undo(np.concatenate([first[refused], second[refused]]), before)
            return not bool(refused.all())
        return bool(len(first))

    def _accepted(self, first: IntArray, second: IntArray) -> BoolArray:
        """Return which pairs of groups the models accept; none if they refuse the resulting table."""
        problem = self._problem
        model, keys = problem.model, problem.model.histogram_keys()
        rows = self._order[self._rows]
        both = [problem.table.stats(rows, self._offsets[g], self._offsets[g + 1], keys) for g in (first, second)]
        groupwise = model.part(table_level=False)
        good = groupwise.satisfied(both[0], problem.reference) & groupwise.satisfied(both[1], problem.reference)
        tablewise = model.part(table_level=True)
        if tablewise.members:
            everything = problem.table.stats(rows, self._offsets[:-1], self._offsets[1:], keys)
            good &= good.all() and bool(tablewise.table_satisfied(everything, problem.reference)[0])
        return good

    def _undo(self, groups: IntArray, before: IntArray) -> None:
        self._expect(groups, -1)
        for g in groups:
            mine = slice(self._offsets[g], self._offsets[g + 1])
            self._rows[mine] = before[mine]
        self._expect(groups, 1)

    def labels(self) -> AnyArray:
        """The group of every row of the table."""
        labels = np.full(self._problem.table.n_rows, -1, dtype=self._partition.labels.dtype)
        sizes = np.diff(self._offsets)
        labels[self._order[self._rows]] = np.repeat(np.arange(len(sizes)), sizes)
        return labels
