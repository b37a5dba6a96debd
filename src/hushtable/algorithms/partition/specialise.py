"""Specializing groups of records: every group of a level, along every quasi-identifier, as arrays.

A group's node in a column is the lowest one that covers its records, so a chain of nodes with a single child is passed
at once. Specializing a column divides a group by the children of that node. Working memory: the matrix of codes, and
for one level the children of every column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.children import Branching, Children, Trees, satisfied_children
from hushtable.algorithms.partition.unspecialise import Moved
from hushtable.arrays import BoolArray, IntArray, inverted, mask_of, run_places, scattered
from hushtable.kernels.bounds import bounds
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.models.compose import AllOf
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class Placed(Children):
    """Children whose records are here.

    Attributes
    ----------
    places : int64 array
        Places of records; child c owns ``places[offsets[c]:offsets[c + 1]]``, in canonical order.
    offsets : int64 array
    """

    places: IntArray
    offsets: IntArray

    def place_owner(self) -> IntArray:
        """Return the child of every place."""
        return np.repeat(np.arange(len(self.group), dtype=np.int64), np.diff(self.offsets))


class Branches(Branching):
    """The groups that may still be specialized, and the finished ones.

    Parameters
    ----------
    problem : Problem
    kept : bool array
        Rows that take part.
    budget : int
        Units that may be suppressed; if any, a group may be divided even if only one child is satisfied.
    closed : bool array, optional
        Columns that are not specialized, if the records are a group of a larger table.
    """

    def __init__(self, problem: Problem, kept: BoolArray, budget: int = 0, closed: BoolArray | None = None) -> None:
        self._table = table = problem.table
        self._problem, self._reference = problem, problem.reference
        self.minimum = max(problem.model.min_group_size(), 1) * table.unit
        self._divisible = self.minimum + 1 if budget > 0 else 2 * self.minimum
        # equal records of one kind go back in the order of their other published cells: no sensitive value decides
        order = table.canonical_order
        self.rows = order[kept[order]]
        self.trees = Trees(table.quasi)
        ranks = self.trees.ranks
        dtype = np.result_type(np.uint8, *(c.codes.dtype for c in table.quasi))
        self._codes = np.empty((len(self.rows), len(ranks)), dtype=dtype)
        for j, (column, rank) in enumerate(zip(table.quasi, ranks, strict=True)):
            self._codes[:, j] = rank[column.codes[self.rows]]
        self._final = np.full(len(self.rows), -1, dtype=np.int64)
        self._n_final = 0
        self._dropped = np.zeros(len(self.rows), dtype=np.bool_)
        start = np.zeros(len(self.rows), dtype=np.int64)
        shut = np.zeros((1, len(ranks)), dtype=np.bool_) if closed is None else closed[None, :]
        self._open(np.arange(len(self.rows), dtype=np.int64), start, shut)

    def share_done(self) -> float:
        """Share of the records whose group is finished."""
        return 1.0 - len(self._places) / max(len(self.rows), 1)

    def _open(self, places: IntArray, labels: IntArray, closed: BoolArray) -> None:
        """Start a level with these groups; those that cannot be divided further are finished."""
        in_order, offsets = group_rows(labels, len(closed))
        places = places[in_order]
        heights = self._heights(places, offsets)
        units = self._units(places, offsets)
        opened = (units >= self._divisible) & (~closed & (heights > 0)).any(axis=1)
        labels = np.repeat(np.arange(len(closed), dtype=np.int64), np.diff(offsets))
        self._finish(places, labels, ~opened)
        self._places = places[opened[labels]]
        self._labels = (np.cumsum(opened) - 1)[labels[opened[labels]]]
        self.heights, self.closed = heights[opened], closed[opened]

    def _finish(self, places: IntArray, labels: IntArray, which: BoolArray) -> None:
        number = self._n_final + np.cumsum(which) - 1
        mine = which[labels]
        self._final[places[mine]] = number[labels[mine]]
        self._n_final += int(which.sum())

    def _heights(self, places: IntArray, offsets: IntArray) -> IntArray:
        """Return the height of the lowest node that covers each group, column by column."""
        return self.trees.heights(*bounds(self._codes[places], offsets[:-1], offsets[1:]))

    def _units(self, places: IntArray, offsets: IntArray) -> IntArray:
        weights = self._table.row_units
        if not len(weights):
            return np.diff(offsets)
        total = np.concatenate([[0], np.cumsum(weights[self.rows[places]])]).astype(np.int64)
        return total[offsets[1:]] - total[offsets[:-1]]

    def children(self, column: int, model: AllOf) -> Placed | None:
        """Return the children along one column of all groups that can be specialized there."""
        able = (self.heights[:, column] > 0) & ~self.closed[:, column]
        mine = able[self._labels]
        places, labels = self._places[mine], self._labels[mine]
        if not len(places):
            return None
        nodes = self.trees.nodes[column]
        node = nodes[self.heights[labels, column] - 1, self._codes[places, column]]
        child, first = number_rows([labels, node], [self.open, int(nodes.max()) + 1])
        in_order, offsets = group_rows(child, len(first))
        group, places = labels[first], places[in_order]
        stats = self._table.stats(self.rows[places], offsets[:-1], offsets[1:], model.histogram_keys())
        good = satisfied_children(stats, self.minimum, model, self._reference)
        lower = self.heights[group] - self._heights(places, offsets)
        return Placed(column, group, stats, good, stats.units * (lower @ self.trees.weights), places, offsets)

    def kind_counts(self, family: Placed, child: IntArray, kinds: Kinds) -> tuple[IntArray, IntArray, IntArray]:
        """Return record counts by kind for some children: child (index in ``child``), kind, count."""
        rows = self.rows[family.places]
        return kinds.counts(rows, family.offsets[:-1][child], family.offsets[1:][child])

    def going_back(self, family: Placed, child: IntArray, moved: Moved, possible: BoolArray, kinds: Kinds) -> IntArray:
        """Return the places of the records that go back to parents for which it is possible."""
        rows = self.rows[family.places]
        whole = mask_of(child[moved.dissolved], len(family.group))
        owner = family.place_owner()
        # records of each kind that a child gives: those whose quasi-identifiers come first in secret order
        key = owner * len(kinds.stats) + kinds.of_row[rows]
        asked = child[moved.child] * len(kinds.stats) + moved.kind
        able = kinds.movable[rows] > 0
        goes = whole[owner] | _first_of(key, asked, moved.count, able, lambda at: self._lots(rows[at]))
        return family.places[goes & possible[family.group[owner]]]

    def _lots(self, rows: IntArray) -> IntArray:
        if not self._problem.model.histogram_keys():
            return np.zeros(len(rows), dtype=np.int64)
        return self._problem.coins.lots_of_combinations([c.codes[rows] for c in self._table.quasi])

    def leave_out(self, family: Placed, children: BoolArray) -> None:
        """Suppress the records of some children."""
        self._dropped[family.places[children[family.place_owner()]]] = True

    def advance(self, chosen: IntArray, families: Sequence[Placed], back: Sequence[IntArray], unfit: BoolArray) -> None:
        """Divide groups and continue with their parts.

        Parameters
        ----------
        chosen : int64 array
            The column along which each group is specialized; -1 for groups that are finished.
        families : sequence of Children
            By column.
        back : sequence of int64 arrays
            Places of records of satisfied children that go back to the parent.
        unfit : bool array
            (group x column): no group below this one can be specialized there.
        """
        self._finish(self._places, self._labels, chosen < 0)
        places, labels, closed = self.parts(chosen, families, back, unfit)
        self._open(places, labels, closed)

    def parts(
        self, chosen: IntArray, families: Sequence[Placed], back: Sequence[IntArray], unfit: BoolArray
    ) -> tuple[IntArray, IntArray, BoolArray]:
        """Return places, the part that each belongs to, and the parts' closed columns."""
        moved = np.zeros(len(self.rows), dtype=np.bool_)
        for places_back in back:
            moved[places_back] = True
        places, labels, closed = [], [], [np.zeros((0, self.width), dtype=np.bool_)]
        n = 0
        for family in families:
            mine = chosen[family.group] == family.column
            owner = family.place_owner()
            here = mine[owner] & ~self._dropped[family.places]
            place, owner = family.places[here], owner[here]
            # children keep their number; records that stay at the parent are numbered after all children
            stays = ~family.good[owner] | moved[place]
            key = np.where(stays, len(family.group) + family.group[owner], owner)
            part, first = number_rows([key], [len(family.group) + self.open])
            places.append(place)
            labels.append(n + part)
            below = (self.closed | unfit)[family.group[owner[first]]]
            below[stays[first], family.column] = True
            closed.append(below)
            n += len(first)
        empty = np.empty(0, dtype=np.int64)
        return (
            np.concatenate(places) if places else empty,
            np.concatenate(labels) if labels else empty,
            np.concatenate(closed),
        )

    def group_of(self, places: IntArray) -> IntArray:
        """Return the open group that owns each of these places."""
        return scattered(self._labels, self._places, len(self.rows))[places]

    def stats(self, places: IntArray, labels: IntArray, n: int, model: AllOf) -> GroupStats:
        """Return the statistics of groups given by a label per place."""
        in_order, offsets = group_rows(labels, n)
        rows = self.rows[places[in_order]]
        return self._table.stats(rows, offsets[:-1], offsets[1:], model.histogram_keys())

    def standing(self, model: AllOf) -> tuple[GroupStats, int]:
        """Return the statistics of the current table, and the number of finished groups, which come first."""
        labels = self._final.copy()
        labels[self._places] = self._n_final + self._labels
        n = self._n_final + self.open
        return self.stats(np.arange(len(self.rows), dtype=np.int64), labels, n, model), self._n_final

    def partition(self) -> Partition:
        """Return the finished partition, groups numbered by their first record in canonical order."""
        first = np.full(self._n_final, len(self.rows), dtype=np.int64)
        kept = np.flatnonzero(~self._dropped)
        np.minimum.at(first, self._final[kept], kept)
        number = inverted(np.argsort(first, kind="stable"))
        return Partition(scattered(number[self._final[kept]], self.rows[kept], self._table.n_rows), self._n_final)


def _first_of(
    key: IntArray, asked: IntArray, count: IntArray, able: BoolArray, lots: Callable[[IntArray], IntArray]
) -> BoolArray:
    """Return whether the places with each key in ``asked`` are among the ``count`` with the lowest lots."""
    place = np.flatnonzero(able & np.isin(key, asked))
    place = place[np.lexsort((lots(place), key[place]))]
    own = key[place]
    by_key = np.argsort(asked)
    limit = count[by_key][np.searchsorted(asked[by_key], own)] if len(asked) else own
    return mask_of(place[run_places(own) < limit], len(key))
