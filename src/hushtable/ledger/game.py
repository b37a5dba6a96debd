"""All releases side by side: their kinds of people, with counterfeits as further kinds, and the classes' values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.ledger.bounds import Board, added, expanded
from hushtable.ledger.flow import spread
from hushtable.table.stats import Histogram

__all__ = ["Game", "Sheet", "Truth", "game_of"]

_WIDEST = 2**31 - 1


@dataclass(frozen=True)
class Sheet:
    """One release.

    Attributes
    ----------
    place : int64 array
        The class of every kind of people; -1 where they are not in the release.
    supply : int64 array
        Units of every kind.
    classes : Histogram
        The values of every class.
    fakes : int64 array
        Units of every class that are counterfeits.
    """

    place: IntArray
    supply: IntArray
    classes: Histogram
    fakes: IntArray


@dataclass(frozen=True)
class Truth:
    """What people have, as far as it is known: units of a kind, and their value.

    Attributes
    ----------
    kind, value, units : int64 arrays
    """

    kind: IntArray
    value: IntArray
    units: IntArray


@dataclass(frozen=True)
class Game:
    """All releases side by side, with counterfeits as further kinds.

    Attributes
    ----------
    kind, place, supply : int64 arrays
        Members of classes, by class.
    classes : Histogram
        All classes of all releases.
    possible : Histogram
        The values that every kind can have, with the least count.
    truth : int64 array
        How many units of the kind have each of those, as far as it is known.
    steady : bool array
        Which kinds have the same units in all their classes, record by record.
    release : int64 array
        The release of every class.
    people : int
        How many kinds are people; those behind them are counterfeits.
    """

    kind: IntArray
    place: IntArray
    supply: IntArray
    classes: Histogram
    possible: Histogram
    truth: IntArray
    steady: BoolArray
    release: IntArray
    people: int

    @cached_property
    def members(self) -> IntArray:
        """Where the members of each class begin and end."""
        return np.searchsorted(self.place, np.arange(len(self.classes) + 1)).astype(np.int64)

    @cached_property
    def appearances(self) -> tuple[IntArray, IntArray]:
        """The classes of each kind, one kind after the other; and where those of each begin and end."""
        order = np.argsort(self.kind, kind="stable")
        ends = np.searchsorted(self.kind[order], np.arange(len(self.possible) + 1)).astype(np.int64)
        return self.place[order], ends

    @cached_property
    def at(self) -> IntArray:
        """The class of every kind in every release; -1 where it is in none."""
        found = np.full((len(self.possible), int(self.release.max(initial=0)) + 1), -1, dtype=np.int64)
        found[self.kind, self.release[self.place]] = self.place
        return found

    @cached_property
    def size(self) -> IntArray:
        """Units of every kind, in the class that has most of them."""
        found = np.zeros(len(self.possible), dtype=np.int64)
        np.maximum.at(found, self.kind, self.supply)
        return found

    @cached_property
    def known(self) -> BoolArray:
        """Of which kinds it is known what all of them have."""
        return np.asarray(added(self.owner, self.truth, len(self.size)) == self.size)

    @cached_property
    def owner(self) -> IntArray:
        """The kind of every possible value."""
        return self.possible.groups

    @cached_property
    def home(self) -> IntArray:
        """The class of every value of a class."""
        return self.classes.groups

    @cached_property
    def span(self) -> int:
        """One more than the greatest value."""
        return int(max(self.classes.values.max(initial=0), self.possible.values.max(initial=0))) + 1

    @cached_property
    def keys(self) -> IntArray:
        """Every value of a class as one ascending number."""
        return np.asarray(self.home * self.span + self.classes.values)

    def cell(self, classes: IntArray, entry: IntArray) -> IntArray:
        """Return where classes hold possible values."""
        return np.searchsorted(self.keys, classes * self.span + self.possible.values[entry]).astype(np.int64)

    @cached_property
    def measure(self) -> IntArray:
        """The greatest common measure of each class's counts."""
        found = np.zeros(len(self.classes), dtype=np.int64)
        np.gcd.at(found, self.place, self.supply)
        np.gcd.at(found, self.home, self.classes.units)
        return np.maximum(found, 1)

    def uneven(self) -> BoolArray:
        """Which classes cannot be dealt: people and values do not go up, or are too many for the flow."""
        n = len(self.classes)
        most = np.zeros(n, dtype=np.int64)
        np.maximum.at(most, self.place, self.supply)
        np.maximum.at(most, self.home, self.classes.units)
        uneven = added(self.place, self.supply, n) != added(self.home, self.classes.units, n)
        return np.asarray(uneven | (most // self.measure > _WIDEST))

    def settled(self, alive: BoolArray, shut: BoolArray) -> tuple[BoolArray, IntArray]:
        """Deal all classes but those that are shut, until nothing changes.

        Returns
        -------
        alive, broken
            Which of the possible values are left; and the classes without a dealing, where it stopped at.
        """
        alive = alive.copy()
        seen = np.diff(self.members) * self.classes.distinct()
        lengths = np.bincount(self.owner[alive], minlength=len(self.possible))
        have = added(self.place, lengths[self.kind], len(self.classes))
        dirty = np.flatnonzero((have < seen) & ~shut)
        classes_of, ends = self.appearances
        while len(dirty):
            members = expanded(self.members, dirty)[1]
            which, entry = expanded(self.possible.offsets, self.kind[members])
            which, entry = which[alive[entry]], entry[alive[entry]]
            usable, broken = self._dealt(dirty, members, which, entry)
            at = np.searchsorted(dirty, self.place[members[which]])
            broken[at[(self.truth[entry] > 0) & ~usable]] = True
            if broken.any():
                return alive, dirty[broken]
            seen[dirty] = np.bincount(at[usable], minlength=len(dirty))
            lost = np.unique(entry[~usable])
            alive[lost] = False
            touched = classes_of[expanded(ends, self.owner[lost])[1]]
            np.subtract.at(have, touched, 1)
            dirty = np.unique(touched)
            dirty = dirty[(have[dirty] < seen[dirty]) & ~shut[dirty]]
        return alive, dirty

    def _dealt(self, dirty: IntArray, members: IntArray, row: IntArray, entry: IntArray) -> tuple[BoolArray, BoolArray]:
        """Deal some classes.

        Returns
        -------
        usable, broken
            Which pairs of a member (a place in ``members``) and a possible value are in some dealing, and which of the
            classes have none.
        """
        classes = self.place[members]
        cells, column = np.unique(self.cell(classes[row], entry), return_inverse=True)
        supply = self.supply[members] // self.measure[classes]
        flow, usable = spread(row, column, supply, self.classes.units[cells] // self.measure[self.home[cells]])
        at = np.searchsorted(dirty, classes)
        return usable, added(at[row], flow, len(dirty)) != added(at, supply, len(dirty))

    def counted(self, alive: BoolArray, shut: BoolArray) -> IntArray:
        """Return the possible values' counts without those that are certainly others'."""
        units = np.where(alive, self.possible.units, 0)
        lengths = np.bincount(self.owner[alive], minlength=len(self.possible))
        sole = np.full(len(self.possible), -1, dtype=np.int64)
        only = np.flatnonzero(alive & (lengths[self.owner] == 1))
        sole[self.owner[only]] = only
        certain = np.flatnonzero((sole[self.kind] >= 0) & ~shut[self.place])
        rest = self.classes.units.copy()
        np.subtract.at(rest, self.cell(self.place[certain], sole[self.kind[certain]]), self.supply[certain])
        touched = np.zeros(len(self.classes), dtype=np.bool_)
        touched[self.place[certain]] = True
        members = np.flatnonzero(touched[self.place] & (sole[self.kind] < 0))
        which, entry = expanded(self.possible.offsets, self.kind[members])
        which, entry = which[alive[entry]], entry[alive[entry]]
        np.minimum.at(units, entry, rest[self.cell(self.place[members[which]], entry)])
        return units

    def board(self, alive: BoolArray, closed: BoolArray) -> Board:
        """Return the possible values that are left, in all classes but those that are closed."""
        members = np.flatnonzero(~closed[self.place])
        which, entry = expanded(self.possible.offsets, self.kind[members])
        which, entry = which[alive[entry]], entry[alive[entry]]
        place = self.place[members[which]]
        cell = self.cell(place, entry)
        order = np.argsort(cell, kind="stable")
        return Board(
            self.possible.offsets, self.size, self.steady, self.truth, self.known,
            entry[order], cell[order], place[order], self.classes.units,
        )  # fmt: skip


def game_of(possible: Histogram, sheets: Sequence[Sheet], truth: Truth, steady: BoolArray) -> Game:
    """Put the releases side by side."""
    start, kinds, places, supplies = 0, [], [], []
    for sheet in sheets:
        here = np.flatnonzero(sheet.place >= 0)
        kinds.append(here)
        places.append(sheet.place[here] + start)
        supplies.append(sheet.supply[here])
        start += len(sheet.classes)
    classes = Histogram.concat([sheet.classes for sheet in sheets])
    fakes = np.concatenate([sheet.fakes for sheet in sheets])
    faked = np.flatnonzero(fakes > 0)
    both = Histogram.concat([possible, classes.take(faked)])
    member = np.concatenate([*kinds, len(possible) + np.arange(len(faked))])
    place, supply = np.concatenate([*places, faked]), np.concatenate([*supplies, fakes[faked]])
    order = np.argsort(place, kind="stable")
    true = np.zeros(len(both.values), dtype=np.int64)
    true[: len(possible.values)] = _had(possible, truth)
    steady = np.append(steady, np.ones(len(faked), dtype=np.bool_))
    release = np.repeat(np.arange(len(sheets)), [len(sheet.classes) for sheet in sheets])
    return Game(member[order], place[order], supply[order], classes, both, true, steady, release, len(possible))


def _had(possible: Histogram, truth: Truth) -> IntArray:
    """Return how many units truly have each possible value."""
    span = int(max(possible.values.max(initial=0), truth.value.max(initial=0))) + 1
    keys, wanted = possible.groups * span + possible.values, truth.kind * span + truth.value
    at = np.searchsorted(keys, wanted)
    there = np.flatnonzero(np.append(keys, -1)[at] == wanted)
    return added(at[there], truth.units[there], len(keys))
