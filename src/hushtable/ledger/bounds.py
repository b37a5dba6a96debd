"""Bounds: how many people of a kind have a value, at least and at most, in all their classes at once.

The people of a kind are the same in each of their classes, and so are their values. Of two people who share a class
with a, b and b in spring and one with a, a and b in autumn, at most one has a and at most one has b: one of each is
theirs, and what is left of both classes is known. Dealing class by class does not see that: in each class alone both of
them can have either.

Two rules, applied in turn until nothing changes. The people of a kind have as many values as they are: what the others
of its values take at most (at least) leaves the rest to this one. So with the kinds of a class and each of its values.
Both only ever take away what is in no world, so that stopping early is sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, IntArray

__all__ = ["Board", "added", "expanded"]

_TURNS = 1000


@dataclass(frozen=True)
class Board:
    """Kinds of people, the values that they can have, and the classes where these are.

    Attributes
    ----------
    offsets : int64 array
        Where the possible values of each kind begin and end.
    size : int64 array
        Units of every kind.
    steady : bool array
        Which kinds have the same units in all their classes, record by record; of others only what is excluded holds
        for all of them.
    truth : int64 array
        How many units of its kind have a possible value, as far as it is known.
    known : bool array
        Of which kinds it is known of all.
    entry, cell, place : int64 arrays
        The appearances of possible values: which, as which value of a class, and in which class; by cell.
    room : int64 array
        Units of every value of every class.
    """

    offsets: IntArray
    size: IntArray
    steady: BoolArray
    truth: IntArray
    known: BoolArray
    entry: IntArray
    cell: IntArray
    place: IntArray
    room: IntArray

    @cached_property
    def owner(self) -> IntArray:
        """The kind of every possible value."""
        return np.repeat(np.arange(len(self.size), dtype=np.int64), np.diff(self.offsets))

    @cached_property
    def ends(self) -> IntArray:
        """Where the appearances of each cell begin and end."""
        return np.searchsorted(self.cell, np.arange(len(self.room) + 1)).astype(np.int64)

    @cached_property
    def shown(self) -> tuple[IntArray, IntArray]:
        """The appearances of each possible value, one value after the other; and where those of each begin and end."""
        order = np.argsort(self.entry, kind="stable")
        return order, np.searchsorted(self.entry[order], np.arange(len(self.truth) + 1)).astype(np.int64)

    def bounded(self, alive: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Find the bounds of every possible value.

        Parameters
        ----------
        alive : bool array
            Which values are possible still.

        Returns
        -------
        least, most, broken
            The bounds; and the classes that contradict others, or what is true, where it stopped at: a value has
            changed meanwhile.

        Examples
        --------
        Two people in a class with a, b and b and in another with a, a and b; each class has a third one.

        >>> board = Board(
        ...     np.array([0, 2, 4, 6]), np.array([2, 1, 1]), np.ones(3, dtype=bool), np.zeros(6, dtype=np.int64),
        ...     np.zeros(3, dtype=bool), np.array([0, 2, 1, 3, 0, 4, 1, 5]), np.array([0, 0, 1, 1, 2, 2, 3, 3]),
        ...     np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([1, 2, 2, 1]),
        ... )
        >>> [bound.tolist() for bound in board.bounded(np.ones(6, dtype=bool))]
        [[1, 1, 0, 1, 1, 0], [1, 1, 0, 1, 1, 0], []]
        """
        most = np.where(alive, self.size[self.owner], 0)
        least = np.zeros_like(most)
        cells, kinds = np.unique(self.cell), np.arange(len(self.size))
        for _ in range(_TURNS):
            before = least.copy(), most.copy()
            broken = self._by_class(cells, least, most)
            if len(broken):
                return least, most, broken
            changed = np.flatnonzero((least != before[0]) | (most != before[1]))
            broken = self._by_kind(np.union1d(kinds, self.owner[changed]), least, most)
            if len(broken):
                return least, most, broken
            changed = np.flatnonzero((least != before[0]) | (most != before[1]))
            if not len(changed):
                break
            order, ends = self.shown
            kinds = np.unique(self.owner[changed])
            cells = np.unique(self.cell[order[expanded(ends, changed)[1]]])
        return least, most, np.empty(0, dtype=np.int64)

    def _by_class(self, cells: IntArray, least: IntArray, most: IntArray) -> IntArray:
        """Leave to each kind what the others in its class leave of a value; return the classes that cannot be."""
        which, shown = expanded(self.ends, cells)
        entry = self.entry[shown]
        low, high = least[entry], most[entry]
        top = self.left(cells, which, low)
        bottom = self.left(cells, which, high)
        kind = self.owner[entry]
        loose = ~self.steady[kind]
        top[loose] = np.where(top[loose] > 0, high[loose], 0)
        bottom[loose] = 0
        wrong = (top < low) | (bottom > high)
        wrong |= (self.truth[entry] > top) | (self.known[kind] & (self.truth[entry] < bottom))
        if wrong.any():
            return np.unique(self.place[shown[wrong]])
        np.minimum.at(most, entry, top)
        np.maximum.at(least, entry, bottom)
        return np.empty(0, dtype=np.int64)

    def left(self, cells: IntArray, which: IntArray, taken: IntArray) -> IntArray:
        """Return what the others leave of their cell to each appearance."""
        total = np.zeros(len(cells), dtype=np.int64)
        np.add.at(total, which, taken)
        return np.asarray((self.room[cells] - total)[which] + taken)

    def _by_kind(self, kinds: IntArray, least: IntArray, most: IntArray) -> IntArray:
        """Leave to each value what the others of its kind leave; return the classes of kinds that cannot be."""
        kinds = kinds[self.steady[kinds]]
        which, entry = expanded(self.offsets, kinds)
        low, high = np.zeros(len(kinds), dtype=np.int64), np.zeros(len(kinds), dtype=np.int64)
        np.add.at(low, which, least[entry])
        np.add.at(high, which, most[entry])
        top = (self.size[kinds] - low)[which] + least[entry]
        bottom = (self.size[kinds] - high)[which] + most[entry]
        most[entry], least[entry] = np.minimum(most[entry], top), np.maximum(least[entry], bottom)
        wrong = entry[np.maximum(least[entry], self.truth[entry]) > most[entry]]
        if not len(wrong):
            return np.empty(0, dtype=np.int64)
        order, ends = self.shown
        all_of = expanded(self.offsets, np.unique(self.owner[wrong]))[1]
        return np.unique(self.place[order[expanded(ends, all_of)[1]]])

    def counted(self, units: IntArray, least: IntArray, most: IntArray) -> IntArray:
        """Return the counts of possible values, given those of their classes.

        From kinds that may have several values, what others certainly have is taken away; where their own values are
        certain, it is those. A mere lower bound is not taken away: that one of two people has a, where three have a, a
        and b, is no news of the third.
        """
        kinds = len(self.size)
        certain = (np.bincount(self.owner[least != most], minlength=kinds) == 0) & self.steady
        several = (np.bincount(self.owner[most > 0], minlength=kinds) > 1)[self.owner]
        fixed = certain[self.owner]
        units = np.where(fixed & several, least, units)
        here = several[self.entry] & ~fixed[self.entry] & (most[self.entry] > 0)
        cells, which = np.unique(self.cell, return_inverse=True)
        rest = self.left(cells, which, np.where(fixed, least, 0)[self.entry])
        np.minimum.at(units, self.entry[here], np.maximum(rest[here], 1))
        return units


def expanded(offsets: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the entries of some groups, one group after the other, and which of the groups each is of.

    Examples
    --------
    >>> which, entries = expanded(np.array([0, 2, 5]), np.array([1, 0]))
    >>> which.tolist(), entries.tolist()
    ([0, 0, 0, 1, 1], [2, 3, 4, 0, 1])
    """
    lengths = np.diff(offsets)[groups]
    which = np.repeat(np.arange(len(groups)), lengths)
    ends = np.cumsum(lengths)
    return which, np.arange(len(which)) - np.repeat(ends - lengths, lengths) + np.repeat(offsets[groups], lengths)


def added(place: IntArray, units: IntArray, n: int) -> IntArray:
    """Add units up by their place.

    Examples
    --------
    >>> added(np.array([1, 1, 0]), np.array([5, 2, 1]), 3).tolist()
    [1, 7, 0]
    """
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, place, units)
    return total
