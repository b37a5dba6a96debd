"""Sets: a class publishes the values that it has, in leaf order, and covers exactly these."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.release.forms.base import Cells, MemberForm, Widening, escape_member, escape_value, sums_between
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn

if TYPE_CHECKING:
    from hushtable.release.forms.reading import Meaning
    from hushtable.table.plan import ColumnPlan

MOST_NUMBERED = 64
"""Larger sets are rarely equal, and are written individually."""


@dataclass(frozen=True)
class SetCells(Cells):
    """The sets of one column, one per class."""

    @property
    def extent(self) -> tuple[IntArray, IntArray]:
        """The first and the last member."""
        return self.low, self.high

    @property
    def has_holes(self) -> bool:
        """True: what lies between two members is not covered."""
        return True

    @cached_property
    def leaves(self) -> IntArray:
        """Number of members of each set."""
        return self.counts

    def covers(self, groups: IntArray, codes: IntArray) -> BoolArray:
        """Return whether ``codes[i]`` is a member of the set of ``groups[i]``."""
        size = self.column.coded.size
        owner = np.repeat(np.arange(len(self)), self.counts)
        keys = owner * size + self.members
        wanted = groups * size + codes
        place = np.searchsorted(keys, wanted)
        inside = place < len(keys)
        inside[inside] = keys[place[inside]] == wanted[inside]
        return inside

    def covered(self, weights: IntArray) -> IntArray:
        """Return the sum of ``weights`` over the members of each set."""
        return sums_between(weights[self.members], self.offsets[:-1], self.offsets[1:])

    def shares_leaf(self, a: int, b: int) -> bool:
        """Whether two sets have a member in common."""
        mine, theirs = (self.members[self.offsets[i] : self.offsets[i + 1]] for i in (a, b))
        return bool(np.isin(mine, theirs).any())

    @cached_property
    def height(self) -> IntArray:
        """Height of the lowest node above all members."""
        from hushtable.release.forms.nodes import lowest_above

        return lowest_above(self)

    @property
    def _known_extent(self) -> tuple[IntArray, IntArray]:
        second = self.members[np.where(self.mixed, self.offsets[:-1] + 1, 0)] if len(self.members) else self.low
        return np.where(self.mixed, second, self.low), self.high

    @property
    def minimal(self) -> bool:
        """True: some record has each member of a set."""
        return True

    def draw_leaves(self, groups: IntArray, luck: FloatArray) -> IntArray:
        """Return members."""
        return self.members[self.offsets[:-1][groups] + (luck * self.counts[groups]).astype(np.int64)]

    def written_down(self, groups: IntArray, place: IntArray, luck: FloatArray, spread: float) -> IntArray:
        """Return every member once, then any of them."""
        lengths = self.counts[groups]
        at = np.where(place < lengths, place, (luck * lengths).astype(np.int64))
        return self.members[self.offsets[:-1][groups] + at]

    def widened(self, how: Widening, open_to: BoolArray, luck: FloatArray) -> Cells:
        """Add members that do not occur."""
        from hushtable.release.forms.widening import more_members

        return more_members(self, open_to & ((self.counts > 1) | (luck < how.exact)), how.spread, how.coins)

    def labels(self) -> pa.Array:
        """Return the sets as text; each distinct one is written once, since many classes share theirs."""
        names = self.column.coded.labels[0]
        safe = [escape_member(label) for label in names]
        text = [escape_value(label) for label in names]
        place = np.where(self.counts == 1, self.low, 0)
        for count in np.unique(self.counts[self.counts != 1]).tolist():
            groups = np.flatnonzero(self.counts == count)
            sets = self.members[self.offsets[:-1][groups][:, None] + np.arange(count)]
            label, first = distinct_rows(sets, self.column.coded.size)
            place[groups] = label + len(text)
            text += ["{" + ", ".join(safe[c] for c in row) + "}" for row in sets[first].tolist()]
        return pa.array(text, pa.string()).take(pa.array(place))

    def said(self, group: int) -> str:
        """Return how many members the set has."""
        return f"published as a set of {self._of_all(group)}"

    def finer(self, group: int) -> int | None:
        """Return the height of the lowest node above the members."""
        return int(self.height[group])


@dataclass(frozen=True)
class RecordCells(Cells):
    """Cells computed from the records of a class. What they stand for is a set of leaves, or a range.

    Attributes
    ----------
    units : int64 array
        How many records of its class have each member.
    """

    units: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    own_records: ClassVar[bool] = True

    @property
    @abstractmethod
    def stands_for(self) -> Cells:
        """The leaves that each cell stands for: a range or a set."""

    @property
    def extent(self) -> tuple[IntArray, IntArray]:
        """The ends of what each cell stands for."""
        return self.stands_for.extent

    @property
    def has_holes(self) -> bool:
        """Whether cells stand for sets: what lies between two members is not covered."""
        return self.stands_for.has_holes

    @cached_property
    def leaves(self) -> IntArray:
        """Number of leaves that each cell stands for."""
        return self.stands_for.leaves

    def covers(self, groups: IntArray, codes: IntArray) -> BoolArray:
        """Return whether the cell of ``groups[i]`` stands for the leaf ``codes[i]``."""
        return self.stands_for.covers(groups, codes)

    def covered(self, weights: IntArray) -> IntArray:
        """Return the sum of ``weights`` over the leaves that each cell stands for."""
        return self.stands_for.covered(weights)

    @cached_property
    def height(self) -> IntArray:
        """Height of the lowest node above all that a cell stands for."""
        return self.stands_for.height

    @property
    def _known_extent(self) -> tuple[IntArray, IntArray]:
        return self.stands_for._known_extent

    def draw_leaves(self, groups: IntArray, luck: FloatArray) -> IntArray:
        """Return leaves that the cells stand for."""
        return self.stands_for.draw_leaves(groups, luck)

    def _taken(self, groups: IntArray, at: IntArray) -> dict[str, Any]:
        return {"units": np.asarray(self.units)[at]}

    @property
    def bounded(self) -> None:
        """None: newcomers would change the cell."""
        return None


@dataclass(frozen=True)
class Sets(MemberForm):
    """Publishes the set of the values that a class has.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Sets().from_records(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['{30, 31}', '53']
    """

    name: ClassVar[str] = "sets"
    in_words: ClassVar[str] = "sets of values everywhere"

    def cover(self, kind: Kind) -> Cover:
        """Return that a set covers its members."""
        return Cover.SET

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the sets of these codes."""
        return SetCells(column, offsets, members)

    def meanings(self, names: Sequence[str], column: ColumnPlan) -> list[Meaning]:
        """Return the values."""
        from hushtable.release.forms.reading import meaning_of_member

        return [meaning_of_member(name, ranges=False) for name in names]


def distinct_rows(rows: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Number the distinct rows of a matrix of codes; return every row's number, and a row of each."""
    if rows.shape[1] > MOST_NUMBERED:
        everyone = np.arange(len(rows))
        return everyone, everyone
    return number_rows(list(rows.T), [size] * rows.shape[1])
