"""Local suppression: blanks as few cells as possible instead of generalising them.

Every record keeps its values, except for the cells that have to be blanked so that it looks like enough others. What a
blanked cell costs is the weight of its column in the policy: a column of weight 2 is blanked only where that saves two
cells of weight 1. Of equal costs, columns with more values are blanked first.

Small tables under models that only count people are solved exactly: an integer programme chooses which patterns (some
values kept, the others blank) are published and which records publish each. Otherwise sets of columns are blanked in
the order of their cost, for all records at once that are then in an acceptable class; of sets with equal cost, the one
that places most records goes first. Then records change to cheaper patterns, classes are dissolved into others, and
new classes are formed wherever that saves cells, until nothing does.

Models that judge cells (k-anonymity with ``subsets``) need no classes: single cells are blanked until no combination
of cells is rare.

What a blank means. A blanked cell is published as ``*``, a category of its own: the records of a class publish the same
values and the same blanks, and every model holds for every such class. So whoever knows all of somebody's true values
still finds the whole class: k records at least under k-anonymity. The weaker reading, by which a blank matches
anything, follows for models that survive merging, and is what sdcMicro counts: it accepts a record with a blank if k
records might be the same person's for somebody who sees the published table only. Who knows the blanked value can
exclude those that show another one, and may be left with a single record. Releases are never made to that weaker
reading; ``missing: wildcard`` verifies it in addition, for cells that were missing in the input.

When to use
-----------
For categorical columns of which most combinations are common: few cells are lost, and the others stay exact. The usual
method of official statistics.

When not
--------
For numeric columns with many values and for many columns: nearly every record is rare, and most cells are blanked.
Generalise first (give such columns a coarser hierarchy level), or use mondrian.

Cost
----
One grouping for each set of columns (2 to the power of their number; beyond ten columns only sets of up to two, and a
chain of growing sets), and some rounds of improvement. Adult with six columns takes a few seconds.

References
----------
M. Templ, A. Kowarik, B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", Journal
of Statistical Software 67(4), 2015. A. Meyerson, R. Williams, "On the complexity of optimal k-anonymity", PODS 2004
(the minimum is NP-hard to find).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.pattern.fewest_blanks import fewest_blanks
from hushtable.algorithms.pattern.groups import Groups
from hushtable.algorithms.pattern.improve_blanks import improve_blanks
from hushtable.algorithms.pattern.join import join_rest, merge_worst
from hushtable.algorithms.pattern.rare_cells import blank_rare_cells
from hushtable.algorithms.pattern.search import Records
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.models.base import Stat

__all__ = ["LocalSuppression"]

ALL_SETS = 10
"""Up to so many columns, every set of them is tried."""


@dataclass(frozen=True)
class LocalSuppression(Algorithm):
    """Blanks few cells, and leaves the others as they are.

    Examples
    --------
    >>> LocalSuppression().values()
    {}
    """

    name: ClassVar[str] = "local-suppression"
    recoding: ClassVar[Recoding] = Recoding.PATTERN
    reads_cells: ClassVar[bool] = True

    def run(self, problem: Problem) -> Partition:
        """Blank cells until the models hold; see the module's docstring."""
        judged = [Stat.CELLS in member.stats_needed() for member in problem.model.members]
        if not any(judged):
            return self._classes(problem)
        found = blank_rare_cells(problem) if all(judged) else None
        if found is not None and len(problem.table.quasi) > ALL_SETS:
            return found
        classes = self._classes(problem.of_classes())
        fewer = found is not None and found.notes["blanked_cells"] <= classes.notes["blanked_cells"]
        return found if found is not None and fewer else classes

    def _classes(self, problem: Problem) -> Partition:
        """Blank cells until every class satisfies the models."""
        table = problem.table
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        records = Records(
            [c.codes for c in table.quasi], [c.coded.size for c in table.quasi], [False] * len(table.quasi)
        )
        weights = np.array([c.weight for c in table.quasi])
        alone = np.zeros(table.n_rows, dtype=np.int64)
        groups = Groups(problem, records, alone, np.full(table.n_rows, -1, dtype=np.int64))
        groups.leave_out(~kept)
        budget = problem.budget - groups.units(np.flatnonzero(~kept))
        proven = fewest_blanks(groups, weights, budget)
        if not proven:
            _place(groups, weights, budget)
            if not join_rest(groups, budget):
                groups.labels, groups.n_groups = np.where(kept, 0, -1).astype(np.int64), 1
                groups.labels[table.n_sample :] = -1
            improve_blanks(groups, weights)
        placed = merge_worst(problem, records, groups.labels, groups.n_groups)
        if placed is None:
            raise self.not_found(problem)
        labels, n_groups = placed
        rows, offsets = group_rows(labels, n_groups)
        blank = records.describe(rows, offsets)[0] > 1
        cells = int((blank.sum(axis=1) * np.diff(offsets)).sum())
        return Partition(labels, n_groups, notes={"blanked_cells": cells, "optimum_proven": proven})


def _place(groups: Groups, weights: FloatArray, budget: int) -> None:
    """Blank sets of columns, the cheapest first, for the records that then are in acceptable classes."""
    columns = range(len(weights))
    steps = _sets(groups.records.sizes, weights) if len(weights) <= ALL_SETS else _few_sets(groups, weights)
    for done, tied in enumerate(steps):
        if not len(groups.rest):
            return
        groups.problem.progress(done / 2 ** len(columns) if len(columns) <= ALL_SETS else 0.5, "blanking")
        if len(tied[0]) == len(columns) and groups.units(groups.rest) <= budget:
            return
        # what a set places can only shrink as others are placed, so an old number is a bound, up to rare exceptions
        bounds = [groups.units(groups.rest)] * len(tied)
        while tied:
            best = int(np.argmax(bounds))
            rows, labels, n = _acceptable(groups, tied[best])
            units = groups.units(rows)
            if units < max(bounds[:best] + bounds[best + 1 :], default=0):
                bounds[best] = units
                continue
            groups.labels[rows] = groups.n_groups + labels
            groups.n_groups += n
            del tied[best], bounds[best]
            if units == 0:
                break


def _sets(sizes: Sequence[int], weights: FloatArray) -> Iterator[list[tuple[int, ...]]]:
    """All sets of columns, in steps of equal cost; columns with more values come first."""
    columns = sorted(range(len(weights)), key=lambda j: (-sizes[j], j))
    sets = [s for n in range(len(columns) + 1) for s in combinations(columns, n)]
    costs = [round(float(weights[list(s)].sum()), 9) for s in sets]
    for cost in sorted(set(costs)):
        yield [s for s, c in zip(sets, costs, strict=True) if c == cost]


def _few_sets(groups: Groups, weights: FloatArray) -> Iterator[list[tuple[int, ...]]]:
    """Sets of up to two columns; then a chain, growing by the column that leaves fewest classes for its weight."""
    columns = sorted(range(len(weights)), key=lambda j: (-groups.records.sizes[j], j))
    for n in range(3):
        for chosen in combinations(columns, n):
            yield [chosen]
    chain: list[int] = []
    while len(chain) < len(columns):
        rest = groups.rest
        if not len(rest):
            return
        left = {j: [q for q in columns if q not in chain and q != j] for j in columns if j not in chain}
        classes = {j: _number(groups, rest, others)[1] for j, others in left.items()}
        chain.append(min(left, key=lambda j: (classes[j] * weights[j], columns.index(j))))
        if len(chain) > 2:
            yield [tuple(chain)]


def _number(groups: Groups, rows: IntArray, columns: list[int]) -> tuple[IntArray, int]:
    """Number rows by these columns."""
    if not columns:
        return np.zeros(len(rows), dtype=np.int64), 1
    records = groups.records
    labels, first = number_rows([records.columns[j][rows] for j in columns], [records.sizes[j] for j in columns])
    return labels, len(first)


def _acceptable(groups: Groups, blank: tuple[int, ...]) -> tuple[IntArray, IntArray, int]:
    """Rows that are in no group yet and whose classes the models accept once these columns are blank; their classes."""
    rest = groups.rest
    if not len(rest):
        return rest, rest, 0
    labels, n = _number(groups, rest, [j for j in range(len(groups.records.columns)) if j not in blank])
    order, offsets = group_rows(labels, n)
    good: BoolArray = groups.judge(rest[order], offsets)[0]
    inside = good[labels]
    return rest[inside], (np.cumsum(good) - 1)[labels[inside]], int(good.sum())
