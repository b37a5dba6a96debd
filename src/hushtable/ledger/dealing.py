"""Dealing: the values of a class go to all its people at once, and what cannot go to somebody is excluded.

Everybody has one value, and every value of a class is somebody's. Where two of three people can only have two of the
three values, the third value is the third person's, though that one's classes have more in common. A value stays
possible for somebody only if some way to deal the class's values out to all its people gives it to them. What is
excluded in one class is excluded in the person's classes of other releases, so that this goes on until nothing changes.

People of whom the releases tell the same are dealt with as one *kind*, which takes as many values as it has people.
Counterfeits are one more kind: they take values too, and may have any of their class. Of people with several records
(``unit`` above 1) every record takes its share of a person; a share may be dealt in parts, which excludes less than
whole records would, and never too much.

A class is left as it is where no dealing exists, or only such as take their true value from somebody: a value has
changed meanwhile, so that nothing follows for certain. Then everything is dealt anew without that class. So is a class
where the people's shares are not those of its values: some records of its people were suppressed. (And one whose counts
are beyond 31 bits in their smallest unit, which takes people with many different numbers of records.)

Cost: linear in the possible (kind, value) pairs to find which classes need dealing: those in which somebody cannot have
all values. For those one flow and one search of components over their pairs, in compiled code; again for classes whose
people lost a value in another, and from the start where a class has no dealing. A long chain of classes of which each
excludes a value in the next takes a turn (about a millisecond) for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.ledger.flow import spread
from hushtable.table.stats import Histogram

__all__ = ["Sheet", "deal"]

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
class _Game:
    """All releases side by side, with counterfeits as further kinds.

    Attributes
    ----------
    kind, place, supply : int64 arrays
        Members of classes, by class.
    classes : Histogram
        All classes of all releases.
    possible : Histogram
        The values that every kind can have, with the least count.
    true : bool array
        Which of those somebody of the kind has.
    """

    kind: IntArray
    place: IntArray
    supply: IntArray
    classes: Histogram
    possible: Histogram
    true: BoolArray

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
    def owner(self) -> IntArray:
        """The kind of every possible value."""
        return self.possible.groups

    @cached_property
    def home(self) -> IntArray:
        """The class of every value of a class."""
        return self.classes.groups

    @cached_property
    def span(self) -> int:
        return int(max(self.classes.values.max(initial=0), self.possible.values.max(initial=0))) + 1

    @cached_property
    def keys(self) -> IntArray:
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
        uneven = _added(self.place, self.supply, n) != _added(self.home, self.classes.units, n)
        return np.asarray(uneven | (most // self.measure > _WIDEST))

    def settled(self, shut: BoolArray) -> tuple[BoolArray, IntArray]:
        """Deal all classes but those that are shut, until nothing changes.

        Returns
        -------
        alive, broken
            Which of the possible values are left; and the classes without a dealing, where it stopped at.
        """
        alive = np.ones(len(self.owner), dtype=np.bool_)
        seen = np.diff(self.members) * self.classes.distinct()
        have = _added(self.place, self.possible.lengths[self.kind], len(self.classes))
        dirty = np.flatnonzero((have < seen) & ~shut)
        classes_of, ends = self.appearances
        while len(dirty):
            members = _expanded(self.members, dirty)[1]
            which, entry = _expanded(self.possible.offsets, self.kind[members])
            which, entry = which[alive[entry]], entry[alive[entry]]
            usable, broken = self._dealt(dirty, members, which, entry)
            at = np.searchsorted(dirty, self.place[members[which]])
            broken[at[self.true[entry] & ~usable]] = True
            if broken.any():
                return alive, dirty[broken]
            seen[dirty] = np.bincount(at[usable], minlength=len(dirty))
            lost = np.unique(entry[~usable])
            alive[lost] = False
            touched = classes_of[_expanded(ends, self.owner[lost])[1]]
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
        return usable, _added(at[row], flow, len(dirty)) != _added(at, supply, len(dirty))

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
        which, entry = _expanded(self.possible.offsets, self.kind[members])
        which, entry = which[alive[entry]], entry[alive[entry]]
        np.minimum.at(units, entry, rest[self.cell(self.place[members[which]], entry)])
        return units


def deal(possible: Histogram, sheets: Sequence[Sheet], kind: IntArray, value: IntArray) -> Histogram:
    """Leave of the possible values those that some dealing of every class gives.

    Parameters
    ----------
    possible : Histogram
        For every kind of people, the values that are in all their classes, with the least count.
    sheets : sequence of Sheet
        The releases.
    kind, value : int64 arrays
        What is true, as far as it is known: somebody of this kind has this value.

    Returns
    -------
    Histogram
        Values that are certainly others' are not counted any more for those who may have several.

    Examples
    --------
    Two people of three are in a class without the third value elsewhere; so it is the third person's.

    >>> classes = Histogram.dense([[1, 1, 1]])
    >>> sheet = Sheet(np.array([0, 0]), np.array([2, 1]), classes, np.array([0]))
    >>> nobody = np.zeros(0, dtype=np.int64)
    >>> deal(Histogram.dense([[1, 1, 0], [1, 1, 1]]), [sheet], nobody, nobody).as_matrix(3).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    game = _game(possible, sheets, kind, value)
    shut = game.uneven()
    while True:
        alive, broken = game.settled(shut)
        if not len(broken):
            break
        shut[broken] = True
    units = game.counted(alive, shut)[: len(possible.values)]
    return Histogram.from_pairs(possible.groups, possible.values, units, len(possible), possible.unit)


def _game(possible: Histogram, sheets: Sequence[Sheet], kind: IntArray, value: IntArray) -> _Game:
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
    true = np.zeros(len(both.values), dtype=np.bool_)
    true[: len(possible.values)] = _among(possible.groups, possible.values, kind, value)
    member = np.concatenate([*kinds, len(possible) + np.arange(len(faked))])
    place, supply = np.concatenate([*places, faked]), np.concatenate([*supplies, fakes[faked]])
    order = np.argsort(place, kind="stable")
    return _Game(member[order], place[order], supply[order], classes, both, true)


def _among(group: IntArray, value: IntArray, kind: IntArray, own: IntArray) -> BoolArray:
    """Tell which (group, value) pairs are among some others."""
    span = int(max(value.max(initial=0), own.max(initial=0))) + 1
    return np.asarray(np.isin(group * span + value, kind * span + own))


def _added(place: IntArray, units: IntArray, n: int) -> IntArray:
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, place, units)
    return total


def _expanded(offsets: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the entries of some groups of a histogram, and which of the groups each is of."""
    lengths = np.diff(offsets)[groups]
    which = np.repeat(np.arange(len(groups)), lengths)
    ends = np.cumsum(lengths)
    return which, np.arange(len(which)) - np.repeat(ends - lengths, lengths) + np.repeat(offsets[groups], lengths)
