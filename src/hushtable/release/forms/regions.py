"""Round regions: space is divided between the classes at round numbers, and a class publishes its part.

A tight range reveals two people's values: its ends. Regions reveal nobody's. Wherever a cut can pass between all
classes of a part of the space, it is made at the roundest number between their values, and both sides share this bound.
The regions of classes that cuts can separate tile the whole space, and every new record falls into one of them. Open
ends are ``< 20`` and ``>= 80``; if a column was not cut, the cell is ``*``.

Classes that no cut can separate, such as overlapping clusters, share no bound. Their own bounds are moved outward to
round numbers, by less than a quarter of their width.

Cuts are derived from the classes themselves, whatever algorithm made them, so a region depends on the published records
alone. Columns of other kinds are published as ranges and sets; integers beyond 2**53, which are not measurements, as
tight ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.hierarchy.base import ROOT
from hushtable.kernels.separate import separate
from hushtable.release.forms.base import Cells, Form, MemberForm, count_codes
from hushtable.release.forms.rounding import FIRST_DAY, LAST_DAY, number_text, round_between
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn, known_numbers

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    from hushtable.algorithms.base import Partition

LARGEST = 2.0**53
"""Whole numbers up to here are exact as floats."""


@dataclass(frozen=True)
class RegionCells(Cells):
    """The regions of one column of numbers or dates, one per class.

    Attributes
    ----------
    floors, ceilings : float arrays
        The bounds of each region, the lower one inclusive; infinite if it is open. Days for dates.
    """

    floors: FloatArray = field(default_factory=lambda: np.empty(0))
    ceilings: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def _only_gap(self) -> BoolArray:
        return self.with_gap & ~self.mixed

    @cached_property
    def _everything(self) -> BoolArray:
        """Which cells are ``*``: classes that were not cut, or that mix missing values with others."""
        return np.asarray(self.mixed | (np.isinf(self.floors) & np.isinf(self.ceilings) & ~self.with_gap))

    @cached_property
    def extent(self) -> tuple[IntArray, IntArray]:
        """The leaves inside each region; ``*`` includes the missing value, which it does not exclude."""
        coded = self.column.coded
        first, last = int(coded.missing), coded.size - 1
        numbers = known_numbers(coded).astype(np.float64)
        low = np.searchsorted(numbers, self.floors) + first
        high = np.where(
            np.isinf(self.ceilings) & (self.ceilings > 0), last, np.searchsorted(numbers, self.ceilings) - 1 + first
        )
        low, high = np.where(self._everything, 0, low), np.where(self._everything, last, high)
        return np.where(self._only_gap, 0, low), np.where(self._only_gap, 0, high)

    def covers_new(self, path: tuple[str | None, ...], number: float | int | None) -> BoolArray:
        """Return which regions a number falls into."""
        if number is None:
            return self._everything
        inside = (self.floors <= number) & ((number < self.ceilings) | (self.ceilings == np.inf))
        return np.asarray(self.mixed | (inside & ~self.with_gap))

    def _taken(self, groups: IntArray, at: IntArray) -> dict[str, Any]:
        return {"floors": self.floors[groups], "ceilings": self.ceilings[groups]}

    def labels(self) -> pa.Array:
        """Return the regions as text."""
        kind = self.column.coded.kind
        pairs, place = np.unique(np.column_stack([self.floors, self.ceilings]), axis=0, return_inverse=True)
        names = [
            f"[{low}, {high})" if low and high else f"< {high}" if high else f">= {low}" if low else ROOT
            for low, high in zip(*(_texts(bound, kind) for bound in pairs.T), strict=True)
        ]
        texts = pa.array([*names, ROOT, None], pa.string())
        index = np.where(self.mixed, len(names), np.where(self._only_gap, len(names) + 1, place.reshape(-1)))
        return texts.take(pa.array(index))

    def said(self, group: int) -> str:
        """Return how many values the region covers."""
        return f"published as a region of {self._of_all(group)}"


@dataclass(frozen=True)
class Regions(MemberForm):
    """Publishes regions with round bounds that reveal nobody's value; ranges and sets of labels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> ages = pa.table({"age": [21, 22, 24, 37, 38, 39]})
    >>> policy = ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=3)], cells="regions")
    >>> sorted(set(ht.anonymize(ages, policy).table.column("age").to_pylist()))
    ['< 30', '>= 30']
    """

    name: ClassVar[str] = "regions"
    in_words: ClassVar[str] = "regions with round bounds, sets of labels ([20, 30), >= 80, {flu, cold})"
    instead_of: ClassVar[str] = "intervals"
    answers: ClassVar[str] = "downcoding"
    # bounds lie between the values of adjacent classes
    needs_all: ClassVar[bool] = True

    def for_kind(self, kind: Kind) -> Form:
        """Return ranges and sets for columns that are neither numbers nor dates."""
        if kind in (Kind.NUMERIC, Kind.DATE):
            return self
        from hushtable.release.forms.intervals import Ranges

        return Ranges().for_kind(kind)

    def cover(self, kind: Kind) -> Cover:
        """Return that a region covers what lies inside it."""
        return Cover.RANGE if kind.ordered else Cover.SET

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return regions with bounds moved outward, since the neighbors are not known yet."""
        if _beyond(column, members):
            return self._tight(column, offsets, members)
        plain = RegionCells(column, offsets, members)
        floors, ceilings = _outwards(plain, np.arange(len(plain)))
        return replace(plain, floors=floors, ceilings=ceilings)

    def from_records(
        self, column: QuasiColumn, rows: AnyArray, offsets: IntArray, partition: Partition | None = None
    ) -> Cells:
        """Return regions without bounds; ``settled`` finds these from all columns."""
        counted, members, _ = count_codes(column, rows, offsets)
        if _beyond(column, members):
            return self._tight(column, counted, members)
        return RegionCells(column, counted, members)

    def _tight(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        from hushtable.release.forms.intervals import RangeCells

        return RangeCells(column, offsets, members)

    def settled(self, cells: tuple[Cells, ...]) -> tuple[Cells, ...]:
        """Cut the space between the classes, and give both sides of a cut the same bound."""
        # cuts are weighted by published values: those that only suppressed records have must not decide
        shown = [np.unique(c.members) for c in cells]
        low = np.column_stack([np.searchsorted(known, c.low) for c, known in zip(cells, shown, strict=True)])
        high = np.column_stack([np.searchsorted(known, c.high) for c, known in zip(cells, shown, strict=True)])
        floors, ceilings, alone = separate(low, high, np.array([len(known) for known in shown], dtype=np.int64))
        return tuple(
            _with_cuts(c, _codes(floors[:, j], known), _codes(ceilings[:, j], known), alone)
            if isinstance(c, RegionCells)
            else c
            for j, (c, known) in enumerate(zip(cells, shown, strict=True))
        )


def _beyond(column: QuasiColumn, members: IntArray) -> bool:
    """Whether some published integer is too large for a measurement; suppressed records must not decide."""
    numbers, first = known_numbers(column.coded), int(column.coded.missing)
    if column.coded.kind is not Kind.NUMERIC or numbers.dtype.kind != "i":
        return False
    shown = numbers[np.unique(members[members >= first]) - first]
    return bool(len(shown)) and max(abs(int(shown[0])), abs(int(shown[-1]))) >= LARGEST


def _codes(places: IntArray, known: IntArray) -> IntArray:
    """The codes at these places among the published ones; -1 for none."""
    return np.where(places >= 0, known[places], -1)


def _with_cuts(cells: RegionCells, floors: IntArray, ceilings: IntArray, alone: BoolArray) -> RegionCells:
    """Return regions bounded by cuts; those that overlap with others keep their own bounds, within the cuts."""
    coded = cells.column.coded
    numbers, missing = known_numbers(coded), int(coded.missing)
    low = _bounds(coded.kind, numbers, missing, floors, -np.inf)
    high = _bounds(coded.kind, numbers, missing, ceilings, np.inf)
    own = np.flatnonzero(~alone)
    if len(own):
        least, most = _outwards(cells, own)
        low[own], high[own] = np.maximum(low[own], least), np.minimum(high[own], most)
    return replace(cells, floors=low, ceilings=high)


def _bounds(kind: Kind, numbers: Any, missing: int, cuts: IntArray, otherwise: float) -> FloatArray:
    """The round number of each cut, given the codes on both sides; a missing value bounds nothing."""
    out = np.full(len(cuts), otherwise)
    real = np.flatnonzero(cuts[:, 0] >= missing)
    if len(real):
        pairs, place = np.unique(cuts[real], axis=0, return_inverse=True)
        low, high = (numbers[pairs[:, side] - missing].astype(np.float64) for side in (0, 1))
        out[real] = round_between(low, high, kind)[place.reshape(-1)]
    return out


def _outwards(cells: RegionCells, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    """Move the ends of these classes outward to round numbers, by less than a quarter of their width."""
    coded = cells.column.coded
    first = int(coded.missing)
    numbers = known_numbers(coded).astype(np.float64)
    if not len(numbers) or not len(cells.members):
        return np.full(len(groups), -np.inf), np.full(len(groups), np.inf)
    least = np.where(cells.mixed, cells.members[np.minimum(cells.offsets[:-1] + 1, len(cells.members) - 1)], cells.low)
    low, high = (numbers[np.maximum(end[groups] - first, 0)] for end in (least, cells.high))
    with np.errstate(over="ignore", invalid="ignore"):
        # a class with a single value has no width: its own ends decide, since other classes' values must not
        whole = (low == np.rint(low)) & (high == np.rint(high))
        unit = np.where(whole, 1.0, np.maximum(np.abs(low), np.abs(high)) / 100)
        room = np.maximum((high - low) / 4, unit)
        floors, ceilings = round_between(low - room, low, coded.kind), round_between(high, high + room, coded.kind)
    # beyond infinite values there is no round number, and beyond the calendar no date
    first_day, last_day = (FIRST_DAY, LAST_DAY) if coded.kind is Kind.DATE else (-np.inf, np.inf)
    ceilings = np.where(np.isfinite(high) & (ceilings > high) & (ceilings <= last_day), ceilings, np.inf)
    return np.where(np.isfinite(low) & (floors >= first_day), floors, -np.inf), ceilings


def _texts(bounds: FloatArray, kind: Kind) -> list[str]:
    distinct, place = np.unique(bounds, return_inverse=True)
    known = np.isfinite(distinct)
    names = iter(number_text(distinct[known].tolist(), kind))
    texts = [next(names) if real else "" for real in known.tolist()]
    return [texts[i] for i in place.reshape(-1).tolist()]
