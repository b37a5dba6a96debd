"""Anatomy: exact quasi-identifiers in one table, sensitive values in another, linked by groups alone.

Who has which quasi-identifiers is not hidden, so models against identity disclosure are refused. What a person's
sensitive value is remains hidden among those of the group, so groups are made by sensitive values alone: drawn one
from each of the l values that have most records left (Xiao and Tao), for the least l whose groups satisfy the models;
or, where that makes no or fewer groups (t-closeness wants the table's proportions, not different values), dealt out so
that every group has its share of every value, in as many groups as the models allow. Records that the drawing leaves
over are suppressed within the limit, or join the smallest group. Within a value records go in the order of their
quasi-identifiers, so that a group's records lie near each other.

Several sensitive columns are drawn jointly, and published jointly: one row of the second table is one person's values.

References
----------
X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.bucket.deal import deal, draw
from hushtable.algorithms.trim import trim
from hushtable.arrays import IntArray
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf

__all__ = ["Anatomy"]

_WIDER = 16
"""How many sizes of groups are tried beyond the least that the models allow."""
_GROWTH = 1.25


@dataclass(frozen=True)
class Anatomy(Algorithm):
    """Exact quasi-identifiers; sensitive values apart, known by group only.

    Examples
    --------
    >>> Anatomy().values()
    {}
    """

    name: ClassVar[str] = "anatomy"
    recoding: ClassVar[Recoding] = Recoding.BUCKET

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models that count an adversary's beliefs or a population: exact cells cover nobody else."""
        for member in model.members:
            if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
                raise IncompatibleError(
                    f"{member.name} counts people outside the table whom a class covers; {self.name} covers none.",
                    hint="Choose an algorithm that generalises, such as mondrian.",
                )

    def run(self, problem: Problem) -> Partition:
        """Draw or deal; see the module's docstring."""
        table = problem.table
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        order = table.canonical_order
        rows = order[kept[order] & (order < table.n_sample)]
        work = _Work(problem, rows, problem.budget - _units(problem, np.flatnonzero(~kept)))
        drawn, dealt = work.drawn(), work.dealt()
        best = max((p for p in (drawn, dealt) if p is not None), key=lambda p: int(p.max()), default=None)
        if best is None:
            raise self.not_found(problem)
        labels = np.full(table.n_rows, -1, dtype=np.int64)
        labels[rows] = best
        return Partition(labels, int(best.max()) + 1, notes={"groups_were": "drawn" if best is drawn else "dealt"})


def _units(problem: Problem, rows: IntArray) -> int:
    weights = problem.table.row_units
    return int(weights[rows].sum()) if len(weights) else len(rows)


class _Work:
    """The records in canonical order, with one code for all the sensitive columns that models look at."""

    def __init__(self, problem: Problem, rows: IntArray, budget: int) -> None:
        self.problem, self.rows, self.budget = problem, rows, budget
        table = problem.table
        named = {name for key in problem.model.histogram_keys() for name in key}
        columns = [c for c in table.sensitive if c.name in named] or list(table.sensitive)
        codes = [c.codes[rows] for c in columns]
        self.values = number_rows(codes, [c.coded.size for c in columns])[0] if codes else np.zeros_like(rows)
        self.least = problem.model.min_group_size()

    def fits(self, labels: IntArray) -> bool:
        """Whether every group, and the table of them, satisfies the models."""
        everyone = np.full(self.problem.table.n_rows, -1, dtype=np.int64)
        everyone[self.rows] = labels
        model, reference = self.problem.model, self.problem.reference
        stats = self.problem.table.stats_of(everyone, int(labels.max()) + 1, model.histogram_keys())
        return bool(model.satisfied(stats, reference).all() and model.table_satisfied(stats, reference)[0])

    def drawn(self) -> IntArray | None:
        """Groups of different values, as small as the models allow."""
        first = max(2, self.least)
        most = len(np.unique(self.values))
        for size in range(first, min(most, first + _WIDER) + 1):
            self.problem.progress(0.0, "drawing")
            labels = self._placed(draw(self.values, size))
            if labels is not None and self.fits(labels):
                return labels
        return None

    def _placed(self, labels: IntArray) -> IntArray | None:
        """Suppress what is left over, or put it into the smallest group."""
        over = np.flatnonzero(labels < 0)
        if int(labels.max(initial=-1)) < 0:
            return None
        if len(over) and _units(self.problem, self.rows[over]) > self.budget:
            sizes = np.bincount(labels[labels >= 0])
            for row in over.tolist():
                labels[row] = int(np.argmin(sizes))
                sizes[labels[row]] += 1
        return labels

    def dealt(self) -> IntArray | None:
        """Groups with the table's proportions, as many as the models allow; at last a single one."""
        size = float(self.least)
        tried = 0
        while True:
            self.problem.progress(0.5, "dealing")
            groups = max(1, int(len(self.rows) / size))
            if groups != tried:
                tried = groups
                labels = deal(self.values, groups)
                if self.fits(labels):
                    return labels
            if groups == 1:
                return None
            size = max(size * _GROWTH, size + 1)
