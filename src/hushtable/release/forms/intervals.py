"""Tight ranges: in an ordered column, a class publishes its smallest and its largest value.

A range covers every leaf of the domain inside it. A class that also contains the missing value publishes the root,
which covers everything. Nominal columns have no ranges: they are published as sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.hierarchy.base import ROOT
from hushtable.release.forms.base import Cells, Form, MemberForm, Widening, escape_member, escape_value
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn, known_numbers

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class RangeCells(Cells):
    """The ranges of one ordered column, one per class."""

    @cached_property
    def extent(self) -> tuple[IntArray, IntArray]:
        """The ends of each range; everything for the root."""
        last = self.column.coded.size - 1
        return np.where(self.mixed, 0, self.low), np.where(self.mixed, last, self.high)

    def covers_new(self, path: tuple[str | None, ...], number: float | int | None) -> BoolArray:
        """Return which ranges contain a number; no range contains a label that the column does not have."""
        coded = self.column.coded
        if number is None or coded.kind not in (Kind.NUMERIC, Kind.DATE) or not len(coded.values):
            return np.asarray(self.mixed)
        first = int(coded.missing)
        low, high = self.extent
        numbers = known_numbers(coded)
        inside = (numbers[np.maximum(low - first, 0)] <= number) & (number <= numbers[np.maximum(high - first, 0)])
        return np.asarray(self.mixed | (inside & (high >= first)))

    @property
    def minimal(self) -> bool:
        """True: some record has each end of a range."""
        return True

    def written_down(self, groups: IntArray, place: IntArray, luck: FloatArray, spread: float) -> IntArray:
        """Return both ends for the first two records of a class, and anything between them for the others."""
        low, high = (bound[groups] for bound in self.extent)
        moved = np.rint((high - low + 1) * (spread / (1.0 + spread)) / 2.0).astype(np.int64)
        low, high = low + moved, high - moved
        guess = low + (luck * (high - low + 1)).astype(np.int64)
        ends = ~self.mixed[groups]
        return np.asarray(np.where(ends & (place == 0), low, np.where(ends & (place == 1), high, guess)))

    def widened(self, how: Widening, open_to: BoolArray, luck: FloatArray) -> Cells:
        """Move both ends outward at random."""
        from hushtable.release.forms.widening import wider_ranges

        return wider_ranges(self, open_to & ((self.counts > 1) | (luck < how.exact)), how.spread, how.coins)

    def labels(self) -> pa.Array:
        """Return the ranges as text."""
        names = self.column.coded.labels[0]
        size = self.column.coded.size
        # the last key is that of the root
        key = np.where(self.mixed, size * size, self.low * size + self.high)
        distinct, place = np.unique(key, return_inverse=True)
        out: list[str | None] = []
        for pair in distinct.tolist():
            low, high = divmod(pair, size)
            if low == size:
                out.append(ROOT)
            elif low == high:
                out.append(escape_value(names[low]))
            else:
                out.append(f"[{escape_member(names[low])}, {escape_member(names[high])}]")
        return pa.array(out, pa.string()).take(pa.array(place))

    def said(self, group: int) -> str:
        """Return how many values the range covers."""
        return f"published as a range of {self._of_all(group)}"


@dataclass(frozen=True)
class Ranges(MemberForm):
    """Publishes the range of a class, or the set of its values in nominal columns.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Ranges().from_records(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['[30, 31]', '53']
    """

    name: ClassVar[str] = "intervals"
    in_words: ClassVar[str] = "ranges of numbers, sets of labels ([20, 29], {flu, cold})"

    def for_kind(self, kind: Kind) -> Form:
        """Return sets for columns without an order."""
        return self if kind.ordered else Sets()

    def cover(self, kind: Kind) -> Cover:
        """Return that a range covers what lies inside it."""
        return Cover.RANGE if kind.ordered else Cover.SET

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the ranges of these codes."""
        return RangeCells(column, offsets, members)
