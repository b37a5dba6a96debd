"""Events as arrays, sorted by class and person, so that combinations can be counted.

An item is what one published event shows within one class of people: its table and the cells of its quasi-identifiers.
Items of different classes are always different, since an adversary who knows a person's attributes knows the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray, joined_ranges, run_places, run_starts
from hushtable.kernels.grouping import number_rows


def joint_codes(columns: Sequence[AnyArray]) -> IntArray:
    """Return one number per row, equal for equal rows of codes, in the order of the codes.

    Examples
    --------
    >>> joint_codes([np.array([5, 0, 5]), np.array([1, 9, 1])]).tolist()
    [1, 0, 1]
    """
    return number_rows(columns, [int(column.max(initial=-1)) + 1 for column in columns])[0]


@dataclass(frozen=True)
class Lists:
    """Lists of numbers: ``values[offsets[i]:offsets[i + 1]]`` are those of owner i."""

    offsets: IntArray
    values: IntArray

    @classmethod
    def of(cls, owners: IntArray, values: IntArray, n: int) -> Lists:
        """Build from (owner, value) pairs; equal pairs count once.

        Examples
        --------
        >>> Lists.of(np.array([2, 0, 2, 2]), np.array([7, 1, 7, 3]), 3).offsets.tolist()
        [0, 1, 1, 3]
        """
        size = int(values.max(initial=0)) + 1
        pairs = np.unique(owners * size + values)
        return cls(np.searchsorted(pairs // size, np.arange(n + 1)).astype(np.int64), pairs % size)

    def of_each(self, owners: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions in ``owners``, and the values, of all numbers of these owners."""
        lengths = np.diff(self.offsets)[owners]
        place = joined_ranges(self.offsets[:-1][owners], lengths)
        return np.repeat(np.arange(len(owners), dtype=np.int64), lengths), self.values[place]


@dataclass(frozen=True)
class Events:
    """The events of people, sorted by class, person and item.

    Attributes
    ----------
    classes : int64 array
        The class of each person, ascending.
    starts : int64 array
        Rows ``starts[p]:starts[p + 1]`` are the events of person p.
    item : int64 array
        Ascending within a person; items of one class are contiguous.
    copy : int64 array
        How many equal events of the person precede the row; 0 if tables belong to tables of events.
    table : int8 array
    above : tuple of int64 arrays
        For each depth, the event that the row belongs to, or is; a unique number if the row is not that deep. Empty if
        every table belongs to people.
    source : int64 array
        The row's number, as given.
    table_of : int8 array
        The table of each item.
    people : int64 array
        The person's number, as given, of each person here.
    """

    classes: IntArray
    starts: IntArray
    item: IntArray
    copy: IntArray
    table: AnyArray
    above: tuple[IntArray, ...]
    source: IntArray
    table_of: AnyArray
    people: IntArray

    @classmethod
    def build(
        cls,
        classes: IntArray,
        person: IntArray,
        cell: IntArray,
        table: AnyArray,
        source: IntArray,
        people: IntArray,
        above: Sequence[IntArray] = (),
    ) -> Events:
        """Sort and number.

        Parameters
        ----------
        classes : int64 array
            The class of each person, ascending.
        person, cell, table, source : arrays
            Of each event; equal ``cell`` stands for equal tables and cells.
        people : int64 array
        above : sequence of int64 arrays
        """
        item = joint_codes([classes[person], cell])
        order = np.argsort(person * (int(item.max(initial=0)) + 1) + item, kind="stable")
        person, item = person[order], item[order]
        starts = np.searchsorted(person, np.arange(len(classes) + 1)).astype(np.int64)
        sorted_above = tuple(one[order] for one in above)
        table = table[order]
        table_of = np.zeros(int(item.max(initial=-1)) + 1, dtype=np.int8)
        table_of[item] = table
        copies = _copies(person, item, bool(above))
        return cls(classes, starts, item, copies, table, sorted_above, source[order], table_of, people)

    @property
    def nested(self) -> bool:
        """Whether events belong to other events."""
        return bool(self.above)

    @property
    def person(self) -> IntArray:
        """The person of each row."""
        return np.repeat(np.arange(len(self.classes), dtype=np.int64), np.diff(self.starts))

    def keep(self, rows: BoolArray) -> Events:
        """Return the events without some rows."""
        person, item = self.person[rows], self.item[rows]
        return replace(
            self,
            starts=np.searchsorted(person, np.arange(len(self.classes) + 1)).astype(np.int64),
            item=item,
            copy=_copies(person, item, self.nested),
            table=self.table[rows],
            above=tuple(one[rows] for one in self.above),
            source=self.source[rows],
        )

    def relation(self, one: IntArray, other: IntArray) -> IntArray:
        """Return the depth of the deepest event that two rows share: 0 if they share only the person."""
        deep = np.zeros(len(one), dtype=np.int64)
        for height, owner in enumerate(self.above, start=1):
            deep[owner[one] == owner[other]] = height
        return deep

    def support(self) -> IntArray:
        """Return how many people have each item."""
        new = run_starts(self.person, self.item)
        return np.bincount(self.item[new], minlength=int(self.item.max(initial=-1)) + 1).astype(np.int64)


def _copies(person: IntArray, item: IntArray, nested: bool) -> IntArray:
    return np.zeros(len(person), dtype=np.int64) if nested else run_places(person, item)
