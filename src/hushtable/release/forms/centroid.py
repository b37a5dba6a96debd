"""Centroids: one representative record for each group, in the column's own type.

Numbers are published as their mean, dates as their mean day (rounded down), ordinal labels as their lower median and
nominal ones as their mode (the first in code order if there are several). A missing value is replaced by the
representative of the others; only a group without any value publishes none.

Sums run over distinct values in ascending order, exactly for integers, so that a mean does not depend on the order of
the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, summed
from hushtable.kernels.grouping import group_rows
from hushtable.release.forms.base import Cells, Form, Points, count_codes, escape_value
from hushtable.release.forms.intervals import RangeCells
from hushtable.release.forms.sets import RecordCells, SetCells
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn, known_numbers, published_numbers

if TYPE_CHECKING:
    from hushtable.algorithms.base import Partition


@dataclass(frozen=True)
class CentroidCells(RecordCells):
    """The representatives of one column, one per group.

    For measures of spread, a representative counts as the range (in a nominal column, the set) of the values it stands
    for; measures of distance use ``representatives``.

    Attributes
    ----------
    whole_numbers : bool
        Whether means of integers are rounded to integers (halves to even).
    """

    whole_numbers: bool = False

    tells_bounds: ClassVar[bool] = False
    treatment: ClassVar[str] = "replaced by a representative of the class"

    @cached_property
    def stands_for(self) -> Cells:
        """The range of the values; their set if they are labels without an order."""
        shape = RangeCells if self.column.coded.kind.ordered else SetCells
        return shape(self.column, self.offsets, self.members)

    def nearness(self, codes: IntArray) -> FloatArray:
        """Return 1 if a representative is the value itself."""
        return np.asarray(self.middle[None, :] == codes[:, None], dtype=np.float64)

    @property
    def points(self) -> Points:
        """The representatives."""
        if self.column.coded.kind in (Kind.NUMERIC, Kind.DATE):
            return Points(self.means.astype(np.float64), None, self.hidden)
        return Points(None, self.middle, self.hidden)

    @cached_property
    def _member_values(self) -> tuple[IntArray, IntArray, IntArray]:
        """Owner, code and count of each distinct known value of a group."""
        owner = np.repeat(np.arange(len(self)), self.counts)
        keep = self.members >= int(self.column.coded.missing)
        return owner[keep], self.members[keep], self.units[keep]

    @cached_property
    def records(self) -> IntArray:
        """Number of records of each group that have a value."""
        owner, _, units = self._member_values
        return summed(units, owner, len(self))

    @property
    def hidden(self) -> BoolArray:
        """Which groups have no value to publish."""
        return np.asarray(self.records == 0)

    @cached_property
    def middle(self) -> IntArray:
        """The code of the lower median (ordered columns) or of the mode; 0 if there is none."""
        owner, codes, units = self._member_values
        out = np.zeros(len(self), dtype=np.int64)
        if not len(codes):
            return out
        if self.column.coded.kind.ordered:
            below = np.cumsum(units) - units
            first = np.concatenate([[0], np.cumsum(self.records)[:-1]])[owner]
            wanted = (self.records[owner] - 1) // 2 + first
            chosen = (below <= wanted) & (wanted < below + units)
        else:
            # among equal counts, the lowest code comes first, and the first of a group is taken
            order = np.lexsort((codes, -units, owner))
            owner, codes = owner[order], codes[order]
            chosen = np.concatenate([[True], owner[1:] != owner[:-1]])
        out[owner[chosen]] = codes[chosen]
        return out

    @cached_property
    def means(self) -> AnyArray:
        """The mean of each group, as published: integers if all of them are, otherwise floats; 0 if there is none."""
        owner, codes, units = self._member_values
        coded = self.column.coded
        values = published_numbers(coded, codes)[codes - int(coded.missing)]
        n = np.maximum(self.records, 1)
        if values.dtype.kind == "f":
            return _float_means(values, units, owner, n)
        quotient, remainder = _exact_means(values.astype(np.int64), units, owner, n)
        if coded.kind is Kind.DATE:
            return quotient
        if self.whole_numbers:
            up = (2 * remainder > n) | ((2 * remainder == n) & (quotient % 2 != 0))
            return np.asarray(quotient + up)
        if not remainder.any():
            return quotient
        return np.asarray(quotient + remainder / n)

    def labels(self) -> pa.Array:
        """The published representatives, in the column's type."""
        kind = self.column.coded.kind
        if kind is Kind.NUMERIC:
            return pa.array(self.means, mask=self.hidden)
        if kind is Kind.DATE:
            return pa.array(self.means.astype(np.int32), mask=self.hidden).cast(pa.date32())
        names = [escape_value(label) for label in self.column.coded.labels[0]]
        chosen = zip(self.middle.tolist(), self.hidden.tolist(), strict=True)
        return pa.array([None if hidden else names[code] for code, hidden in chosen], pa.string())

    def said(self, group: int) -> str:
        """Return a description of the representative."""
        names = {Kind.NUMERIC: "mean", Kind.DATE: "mean day", Kind.ORDINAL: "median"}
        return f"replaced by the {names.get(self.column.coded.kind, 'most frequent value')} of its class"

    def is_exact(self, group: int) -> bool:
        """Whether a class has one value."""
        return bool(self.counts[group] <= 1)

    def finer(self, group: int) -> int | None:
        """Return the height of the lowest node above labels without an order."""
        return None if self.column.coded.kind.ordered else max(int(self.height[group]), 1)

    def representatives(self, numbers: FloatArray) -> FloatArray:
        """Return each representative on another scale, given the number of every code on it; NaN if there is none.

        The scale is assumed to be linear between two codes, like those of measures.
        """
        coded = self.column.coded
        if coded.kind in (Kind.NUMERIC, Kind.DATE) and len(coded.values):
            known = known_numbers(coded).astype(np.float64)
            found = np.interp(self.means.astype(np.float64), known, numbers[int(coded.missing) :])
        else:
            found = numbers[self.middle]
        return np.where(self.hidden, np.nan, found)


@dataclass(frozen=True)
class Centroid(Form):
    """Publishes the mean, the median or the most frequent value of a class.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Centroid().from_records(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    [30.5, 53.0]
    """

    name: ClassVar[str] = "centroid"
    in_words: ClassVar[str] = "the mean of a class, or its most frequent value"
    follows: ClassVar[str] = "centroid"
    own_records: ClassVar[bool] = True
    by_members: ClassVar[bool] = False
    needs_all: ClassVar[bool] = True
    can_widen: ClassVar[bool] = False

    def cover(self, kind: Kind) -> Cover:
        """Return what a representative stands for."""
        return Cover.RANGE if kind.ordered else Cover.SET

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the representatives of classes that have each of these codes once."""
        return CentroidCells(column, offsets, members, np.ones(len(members), dtype=np.int64))

    def from_records(
        self, column: QuasiColumn, rows: AnyArray, offsets: IntArray, partition: Partition | None = None
    ) -> Cells:
        """Return the representatives; the algorithm may require whole numbers."""
        whole = partition is not None and partition.whole_numbers
        if partition is None or partition.by_column is None:
            return CentroidCells(column, *count_codes(column, rows, offsets), whole)
        own = partition.by_column[column.name]
        members, ends = group_rows(own, int(own.max(initial=-1)) + 1)
        cells = CentroidCells(column, *count_codes(column, members, ends), whole)
        return cells.take(own[rows[offsets[:-1]]])


def _float_means(values: FloatArray, units: IntArray, owner: IntArray, n: IntArray) -> FloatArray:
    """Weighted means; the terms are added in the order given, which is that of the values."""
    mean: FloatArray = np.zeros(len(n))
    np.add.at(mean, owner, values * (units / n[owner]))
    low, high = np.full(len(n), np.inf), np.full(len(n), -np.inf)
    np.minimum.at(low, owner, values)
    np.maximum.at(high, owner, values)
    filled = low <= high
    # rounding must stay within the group's range; adding 0 turns -0.0, a different cell in a file, into 0.0
    mean[filled] = np.clip(mean[filled], low[filled], high[filled]) + 0.0
    return mean


def _exact_means(values: IntArray, units: IntArray, owner: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
    """Return floor(sum / n) and sum mod n, without overflow: halves of 32 bits are summed separately."""
    low = summed((values & 0xFFFFFFFF) * units, owner, len(n))
    high = summed((values >> 32) * units, owner, len(n))
    # sum = high * 2^32 + low; long division by n, 16 bits at a time
    quotient, remainder = np.divmod(high, n)
    carried, low_rest = np.divmod(low, n)
    for _ in range(2):
        digit, remainder = np.divmod(remainder << 16, n)
        quotient = (quotient << 16) + digit
    extra, remainder = np.divmod(remainder + low_rest, n)
    return quotient + carried + extra, remainder
