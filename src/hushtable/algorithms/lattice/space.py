"""The lattice of levels over a table's distinct tuples.

A node is one level per quasi-identifier. The table is collapsed to its distinct tuples once; every node is a grouping
of those. All look-up tables of all levels lie in one flat array, so evaluating a node needs no Python object per group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.algorithms.store import Brought, Rolled
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.errors import ParameterError, did_you_mean
from hushtable.kernels.cubes import leaf_cube
from hushtable.kernels.grouping import number_rows, tally
from hushtable.kernels.packing import blocks_of, leaf_units, pack_tuples
from hushtable.kernels.tuples import group_tuples, room_for, size_facts
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats, Histogram, Key

MOST_SOURCES = 128
"""Number of rolled-up tables to keep as sources; each has at most 3/4 the size of the table it came from."""

WORTH_ROLLING = 6000
"""Tables with fewer tuples are grouped directly."""

WIDE_COLUMNS = 4
"""Number of columns, those with the most values, whose levels make up a node's anchor."""


def level_range(table: EncodedTable, fixed: Mapping[str, int]) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest level of every quasi-identifier."""
    names = [c.name for c in table.quasi]
    low = np.zeros(len(names), dtype=np.int64)
    high = np.array([c.coded.height for c in table.quasi], dtype=np.int64)
    for name, level in fixed.items():
        if name not in names:
            raise ParameterError(
                f"'fixed' names {name!r}, which is not a quasi-identifier.", hint=did_you_mean(name, names)
            )
        j = names.index(name)
        if not 0 <= level <= high[j]:
            raise ParameterError(
                f"Column {name!r} has no level {level}.", hint=f"Its hierarchy has levels 0 to {high[j]}."
            )
        low[j] = high[j] = level
    return low, high


class SearchSpace:
    """A table as a lattice search sees it.

    Parameters
    ----------
    table : EncodedTable
    keys : histogram keys
        Sensitive columns that the models need.
    fixed : mapping of str to int
        Quasi-identifiers with a fixed level.
    far : Rolled, optional
        The combinations of quasi-identifiers and the sensitive columns, if they are on other machines; the table's
        rows are then ignored.

    Attributes
    ----------
    root : Tuples or Rolled
        The distinct tuples.

    Raises
    ------
    ParameterError
        If a column is fixed to a level that it does not have.
    """

    def __init__(
        self,
        table: EncodedTable,
        keys: frozenset[Key],
        fixed: Mapping[str, int] | None = None,
        far: Rolled | None = None,
    ) -> None:
        self.table = table
        self.keys = sorted(keys)
        self.heights = np.array([c.coded.height for c in table.quasi], dtype=np.int64)
        self.low, self.high = level_range(table, fixed or {})
        parts, at = [], 0
        self.starts = np.zeros((len(table.quasi), int(self.heights.max()) + 1), dtype=np.int64)
        self.sizes = np.zeros_like(self.starts)
        for j, column in enumerate(table.quasi):
            for level, nodes in enumerate(column.coded.levels):
                self.starts[j, level], self.sizes[j, level] = at, len(column.coded.labels[level])
                parts.append(nodes)
                at += len(nodes)
        self.lut = np.concatenate(parts).astype(np.int32)
        self.leaves = np.ascontiguousarray(self.sizes[:, 0])
        self.blocks = blocks_of(self.leaves.tolist())
        if far is None:
            self.base, self.of_row = self._collapse()
        self.root: Tuples | Rolled = self.base if far is None else far
        self._room = room_for(0)
        self._rolled: list[Tuples | Rolled] = [self.root]
        widest = np.argsort(-self.sizes[:, 0], kind="stable")[:WIDE_COLUMNS]
        self._wide = np.isin(np.arange(self.d), widest)
        self._anchors: set[bytes] = {np.zeros_like(self.heights).tobytes()}
        self._rolled_levels = np.zeros((MOST_SOURCES, self.d), dtype=np.int64)
        self._rolled_sizes = np.full(MOST_SOURCES, len(self.root), dtype=np.int64)

    @property
    def d(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.heights)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return math.prod(int(n) for n in self.high - self.low + 1)

    @cached_property
    def nodes(self) -> AnyArray:
        """Every node, in lexicographic order of levels; only for lattices that fit into memory."""
        steps = np.indices([int(n) for n in self.high - self.low + 1], dtype=np.int16).reshape(self.d, -1).T
        return np.ascontiguousarray(steps + self.low.astype(np.int16))

    @cached_property
    def units(self) -> int:
        """Number of units in the whole sample."""
        return int(self.root.units.sum()) if isinstance(self.root, Tuples) else self.table.sample_units

    def column_units(self) -> list[IntArray]:
        """Count the leaves of every column."""
        if not isinstance(self.root, Tuples):
            return [self.root.cube((j,), [int(self.leaves[j])]).reshape(-1) for j in range(self.d)]
        key = ("leaves", tuple(self.keys))
        if key not in self.table.derived:
            units = leaf_units(self.base.columns, np.arange(len(self.base)), self.base.units, self.leaves)
            self.table.derived[key] = np.split(units, np.cumsum(self.leaves)[:-1])
        counted: list[IntArray] = self.table.derived[key]
        return counted

    def _collapse(self) -> tuple[Tuples, AnyArray]:
        keys = tuple(self.keys)
        of_row, first, units = self.table.distinct(keys)
        if ("tuples", keys) not in self.table.derived:
            columns = np.stack([c.codes[first] for c in self.table.quasi])
            packed = pack_tuples(columns, self.leaves, self.blocks)
            kept = {key: self.table.code_column(key)[0][first].astype(np.int64) for key in self.keys}
            self.table.derived["tuples", keys] = Tuples(packed, units, kept, np.zeros_like(self.heights), columns)
        tuples: Tuples = self.table.derived["tuples", keys]
        return tuples, of_row

    def group(self, node: IntArray, tuples: Tuples) -> Grouping:
        """Group tuples at a node."""
        columns = np.arange(self.d)
        at, sizes = self.starts[columns, node], self.sizes[columns, node]
        space = math.prod(int(s) for s in sizes)
        if space < 2**62:
            strides = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]]).astype(np.int64)
            grouped = group_tuples(tuples.packed, tuples.units, self.blocks, self.lut, at, self.leaves, strides, space)
        else:
            grouped = self._group_wide(tuples, at, sizes)
        return Grouping(tuples, *grouped)

    def _group_wide(self, tuples: Tuples, at: IntArray, sizes: IntArray) -> tuple[AnyArray, IntArray, IntArray]:
        """Group tuples at a node that has more keys than fit into 62 bits."""
        looked_up = [self.lut[at[j] + tuples.columns[j]] for j in range(self.d)]
        group, first = number_rows(looked_up, [int(s) for s in sizes])
        units = np.zeros(len(first), dtype=np.int64)
        np.add.at(units, group, tuples.units)
        return group, units, first

    @cached_property
    def _narrow(self) -> bool:
        """Whether the keys of every node fit into 62 bits, and squares of sizes too."""
        return math.prod(int(n) for n in self.leaves) < 2**62 and self.units < 2**31

    def size_facts(
        self, node: IntArray, tuples: Tuples, minimum: int
    ) -> tuple[Grouping, tuple[int, int, int, int]] | None:
        """Group tuples at a node, with facts about the sizes (see the kernel); None if the numbers are too large.

        The groups are overwritten by the next call.
        """
        if not self._narrow:
            return None
        if len(tuples) > len(self._room[0]):
            self._room = room_for(len(tuples))
        group, found, first = self._room
        facts = size_facts(
            tuples.packed, tuples.units, self.blocks, self.lut, self.starts, self.sizes, self.leaves, node, minimum,
            self._room,
        )  # fmt: skip
        return Grouping(tuples, group[: len(tuples)], found[: facts[0]], first[: facts[0]]), facts

    def source(self, node: IntArray) -> Tuples | Rolled:
        """Return the smallest rolled-up table that is finer than a node, rolling up to the node's anchor first.

        The anchor has the node's levels in the few columns with the most values, where generalizing merges the most
        tuples, and leaves in the others; many nodes share it.
        """
        best = self.finest(node)
        if len(best) >= WORTH_ROLLING and self.roll_to(np.where(self._wide, node, best.levels)):
            return self.finest(node)
        return best

    def finest(self, node: IntArray) -> Tuples | Rolled:
        """Return the smallest available table that is finer than a node."""
        finer = np.flatnonzero((self._rolled_levels[: len(self._rolled)] <= node).all(axis=1))
        return self._rolled[int(finer[np.argmin(self._rolled_sizes[finer])])]

    def served(self, nodes: AnyArray) -> BoolArray:
        """Whether each node can be grouped from a rolled-up table."""
        out = np.zeros(len(nodes), dtype=np.bool_)
        for levels in self._rolled_levels[1 : len(self._rolled)]:
            out |= (nodes >= levels).all(axis=1)
        return out

    def roll_to(self, anchor: IntArray) -> bool:
        """Keep the table rolled up to a node, as a source for all coarser ones, if that is much smaller.

        Returns whether there is a new table.
        """
        count, name = len(self._rolled), anchor.tobytes()
        if count == MOST_SOURCES or name in self._anchors or not self._rolls_up:
            return False
        self._anchors.add(name)
        best = self.finest(anchor)
        if len(best) < WORTH_ROLLING:
            return False
        rolled = self._rolled_up(anchor, best)
        if 4 * len(rolled) <= 3 * len(best):
            self._rolled_levels[count], self._rolled_sizes[count] = anchor, len(rolled)
            self._rolled.append(self._nearer(rolled, anchor))
            return True
        if not isinstance(rolled, Tuples):
            rolled.close()
        return False

    def projection(self, node: IntArray) -> Tuples | Rolled | None:
        """Return the table rolled up to a node, as a source for many coarser nodes; None if that is not worthwhile."""
        source = self.source(node)
        if not self._rolls_up or len(source) < WORTH_ROLLING:
            return None
        return self._nearer(self._rolled_up(node, source), node)

    def _rolled_up(self, node: IntArray, source: Tuples | Rolled) -> Tuples | Rolled:
        return self._roll_up(node, self.group(node, source)) if isinstance(source, Tuples) else source.roll_up(node)

    def _nearer(self, rolled: Tuples | Rolled, node: IntArray) -> Tuples | Rolled:
        """Bring a rolled-up table here permanently, if there is room."""
        if isinstance(rolled, Tuples) or rolled.stays:
            return rolled
        with closing(rolled):
            return self._brought(rolled.bring(keep=True), node)

    def _brought(self, parts: Brought, node: IntArray) -> Tuples:
        packed = pack_tuples(parts.columns, self.leaves, self.blocks)
        return Tuples(packed, parts.units, parts.sensitive, node, parts.columns)

    def groups(self, node: IntArray, far: Rolled) -> Iterator[Grouping]:
        """Group tuples rolled up to a node elsewhere: all at once if they fit, otherwise some groups at a time."""
        for parts in [far.bring()] if far.fits else far.pieces():
            yield self.group(node, self._brought(parts, node))

    @property
    def _rolls_up(self) -> bool:
        """Whether rolled-up tables keep everything that the models need."""
        return len(self.keys) <= 1 and self.table.n_rows == self.table.n_sample

    def _roll_up(self, node: IntArray, grouping: Grouping) -> Tuples:
        if not self.keys:
            return grouping.tuples.take(grouping.first, grouping.sizes, {}, node)
        hist = self.stats(grouping).histogram(self.keys[0])
        return grouping.tuples.take(grouping.first[hist.groups], hist.units, {self.keys[0]: hist.values}, node)

    def stats(self, grouping: Grouping, some: IntArray | None = None) -> GroupStats:
        """Return the statistics of the groups, or of some of them, as models see them."""
        if self.table.n_rows > self.table.n_sample:
            stats = self.table.stats_of(grouping.group[self.of_row], len(grouping.sizes), self.keys)
            return stats if some is None else stats.take(some)
        tuples, group, sizes = grouping.tuples, grouping.group, grouping.sizes
        if some is not None and len(some) < len(sizes):
            number = np.full(len(sizes), -1, dtype=np.int32)
            number[some] = np.arange(len(some), dtype=np.int32)
            group, sizes = number[group], sizes[some]
        histograms = {}
        for key in self.keys:
            parts = tally(group, tuples.sensitive[key], tuples.units, len(sizes), self.table.attribute_size(key))
            histograms[key] = Histogram(*parts, self.table.unit)
        return GroupStats(sizes, self.table.unit, histograms)

    def cells(self, node: IntArray, grouping: Grouping) -> dict[str, IntArray]:
        """Return what each group publishes at a node, column by column."""
        leaves = grouping.tuples.columns[:, grouping.first]
        return {
            column.name: self.lut[self.starts[j, node[j]] + leaves[j]].astype(np.int64)
            for j, column in enumerate(self.table.quasi)
        }

    def stats_of(self, group: IntArray, n: int, kept: BoolArray) -> GroupStats:
        """Return the statistics of groups of the original tuples; -1 means no group, and groups may be empty.

        For tuples that are not kept, the sample's records are dropped; people of the population whom a group covers
        stay, no matter who is published.
        """
        if self.table.n_rows > self.table.n_sample:
            return self.table.stats_of(self.rows_of(group, kept), n, self.keys)
        tuples, unit = self.base, self.table.unit
        here = np.flatnonzero(kept & (group >= 0))
        units = np.zeros(n, dtype=np.int64)
        np.add.at(units, group[here], tuples.units[here])
        histograms = {
            key: Histogram.from_pairs(group[here], tuples.sensitive[key][here], tuples.units[here], n, unit)
            for key in self.keys
        }
        return GroupStats(units, unit, histograms)

    def units_by_leaf(self, grouping: Grouping, units: IntArray) -> IntArray:
        """Count some units of each group leaf by leaf, one column after the other.

        A group's units are all counted at the leaves of one of its tuples: a node does not distinguish them.
        """
        some = np.flatnonzero(units)
        return leaf_units(grouping.tuples.columns, grouping.first[some], units[some], self.leaves)

    def rows_of(self, group: IntArray, kept: BoolArray) -> IntArray:
        """Return the group of every row, given those of the tuples; -1 for records that are not kept."""
        stays = kept[self.of_row]
        stays[self.table.n_sample :] = True
        return np.where(stays, group[self.of_row], -1)


@dataclass(frozen=True)
class Tuples:
    """Distinct tuples with their weights, in canonical order.

    Attributes
    ----------
    packed : (T, blocks) integer array
        Leaf codes, several columns in one number; after rolling up, those of one leaf below each node.
    units : int64 array
    sensitive : mapping of Key to int64 array
        Codes of the sensitive columns: tuples are distinct in these too.
    levels : int64 array
        The levels that they were rolled up to.
    all_columns : (d, n) integer array
        Leaf codes of the original tuples, one row per column.
    rows : int64 array, optional
        The original tuple that each one represents, if they were rolled up.
    """

    packed: AnyArray
    units: IntArray
    sensitive: dict[Key, IntArray]
    levels: IntArray
    all_columns: AnyArray
    rows: IntArray | None = None

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def columns(self) -> AnyArray:
        """Leaf codes, one row per column."""
        return self.all_columns if self.rows is None else self.all_columns[:, self.rows]

    def cube(self, columns: Sequence[int], leaves: Sequence[int]) -> IntArray:
        """Count the leaves of up to three columns together."""
        return leaf_cube([self.columns[j] for j in columns], self.units, leaves)

    def take(self, index: IntArray, units: IntArray, sensitive: dict[Key, IntArray], levels: IntArray) -> Tuples:
        """Return some of the tuples, with different weights and at different levels."""
        rows = index if self.rows is None else self.rows[index]
        return Tuples(np.take(self.packed, index, axis=0), units, sensitive, levels, self.all_columns, rows)


@dataclass(frozen=True)
class Grouping:
    """The groups of one node.

    Attributes
    ----------
    tuples : Tuples
        What was grouped.
    group : integer array
        The group of each tuple.
    sizes : int64 array
        Units per group.
    first : int64 array
        One tuple of each group.
    """

    tuples: Tuples
    group: AnyArray
    sizes: IntArray
    first: IntArray
