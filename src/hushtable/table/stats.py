"""GroupStats and Histogram: what a privacy model may know about groups of records.

A struct of arrays with one entry per group: people, sparse histograms of sensitive columns, people of the
population table. It is additive: taking a subset, merging and concatenating groups are array operations, so a
lattice rolls up, a partition splits, a cluster grows and Spark reduces with the same object.

Counts are kept as integers in units of ``1 / unit`` of a person, so that sums do not depend on their order.
Without an entity column ``unit`` is 1 and a unit is a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hushtable.arrays import FloatArray, IntArray, run_starts

Key: TypeAlias = tuple[str, ...]
"""The name of a histogram: one sensitive column, or several taken jointly."""


@dataclass(frozen=True)
class Histogram:
    """Sparse counts of one coded column, group by group (compressed rows).

    Attributes
    ----------
    offsets : int64 array of length G + 1
        Entries ``offsets[g]:offsets[g + 1]`` belong to group ``g``.
    values : int64 array
        Codes, ascending within a group.
    units : int64 array
        Positive counts, in units.
    unit : int
        Units per person.

    Examples
    --------
    >>> h = Histogram.dense([[2, 0, 1], [0, 3, 0]])
    >>> h.distinct().tolist()
    [2, 1]
    >>> h.max(h.counts).tolist()
    [2.0, 3.0]
    """

    offsets: IntArray
    values: IntArray
    units: IntArray
    unit: int = 1

    @classmethod
    def dense(cls, counts: npt.ArrayLike) -> Histogram:
        """Build from a groups x values matrix of whole counts."""
        matrix = np.asarray(counts, dtype=np.int64)
        groups, values = np.nonzero(matrix)
        offsets = np.searchsorted(groups, np.arange(len(matrix) + 1)).astype(np.int64)
        return cls(offsets, values.astype(np.int64), matrix[groups, values])

    @classmethod
    def from_pairs(cls, groups: IntArray, values: IntArray, units: IntArray, n_groups: int, unit: int = 1) -> Histogram:
        """Build from unsorted (group, value, units) triples; equal pairs add up, zeros disappear."""
        order = np.lexsort((values, groups))
        g, v, total = groups[order], values[order], units[order]
        new = run_starts(g, v)
        if not new.all():
            starts = new.nonzero()[0]
            g, v, total = g[starts], v[starts], np.add.reduceat(total, starts)
        keep = total > 0
        if not keep.all():
            g, v, total = g[keep], v[keep], total[keep]
        offsets = g.searchsorted(np.arange(n_groups + 1)).astype(np.int64, copy=False)
        return cls(offsets, v.astype(np.int64, copy=False), total.astype(np.int64, copy=False), unit)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> FloatArray:
        """People per entry."""
        return self.units / self.unit

    @cached_property
    def lengths(self) -> IntArray:
        """Entries per group."""
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def _filled(self) -> bool:
        """Whether there are groups, and each has entries."""
        return len(self) > 0 and bool(self.lengths.all())

    @cached_property
    def groups(self) -> IntArray:
        """The group of every entry."""
        return np.arange(len(self), dtype=np.int64).repeat(self.lengths)

    def distinct(self) -> IntArray:
        """Number of distinct values in each group."""
        return self.lengths

    def totals(self) -> FloatArray:
        """People per group, over all its values."""
        return self.sum(self.units) / self.unit

    def sum(self, entries: npt.NDArray[np.generic]) -> FloatArray:
        """Sum one number per entry within each group (0 for an empty group)."""
        return self._reduce(np.add, entries, 0.0)

    def max(self, entries: npt.NDArray[np.generic], empty: float = 0.0) -> FloatArray:
        """Return the largest of the entries' numbers in each group."""
        return self._reduce(np.maximum, entries, empty)

    def min(self, entries: npt.NDArray[np.generic], empty: float = 0.0) -> FloatArray:
        """Return the smallest of the entries' numbers in each group."""
        return self._reduce(np.minimum, entries, empty)

    def _reduce(self, ufunc: np.ufunc, entries: npt.NDArray[np.generic], empty: float) -> FloatArray:
        if self._filled:
            return np.asarray(ufunc.reduceat(entries, self.offsets[:-1]), dtype=np.float64)
        filled = self.lengths > 0
        out = np.full(len(self), empty, dtype=np.float64)
        if filled.any():
            out[filled] = ufunc.reduceat(entries, self.offsets[:-1][filled])
        return out

    def shares(self) -> FloatArray:
        """Each entry's share of its group, as one division of whole numbers.

        The whole table's shares come from the same division, so that the whole table as one group has exactly its
        shares.

        Examples
        --------
        >>> Histogram.dense([[1, 3], [0, 2]]).shares().tolist()
        [0.25, 0.75, 1.0]
        """
        return np.asarray(self.units / np.repeat(self.sum(self.units), self.lengths))

    def descending(self) -> IntArray:
        """Return the order of the entries by group, then from the most to the least frequent."""
        return np.lexsort((self.values, -self.units, self.groups))

    def ranks(self) -> IntArray:
        """Each entry's place within its group, in storage order: 0, 1, 2, ..."""
        return np.arange(len(self.values), dtype=np.int64) - np.repeat(self.offsets[:-1], self.lengths)

    def as_matrix(self, n_values: int) -> FloatArray:
        """People as a groups x values matrix (small value domains only)."""
        matrix = np.zeros((len(self), n_values))
        matrix[self.groups, self.values] = self.counts
        return matrix

    def take(self, groups: IntArray) -> Histogram:
        """Return the histograms of these groups, in this order."""
        lengths = self.lengths[groups]
        offsets = _offsets(lengths)
        index = (self.offsets[:-1][groups] - offsets[:-1]).repeat(lengths)
        index += np.arange(len(index))
        return Histogram(offsets, self.values[index], self.units[index], self.unit)

    def merge(self, labels: IntArray, n_groups: int) -> Histogram:
        """Add up groups that have the same label; label -1 drops a group."""
        owner = labels[self.groups]
        keep = owner >= 0
        if keep.all():
            return Histogram.from_pairs(owner, self.values, self.units, n_groups, self.unit)
        return Histogram.from_pairs(owner[keep], self.values[keep], self.units[keep], n_groups, self.unit)

    def relabel(self, codes: IntArray) -> Histogram:
        """Map every value through ``codes`` (value -> its category) and add up."""
        return Histogram.from_pairs(self.groups, codes[self.values], self.units, len(self), self.unit)

    @staticmethod
    def concat(parts: Sequence[Histogram]) -> Histogram:
        """Return the groups of all parts, one after the other."""
        lengths = np.concatenate([p.lengths for p in parts])
        return Histogram(
            _offsets(lengths),
            np.concatenate([p.values for p in parts]),
            np.concatenate([p.units for p in parts]),
            parts[0].unit,
        )


@dataclass(frozen=True)
class GroupStats:
    """Statistics of G groups.

    Attributes
    ----------
    units : int64 array
        Size of each group, in units; see ``sizes`` for people.
    unit : int
        Units per person.
    histograms : mapping of Key to Histogram
        The sensitive columns that the models use.
    population : int64 array, optional
        People of the population table in each group.
    background : Histogram, optional
        An adversary's prior mass per (quasi-identifier, sensitive value), as ``q * S + s``; its ``unit`` makes
        the whole mass 1.
    cells : mapping of str to int64 array, optional
        What each group publishes in every quasi-identifier: equal numbers stand for equal cells. Given only if a model
        uses it and the cells are known.
    tables : int64 array, optional
        If the groups belong to several candidate tables: groups ``tables[t]:tables[t + 1]`` form the t-th.

    Examples
    --------
    >>> g = GroupStats.of(sizes=[3, 3], disease=[[2, 1, 0], [0, 0, 3]])
    >>> g.sizes.tolist()
    [3.0, 3.0]
    >>> g.merge(np.array([0, 0]), 1).histogram(("disease",)).counts.tolist()
    [2.0, 1.0, 3.0]
    """

    units: IntArray
    unit: int = 1
    histograms: Mapping[Key, Histogram] = field(default_factory=dict)
    population: IntArray | None = None
    background: Histogram | None = None
    tables: IntArray | None = None
    cells: Mapping[str, IntArray] | None = None

    @classmethod
    def of(cls, sizes: npt.ArrayLike, **histograms: npt.ArrayLike) -> GroupStats:
        """Build from plain arrays: whole sizes, and a dense counts matrix per column (for tests and examples)."""
        return cls(
            np.asarray(sizes, dtype=np.int64),
            histograms={(name,): Histogram.dense(m) for name, m in histograms.items()},
        )

    def __len__(self) -> int:
        return len(self.units)

    @property
    def sizes(self) -> FloatArray:
        """People in each group. With an entity column, a person's rows weigh 1 together."""
        return self.units / self.unit

    def histogram(self, key: Key) -> Histogram:
        """Return the histogram of one sensitive (or joint) column."""
        return self.histograms[key]

    def table_offsets(self) -> IntArray:
        """Return where each candidate table's groups begin and end. Defaults to one table."""
        if self.tables is not None:
            return self.tables
        return np.array([0, len(self)], dtype=np.int64)

    def take(self, groups: npt.ArrayLike) -> GroupStats:
        """Return these groups, in this order, as one table."""
        index = np.asarray(groups)
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        index = index.astype(np.int64, copy=False)
        if self.tables is None and len(index) == len(self) and bool((index == np.arange(len(self))).all()):
            return self
        return GroupStats(
            units=self.units[index],
            unit=self.unit,
            histograms={k: h.take(index) for k, h in self.histograms.items()},
            population=None if self.population is None else self.population[index],
            background=None if self.background is None else self.background.take(index),
            cells=None if self.cells is None else {name: codes[index] for name, codes in self.cells.items()},
        )

    def merge(self, labels: npt.ArrayLike, n_groups: int) -> GroupStats:
        """Add up the groups that have the same label; label -1 drops a group. The cells of the unions are unknown."""
        owner = np.asarray(labels, dtype=np.int64)
        return GroupStats(
            units=_add_up(self.units, owner, n_groups),
            unit=self.unit,
            histograms={k: h.merge(owner, n_groups) for k, h in self.histograms.items()},
            population=None if self.population is None else _add_up(self.population, owner, n_groups),
            background=None if self.background is None else self.background.merge(owner, n_groups),
        )

    def whole(self) -> GroupStats:
        """All groups as one."""
        return self.merge(np.zeros(len(self), dtype=np.int64), 1)

    @staticmethod
    def concat(parts: Sequence[GroupStats]) -> GroupStats:
        """Return the groups of all parts as one table."""
        first = parts[0]
        return GroupStats(
            units=np.concatenate([p.units for p in parts]),
            unit=first.unit,
            histograms={k: Histogram.concat([p.histograms[k] for p in parts]) for k in first.histograms},
            population=_concat([p.population for p in parts]),
            background=None
            if first.background is None
            else Histogram.concat([p.background for p in parts if p.background is not None]),
        )

    def with_one_more(self, key: Key, value: IntArray) -> GroupStats:
        """Return the groups with one more person each, who has ``value[g]`` in column ``key``.

        Other histograms stay unchanged: the caller uses only ``key``.
        """
        h = self.histograms[key]
        grown = Histogram.from_pairs(
            np.concatenate([h.groups, np.arange(len(self), dtype=np.int64)]),
            np.concatenate([h.values, value]),
            np.concatenate([h.units, np.full(len(self), h.unit, dtype=np.int64)]),
            len(self),
            h.unit,
        )
        return replace(self, units=self.units + self.unit, histograms={**self.histograms, key: grown})


def _offsets(lengths: IntArray) -> IntArray:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=offsets[1:])
    return offsets


def _add_up(units: IntArray, owner: IntArray, n_groups: int) -> IntArray:
    total = np.zeros(n_groups, dtype=np.int64)
    keep = owner >= 0
    np.add.at(total, owner[keep], units[keep])
    return total


def _concat(parts: Sequence[IntArray | None]) -> IntArray | None:
    arrays = [p for p in parts if p is not None]
    return np.concatenate(arrays) if arrays else None
