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
from hushtable.kernels.tuples import group_tuples
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats, Histogram, Key

__all__ = ["MOST_SOURCES", "Grouping", "Space", "Tuples"]

MOST_SOURCES = 64
"""How many rolled-up tables are kept to roll up from; each is at most half the size of the table it came from."""


@dataclass(frozen=True)
class Tuples:
    """Distinct tuples with their weights, in canonical order.

    Attributes
    ----------
    codes : (T, d) int32 array
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
        codes = np.column_stack([c.codes[first] for c in table.quasi]).astype(np.int32)
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
            grouped = group_tuples(tuples.codes, tuples.units, self.lut, at, strides, space)
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
        count = len(self._rolled)
        finer = np.flatnonzero((self._rolled_levels[:count] <= node).all(axis=1))
        return self._rolled[int(finer[np.argmin(self._rolled_sizes[finer])])]

    def keep(self, node: IntArray, grouping: Grouping, stats: GroupStats | None = None) -> None:
        """Remember a node's groups as a source for coarser nodes, where they are much fewer than its own source."""
        if len(self.keys) > 1 or self.table.n_rows > self.table.n_sample or (self.keys and stats is None):
            return
        hist = stats.histogram(self.keys[0]) if self.keys and stats is not None else None
        size = len(grouping.sizes) if hist is None else len(hist.units)
        if 2 * size > len(grouping.tuples):
            return
        codes = grouping.tuples.codes
        if hist is None:
            rolled = Tuples(codes[grouping.first], grouping.sizes, {}, node)
        else:
            rolled = Tuples(codes[grouping.first[hist.groups]], hist.units, {self.keys[0]: hist.values}, node)
        place = len(self._rolled)
        if place < MOST_SOURCES:
            self._rolled.append(rolled)
        else:
            # the original stays; of the others, the largest makes room
            place = 1 + int(np.argmax(self._rolled_sizes[1:]))
            self._rolled[place] = rolled
        self._rolled_levels[place], self._rolled_sizes[place] = node, size

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
