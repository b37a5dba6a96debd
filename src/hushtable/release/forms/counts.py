"""Counts: all rows of a class publish how often each value occurs in it: ``{clerk: 3, teacher: 2}``.

Numbers are counted in bins with a given number of significant digits, dates by day, month or year. A cell covers what
its bins cover. Counts make a release as useful as a sample of the original: values can be redrawn within every class
(``release.sample``), and the counts of each class stay exact.

Counts reveal more than sets: an adversary who knows everyone in a class except one person can infer that person's value
in every column. With sets, values that several people share would stay open.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, FloatArray, IntArray, joined_ranges
from hushtable.errors import DataError, IncompatibleError
from hushtable.models.base import Stat
from hushtable.params import AtLeast
from hushtable.release.forms.base import Cells, MemberForm, count_codes
from hushtable.release.forms.rounding import EXACT_DIGITS, LAST_DAY, number_text, significant_bins, whole_bins
from hushtable.release.forms.sets import RecordCells, SetCells
from hushtable.schema.columns import Cover, Kind, Missing
from hushtable.table.coded_columns import QuasiColumn, known_numbers, published_numbers

if TYPE_CHECKING:
    from hushtable.algorithms.base import Algorithm, Partition
    from hushtable.models.compose import AllOf
    from hushtable.release.forms.reading import Parts
    from hushtable.table.plan import ColumnPlan


def escape_counted(label: str | None) -> str:
    r"""Write a value before its count.

    Examples
    --------
    >>> print(escape_counted("a: b"), escape_counted("[x"), escape_counted(None))
    a\: b \[x null
    """
    if label is None:
        return "null"
    for sign in ("\\", ",", "{", "}", ":"):
        label = label.replace(sign, f"\\{sign}")
    return f"\\{label}" if label == "null" or label.startswith("[") else label


@dataclass(frozen=True)
class CountCells(RecordCells):
    """How often each value of one column occurs in each class.

    Attributes
    ----------
    digits : int
    dates : str
        As in ``Counts``.
    """

    digits: int = 2
    dates: str = "month"

    treatment: ClassVar[str] = "published as the counts of the class"

    @cached_property
    def _bins(self) -> tuple[IntArray, list[str]]:
        """The bin of every code, ascending with the codes, and the names of the bins."""
        coded = self.column.coded
        every = np.arange(coded.size, dtype=np.int64)
        if coded.kind not in (Kind.NUMERIC, Kind.DATE) or not len(coded.values) or self._each:
            return every, [escape_counted(label) for label in coded.labels[0]]
        low, high = self._edges()
        _, bin_of = np.unique(low, return_inverse=True)
        first = np.unique(low, return_index=True)[1]
        names = _bin_names(low[first], high[first], coded.kind, whole=self._whole)
        if coded.missing:
            return np.append(0, bin_of + 1), ["null", *names]
        return bin_of.astype(np.int64), names

    @property
    def _each(self) -> bool:
        """Whether every number is counted separately."""
        coded = self.column.coded
        if coded.kind is not Kind.NUMERIC:
            return False
        return not self.digits or (self.digits > EXACT_DIGITS and known_numbers(coded).dtype.kind == "f")

    def _edges(self) -> tuple[AnyArray, AnyArray]:
        coded = self.column.coded
        numbers = known_numbers(coded)
        if coded.kind is Kind.DATE:
            return _calendar(numbers, self.dates)
        if numbers.dtype.kind == "i" and max(abs(int(numbers[0])), abs(int(numbers[-1]))) >= 2**53:
            return whole_bins(numbers, self.digits)
        return significant_bins(numbers.astype(np.float64), self.digits, whole=self._whole)

    @property
    def _whole(self) -> bool:
        """Whether all published values are whole numbers, or days."""
        coded = self.column.coded
        return coded.kind is Kind.DATE or published_numbers(coded, self.members).dtype.kind == "i"

    @cached_property
    def counted(self) -> tuple[IntArray, IntArray, IntArray]:
        """The bins of each class in compressed rows, and the number of its records in each."""
        bin_of, names = self._bins
        owner = np.repeat(np.arange(len(self)), self.counts)
        key = owner * len(names) + bin_of[self.members]
        new = np.flatnonzero(np.diff(key, prepend=-1))
        offsets = np.searchsorted(owner[new], np.arange(len(self) + 1)).astype(np.int64)
        units = np.add.reduceat(self.units, new) if len(new) else np.empty(0, dtype=np.int64)
        return offsets, key[new] % max(len(names), 1), units

    @cached_property
    def stands_for(self) -> SetCells:
        """All leaves in the bins of each class."""
        bin_of, _ = self._bins
        offsets, bins, _ = self.counted
        start = np.searchsorted(bin_of, bins)
        lengths = np.searchsorted(bin_of, bins, side="right") - start
        total = np.concatenate([[0], np.cumsum(lengths)])
        return SetCells(self.column, total[offsets].astype(np.int64), joined_ranges(start, lengths))

    def expected(self, weights: IntArray) -> FloatArray:
        """Return the mean weight of a record of each class: every bin has its count, spread evenly."""
        bin_of, names = self._bins
        leaves = np.bincount(bin_of, minlength=len(names))
        share = np.bincount(bin_of, weights=weights, minlength=len(names)) / np.maximum(leaves, 1)
        return self._mean(share)

    def _mean(self, of_bin: FloatArray) -> FloatArray:
        """For each class, the mean value of its records' bins."""
        offsets, bins, units = self.counted
        total = np.concatenate([[0.0], np.cumsum(of_bin[bins] * units)])
        records = np.concatenate([[0], np.cumsum(units)])
        size = np.maximum(records[offsets[1:]] - records[offsets[:-1]], 1)
        return np.asarray((total[offsets[1:]] - total[offsets[:-1]]) / size)

    def shares_leaf(self, a: int, b: int) -> bool:
        """Whether two classes have a bin in common."""
        return self.stands_for.shares_leaf(a, b)

    def representatives(self, numbers: FloatArray) -> FloatArray:
        """Return the mean that the counts give: every record in the middle of its bin; NaN without any value."""
        bin_of, names = self._bins
        first = int(self.column.coded.missing)
        start = np.searchsorted(bin_of, np.arange(len(names)))
        end = np.searchsorted(bin_of, np.arange(len(names)), side="right") - 1
        middle = numbers[start] / 2 + numbers[end] / 2
        known = np.ones(len(names))
        known[:first] = 0.0
        share = self._mean(known)
        mean = self._mean(np.where(known > 0, np.nan_to_num(middle), 0.0))
        return np.where(share > 0, mean / np.where(share > 0, share, 1.0), np.nan)

    def nearness(self, codes: IntArray) -> FloatArray:
        """Return the share of each class's records that have each code."""
        size = self.column.coded.size
        return np.stack([self.expected((np.arange(size) == code).astype(np.int64)) for code in codes.tolist()])

    @property
    def minimal(self) -> bool:
        """True: the counts say how many people have each value."""
        return True

    def written_down(self, groups: IntArray, place: IntArray, luck: FloatArray, spread: float) -> IntArray:
        """Return the values of a class, each repeated by its count."""
        bin_of, _ = self._bins
        offsets, bins, units = self.counted
        upto = np.cumsum(units)
        before = np.concatenate([[0], upto])[offsets[:-1]]
        size = np.concatenate([[0], upto])[offsets[1:]] - before
        wanted = before[groups] + place % np.maximum(size[groups], 1)
        found = bins[np.minimum(np.searchsorted(upto, wanted, side="right"), max(len(bins) - 1, 0))]
        start = np.searchsorted(bin_of, found)
        leaves = np.searchsorted(bin_of, found, side="right") - start
        return np.asarray(start + (luck * leaves).astype(np.int64))

    def labels(self) -> pa.Array:
        """Return the counts as text."""
        _, names = self._bins
        offsets, bins, units = self.counted
        each = pc.binary_join_element_wise(
            pa.array(names, pa.string()).take(pa.array(bins)), pa.array(units).cast(pa.string()), ": "
        )
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), each), ", ")
        return pc.binary_join_element_wise("{", joined, "}", "")

    def said(self, group: int) -> str:
        """Return how many values are counted."""
        return f"published as how often each of {self._of_all(group)} occurs in its class"


@dataclass(frozen=True)
class Counts(MemberForm):
    """Publishes how often each value occurs in a class.

    Parameters
    ----------
    digits : int
        Numbers are counted in bins with this many significant digits; 0 counts every number separately.
    dates : {"day", "month", "year"}
        Unit of dates.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> rows, offsets = np.array([0, 1, 3]), np.array([0, 2, 3])
    >>> Counts(digits=1).from_records(age, rows, offsets).labels().to_pylist()
    ['{[30, 40): 2}', '{[50, 60): 1}']
    >>> Counts().from_records(age, rows, offsets).labels().to_pylist()
    ['{30: 1, 31: 1}', '{53: 1}']
    """

    digits: Annotated[int, AtLeast(0), "significant digits of the bins for numbers; 0 for exact numbers"] = 2
    dates: Annotated[Literal["day", "month", "year"], "unit of dates"] = "month"

    name: ClassVar[str] = "counts"
    in_words: ClassVar[str] = "how often each value occurs in the class ({clerk: 3, teacher: 2})"
    own_records: ClassVar[bool] = True
    by_members: ClassVar[bool] = False
    can_widen: ClassVar[bool] = False
    any_groups: ClassVar[bool] = True
    counts_records: ClassVar[bool] = True

    def cover(self, kind: Kind) -> Cover:
        """Return that counts cover the values in their bins."""
        return Cover.SET

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the counts of classes that have each of these codes once."""
        return CountCells(column, offsets, members, np.ones(len(members), dtype=np.int64), self.digits, self.dates)

    def from_records(
        self, column: QuasiColumn, rows: AnyArray, offsets: IntArray, partition: Partition | None = None
    ) -> Cells:
        """Return the counts of the classes' records."""
        return CountCells(column, *count_codes(column, rows, offsets), self.digits, self.dates)

    def split(self, cells: pa.Array, column: ColumnPlan) -> Parts:
        """Return the bins and their counts."""
        from hushtable.release.forms.reading import split_counts

        return split_counts(cells, column.name)

    def check_published(self, cells: pa.Array, sizes: IntArray, column: ColumnPlan) -> None:
        """Refuse counts that do not sum to the number of rows of their class."""
        parts = self.split(cells, column)
        counted = np.add.reduceat(parts.weights, parts.offsets[:-1]) if len(cells) else parts.weights
        wrong = int(np.count_nonzero(counted != sizes))
        if wrong:
            raise DataError(
                f"The counts of column {column.name!r} do not match their classes: {wrong:,} of {len(sizes):,} "
                "classes have a different number of rows.",
                code="changed-cells",
                hint="The file was changed after it was published: ask for the original release.",
            )

    def check(self, algorithm: Algorithm, model: AllOf, missing: Missing) -> None:
        """Refuse counterfeits, people outside the table, and empty cells that may stand for any value."""
        if algorithm.keeps_signatures:
            raise IncompatibleError(
                f"{algorithm.name} may add counterfeits, and counts of a class would reveal how many.",
                hint="Choose 'cells: regions', or another algorithm.",
            )
        for member in model.members:
            if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
                raise IncompatibleError(
                    f"{member.name} counts people outside the table, which counts of a class do not cover.",
                    hint="Choose 'cells: regions', or another model.",
                )
        if missing is Missing.WILDCARD:
            raise IncompatibleError(
                "With 'missing: wildcard', an empty cell may be any value, but counts have no such cell.",
                hint="Write 'missing: own_category', or choose 'cells: regions'.",
            )


def _bin_names(low: AnyArray, high: AnyArray, kind: Kind, *, whole: bool) -> list[str]:
    """Name a bin with a single number or day after it."""
    last = LAST_DAY if kind is Kind.DATE else sys.float_info.max
    # a bin that reaches beyond all dates, or all floats, ends with the last of them
    ends = zip(
        number_text(np.maximum(low, -sys.float_info.max).tolist(), kind),
        number_text(np.minimum(high, last).tolist(), kind),
        (high > last).tolist(),
        (high - low).tolist(),
        strict=True,
    )
    return [
        a if width == 0 or (whole and width == 1) else f"[{a}, {b}]" if beyond else f"[{a}, {b})"
        for a, b, beyond, width in ends
    ]


def _calendar(days: AnyArray, unit: str) -> tuple[FloatArray, FloatArray]:
    """The first day of each day's month or year, and of the next."""
    if unit == "day":
        return days.astype(np.float64), days.astype(np.float64) + 1
    code = {"month": "M", "year": "Y"}[unit]
    whole = days.astype("datetime64[D]").astype(f"datetime64[{code}]")
    return tuple(d.astype("datetime64[D]").astype(np.float64) for d in (whole, whole + 1))  # type: ignore[return-value]
