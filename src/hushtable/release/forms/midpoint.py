"""Midpoints: in a numeric column, a class publishes the middle of its range as a number.

A midpoint does not show its range. For measures, and for models that count a population, it counts as its range, which
is never more people than an adversary has to consider. Columns of other kinds are published as ranges and sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.release.forms.base import Cells, Form, MemberForm, Points
from hushtable.release.forms.intervals import RangeCells, Ranges
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn, published_numbers

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class MidpointCells(RangeCells):
    """The midpoints of one column of numbers, one per class."""

    tells_bounds: ClassVar[bool] = False

    @property
    def points(self) -> Points:
        """The midpoints."""
        shown = self.labels()
        numbers = np.asarray(shown.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.float64)
        return Points(numbers, None, np.asarray(shown.is_null()))

    @property
    def bounded(self) -> Cells:
        """The ranges of these midpoints."""
        return RangeCells(self.column, self.offsets, self.members)

    def labels(self) -> pa.Array:
        """Return the middle of each range; null for classes with missing values."""
        coded = self.column.coded
        shift = int(coded.missing)
        values = published_numbers(coded, self.members)
        hidden = self.with_gap
        low = values[np.where(hidden, 0, self.low - shift)] if len(values) else np.zeros(len(self))
        high = values[np.where(hidden, 0, self.high - shift)] if len(values) else np.zeros(len(self))
        if values.dtype.kind == "i" and np.array_equal(low, high):
            return pa.array(low, mask=hidden)
        return pa.array(low / 2 + high / 2, mask=hidden)

    def said(self, group: int) -> str:
        """Return how many values the range covers."""
        return f"published as the middle of a range of {self._of_all(group)}"


@dataclass(frozen=True)
class Midpoint(MemberForm):
    """Publishes the middle of a class's range as a number.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Midpoint().from_records(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    [30.5, 53.0]
    """

    name: ClassVar[str] = "midpoint"
    in_words: ClassVar[str] = "the middle of a range as a number"
    # whether midpoints are whole numbers depends on all of them
    needs_all: ClassVar[bool] = True
    can_widen: ClassVar[bool] = False

    def for_kind(self, kind: Kind) -> Form:
        """Return ranges and sets for columns that are not numbers."""
        return self if kind is Kind.NUMERIC else Ranges().for_kind(kind)

    def cover(self, kind: Kind) -> Cover:
        """Return what the range covers."""
        return Ranges().cover(kind)

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the midpoints of the ranges of these codes."""
        return MidpointCells(column, offsets, members)
