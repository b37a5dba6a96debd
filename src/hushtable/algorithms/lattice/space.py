"""The lattice of levels over a table's distinct tuples.

A node is one level per quasi-identifier. The table is collapsed to its distinct tuples once; every node is a grouping
of those. All look-up tables of all levels lie in one flat array, so evaluating a node needs no Python object per group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.grouping import group_rows, histogram, number_rows
from hushtable.kernels.tuples import group_tuples, shared_columns
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats, Histogram, Key

__all__ = ["Grouping", "Space", "Tuples"]

MOST_SOURCES = 128
"""How many rolled-up tables are kept to roll up from; each is at most 3/4 the size of the table it came from."""

WORTH_ROLLING = 2000
"""Tables with fewer tuples are grouped as they are."""

WIDE_COLUMNS = 4
"""Columns with most values, whose levels make up a node's anchor."""


@dataclass(frozen=True)
class Tuples:
    """Distinct tuples with their weights, in canonical order.

    Attributes
    ----------
    codes : (T, d) integer array
        Leaf codes; after rolling up, those of one leaf below each node.
    units : int64 array
    sensitive : mapping of Key to int64 array
        Codes of the sensitive columns: tuples are distinct in these too.
    levels : tuple of int
        The levels that they were rolled up to.
    """

    codes: AnyArray
    units: IntArray
    sensitive: dict[Key, IntArray]
    levels: IntArray

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def shared(self) -> AnyArray:
        """How many leading columns each tuple shares with the one before."""
        return shared_columns(self.codes)


@dataclass(frozen=True)
class Grouping:
    """The groups of one node.

    Attributes
    ----------
    tuples : Tuples
        What was grouped.
    group : int64 array
        The group of each tuple.
    sizes : int64 array
        Units per group.
    first : int64 array
        One tuple of each group.
    """

    tuples: Tuples
    group: IntArray
    sizes: IntArray
    first: IntArray


class Space:
    """A table as a lattice search sees it.

    Parameters
    ----------
    table : EncodedTable
    keys : histogram keys
        Sensitive columns that the models need.
    """

    def __init__(self, table: EncodedTable, keys: frozenset[Key]) -> None:
        self.table = table
        self.keys = sorted(keys)
        self.heights = np.array([c.coded.height for c in table.quasi], dtype=np.int64)
        parts, at = [], 0
        self.starts = np.zeros((len(table.quasi), int(self.heights.max()) + 1), dtype=np.int64)
        self.sizes = np.zeros_like(self.starts)
        for j, column in enumerate(table.quasi):
            for level, nodes in enumerate(column.coded.levels):
                self.starts[j, level], self.sizes[j, level] = at, len(column.coded.labels[level])
                parts.append(nodes)
                at += len(nodes)
        self.lut = np.concatenate(parts).astype(np.int32)
        self.base, self.of_row = self._collapse()
        self._rolled: list[Tuples] = [self.base]
        widest = np.argsort(-self.sizes[:, 0], kind="stable")[:WIDE_COLUMNS]
        self._wide = np.isin(np.arange(self.d), widest)
        self._anchors: set[tuple[int, ...]] = {(0,) * self.d}
        self._rolled_levels = np.zeros((MOST_SOURCES, self.d), dtype=np.int64)
        self._rolled_sizes = np.full(MOST_SOURCES, len(self.base), dtype=np.int64)

    @property
    def d(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.heights)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return math.prod(int(h) + 1 for h in self.heights)

    @cached_property
    def nodes(self) -> AnyArray:
        """Every node, in lexicographic order of levels: only for lattices that fit."""
        return np.indices([int(h) + 1 for h in self.heights], dtype=np.int16).reshape(self.d, -1).T.copy()

    @property
    def units(self) -> int:
        """Units of the whole sample."""
        return int(self.base.units.sum())

    def _collapse(self) -> tuple[Tuples, IntArray]:
        table = self.table
        columns: list[AnyArray] = [c.codes for c in table.quasi]
        sizes = [c.coded.size for c in table.quasi]
        sensitive = {key: table.code_column(key) for key in self.keys}
        for codes, size in sensitive.values():
            columns.append(codes)
            sizes.append(size)
        of_row, first = number_rows(columns, sizes)
        units = np.bincount(of_row, minlength=len(first)).astype(np.int64)
        if len(table.row_units):
            units = np.zeros(len(first), dtype=np.int64)
            np.add.at(units, of_row, table.row_units)
        codes = np.column_stack([c.codes[first] for c in table.quasi])
        kept = {key: codes_[first].astype(np.int64) for key, (codes_, _) in sensitive.items()}
        return Tuples(codes, units, kept, np.zeros(self.d, dtype=np.int64)), of_row

    def group(self, node: IntArray, source: Tuples | None = None) -> Grouping:
        """Group the tuples at a node, rolling up from the smallest table at hand that is finer."""
        tuples = source or self._source(node)
        columns = np.arange(self.d)
        at, sizes = self.starts[columns, node], self.sizes[columns, node]
        space = math.prod(int(s) for s in sizes)
        if space < 2**62:
            strides = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]]).astype(np.int64)
            grouped = group_tuples(
                tuples.codes, tuples.shared, tuples.units, self.lut, at, self.sizes[:, 0], strides, space
            )
        else:
            grouped = self._group_wide(tuples, at, sizes)
        return Grouping(tuples, *grouped)

    def _group_wide(self, tuples: Tuples, at: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Group where a node has more keys than fit into 62 bits."""
        looked_up = [self.lut[at[j] + tuples.codes[:, j]] for j in range(self.d)]
        group, first = number_rows(looked_up, [int(s) for s in sizes])
        units = np.zeros(len(first), dtype=np.int64)
        np.add.at(units, group, tuples.units)
        return group, units, first

    def _source(self, node: IntArray) -> Tuples:
        """Return the smallest rolled-up table that is finer than a node, rolling up to the node's anchor first.

        The anchor has the node's levels in the few columns with most values, where generalising merges most tuples,
        and leaves in the others; many nodes share it.
        """
        count = len(self._rolled)
        finer = np.flatnonzero((self._rolled_levels[:count] <= node).all(axis=1))
        best = self._rolled[int(finer[np.argmin(self._rolled_sizes[finer])])]
        if len(best) < WORTH_ROLLING or len(self.keys) > 1 or self.table.n_rows > self.table.n_sample:
            return best
        anchor = np.where(self._wide, node, 0)
        if tuple(anchor) in self._anchors or len(self._rolled) == MOST_SOURCES:
            return best
        self._anchors.add(tuple(anchor))
        rolled = self._roll_up(anchor, self.group(anchor, best))
        if 4 * len(rolled) > 3 * len(best):
            return best
        self._rolled_levels[count], self._rolled_sizes[count] = anchor, len(rolled)
        self._rolled.append(rolled)
        return rolled

    def _roll_up(self, node: IntArray, grouping: Grouping) -> Tuples:
        codes = grouping.tuples.codes
        if not self.keys:
            return Tuples(codes[grouping.first], grouping.sizes, {}, node)
        hist = self.stats(grouping).histogram(self.keys[0])
        return Tuples(codes[grouping.first[hist.groups]], hist.units, {self.keys[0]: hist.values}, node)

    def stats(self, grouping: Grouping) -> GroupStats:
        """Return the groups' statistics, as models see them."""
        tuples, unit = grouping.tuples, self.table.unit
        n = len(grouping.sizes)
        if self.table.n_rows > self.table.n_sample:
            return self.table.stats_of(grouping.group[self.of_row], n, self.keys)
        histograms = {}
        if self.keys:
            rows, offsets = group_rows(grouping.group, n)
            for key in self.keys:
                size = self.table.attribute_size(key)
                parts = histogram(rows, offsets[:-1], offsets[1:], tuples.sensitive[key], tuples.units, size)
                histograms[key] = Histogram(*parts, unit)
        return GroupStats(grouping.sizes, unit, histograms)

    def labels(self, node: IntArray) -> tuple[Grouping, IntArray]:
        """Group at a node from the original tuples, and return the group of every row."""
        grouping = self.group(node, self.base)
        return grouping, grouping.group[self.of_row]
