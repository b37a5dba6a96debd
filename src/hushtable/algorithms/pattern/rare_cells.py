"""Blanking single cells until no rare combination of cells is left, for models that judge cells.

Each round blanks a cell of every record that shows something rare: the one that takes part in most violations for its
weight, of equal ones the one in the column with more values. Later rounds, which few records are left for, blank
several. A blank is a value like any other, so blanks may be rare themselves, in combination with what stays; the next
round sees that. A record with nothing more to blank is left out as far as the suppression limit goes, else it is
blanked altogether, with the records that have most blanks already, so that enough of them look the same. Of small
tables, cells are shown again at the end where that makes nothing rare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.table.stats import GroupStats

__all__ = ["blank_rare_cells"]

SLOW_ROUNDS = 12
"""After so many rounds each, one cell more is blanked at a time."""

MOST_SHOWN_AGAIN = 5_000
"""Up to so many cells, every blank is looked at again. It rarely pays, and costs more than all that came before."""


def blank_rare_cells(problem: Problem) -> Partition | None:
    """Return the records with the cells to blank; None where that did not satisfy the models.

    Parameters
    ----------
    problem : Problem
        All of its models judge cells.
    """
    table = problem.table
    state = _Cells.of(problem)
    for round_ in count():
        bad = state.bad()
        exposed = bad.any(axis=1) & state.kept
        if not exposed.any():
            break
        share = 1 - np.count_nonzero(exposed) / len(exposed)
        problem.progress(min(max(share, 0.0), 1.0), "blanking")
        before = state.shown
        state.blank_worst(np.flatnonzero(exposed), bad, 1 + round_ // SLOW_ROUNDS)
        if state.shown == before or not state.kept.any():
            return None
    if state.blank.size <= MOST_SHOWN_AGAIN:
        state.show_again()
    if not bool(problem.model.table_satisfied(state.stats(), problem.reference)[0]):
        return None
    columns = [np.where(state.blank[:, j], state.sizes[j], column) for j, column in enumerate(state.codes)]
    number, first = number_rows(columns, [size + 1 for size in state.sizes])
    labels = np.full(table.n_rows, -1, dtype=np.int64)
    labels[: table.n_sample] = np.where(state.kept[state.kind], number[state.kind], -1)
    used, labels_used = np.unique(labels[labels >= 0], return_inverse=True)
    labels[labels >= 0] = labels_used
    blanked = {c.name: state.blank[first[used], j] for j, c in enumerate(table.quasi)}
    cells = int((state.blank.sum(axis=1)[state.kind] * state.kept[state.kind]).sum())
    notes = {"blanked_cells": cells, "optimum_proven": False}
    return Partition(labels, len(used), blanked=blanked, notes=notes)


@dataclass
class _Cells:
    """The distinct records, and which of their cells are blank."""

    problem: Problem
    kind: IntArray
    codes: list[IntArray]
    sizes: list[int]
    units: IntArray
    blank: BoolArray
    kept: BoolArray
    budget: int

    @classmethod
    def of(cls, problem: Problem) -> _Cells:
        table = problem.table
        sample = slice(0, table.n_sample)
        sizes = [c.coded.size for c in table.quasi]
        kind, first = number_rows([c.codes[sample] for c in table.quasi], sizes)
        units = np.bincount(kind, table.row_units[sample] if len(table.row_units) else None).astype(np.int64)
        codes = [c.codes[sample][first].astype(np.int64) for c in table.quasi]
        blank = np.zeros((len(first), len(codes)), dtype=np.bool_)
        return cls(problem, kind, codes, sizes, units, blank, np.ones(len(first), dtype=np.bool_), problem.budget)

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [c.name for c in self.problem.table.quasi]

    @property
    def shown(self) -> int:
        """How many cells of distinct records are shown; every step leaves fewer."""
        return int(np.count_nonzero(~self.blank[self.kept])) + int(self.kept.sum())

    def cells(self) -> Mapping[str, IntArray]:
        """What each record shows: a code, or one more for a blank."""
        return {
            name: np.where(self.blank[:, j], self.sizes[j], self.codes[j])[self.kept]
            for j, name in enumerate(self.names)
        }

    def stats(self) -> GroupStats:
        """The kept records as models see them."""
        return GroupStats(self.units[self.kept], self.problem.table.unit, cells=self.cells())

    def bad(self) -> IntArray:
        """How many violations each cell takes part in."""
        found = np.zeros(self.blank.shape, dtype=np.int64)
        stats = self.stats()
        for member in self.problem.model.members:
            found[self.kept] += member.exposing(stats, self.problem.reference)
        return found

    def blank_worst(self, exposed: IntArray, bad: IntArray, many: int) -> None:
        """Blank the worst cells of each of these records; deal with those that have none left."""
        weights: FloatArray = np.array([c.weight for c in self.problem.table.quasi])
        order = np.lexsort((np.arange(len(weights)), -np.array(self.sizes)))
        worth = np.where(self.blank[exposed], 0.0, bad[exposed] / weights)[:, order]
        worst = np.argsort(-worth, axis=1, kind="stable")[:, :many]
        able = np.take_along_axis(worth, worst, axis=1) > 0
        self.blank[np.repeat(exposed, able.sum(axis=1)), order[worst[able]]] = True
        if not able.any():
            self._deal_with(exposed)

    def _deal_with(self, stuck: IntArray) -> None:
        """Leave records out, or blank them altogether with enough others."""
        fits = stuck[np.cumsum(self.units[stuck]) <= self.budget]
        if len(fits):
            self.kept[fits] = False
            self.budget -= int(self.units[fits].sum())
            return
        self.blank[stuck] = True
        nothing = self.kept & self.blank.all(axis=1)
        order = np.lexsort((np.arange(len(self.units)), -self.blank.sum(axis=1)))
        model = self.problem.model.of_classes()
        for i in order[self.kept[order] & ~nothing[order]].tolist():
            whole = GroupStats(np.array([self.units[nothing].sum()]), self.problem.table.unit)
            if bool(model.satisfied(whole, self.problem.reference)[0]):
                break
            self.blank[i] = True
            nothing[i] = True

    def show_again(self) -> None:
        """Show blanked cells, column by column, where that leaves nothing rare."""
        for j in np.argsort([-c.weight for c in self.problem.table.quasi], kind="stable").tolist():
            tried = self.blank[:, j] & self.kept
            while tried.any():
                before = self.blank[:, j].copy()
                self.blank[tried, j] = False
                exposed = self.bad().any(axis=1)
                if not exposed.any():
                    break
                self.blank[:, j] = before
                fewer = tried & ~exposed
                # where others are exposed, who would show a cell again has left their crowd
                tried = fewer if (fewer != tried).any() else np.zeros_like(tried)
