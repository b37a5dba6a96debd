"""Kinds of people, and what the releases reveal about them: one constraint problem.

People who are in the same classes of all releases are of one *kind*: an adversary who knows everybody's
quasi-identifiers, and who is in which release, cannot distinguish them. Let x[kind, value] be the number of people of a
kind with a value. These are non-negative integers; those of a kind add up to its people, and those of a class to the
published counts. Any solution is a *world*; nobody can know more than what all worlds have in common.

Counterfeits are a separate kind in each class that has some. A person whose value has changed counts as another person
from then on; the ledger knows for whom this holds. If people have several records, records are tracked; with an
entity, each counts as its share of the person. For several columns together, a value is a combination, and
releases that have only some of the columns constrain those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, IntArray, places_among
from hushtable.ledger.entry import Entry
from hushtable.ledger.trace import Traces, numbered, trace
from hushtable.table.stats import Histogram, Key


@dataclass(frozen=True)
class System:
    """The constraint problem: a variable for every possible value of a kind, equations of kinds and of classes.

    Attributes
    ----------
    size : int64 array
        Records of every kind.
    kind, code : int64 arrays
        The variables, kinds ascending: kind and value.
    cell, row, weight : int64 arrays
        Positions of the variables in the classes' equations, and their coefficients.
    held : int64 array
        Right-hand sides of the equations.
    """

    size: IntArray
    kind: IntArray
    code: IntArray
    cell: IntArray
    row: IntArray
    weight: IntArray
    held: IntArray


@dataclass(frozen=True)
class PersonKinds:
    """Everybody of some releases, by kind.

    Attributes
    ----------
    place : int64 array, kinds x releases
        The class of each kind in each release; -1 if it is in none.
    record, kind : int64 arrays
        Which records of the traces are of which kind; a record whose value changed is of several.
    values : int64 array, codes x columns
        The value (see ``History.numbers``) of each code in each column.
    widest : int64 array
        Number of different values of the first columns, the key, in the richest class of each kind.
    system : System
        Counterfeits are additional kinds after these.
    """

    place: IntArray
    record: IntArray
    kind: IntArray
    values: IntArray
    widest: IntArray
    system: System


class History:
    """All releases, the newest last.

    Parameters
    ----------
    entries : sequence of Entry
    own : int64 array, records x columns
        The newest one's values, record by record, as returned by ``describe``.
    """

    def __init__(self, entries: Sequence[Entry], own: IntArray) -> None:
        self.entries, self._own = list(entries), own
        self.unit = math.lcm(*(e.unit for e in entries))

    @cached_property
    def traces(self) -> Traces:
        """The class of every person in every release."""
        return trace(self.entries)

    @cached_property
    def _units(self) -> IntArray:
        """Weight of every record in every release: a row or, in those of 0.1.0, which kept no rows, its share."""
        units = (self.traces.classes >= 0).astype(np.int64)
        for e, entry in enumerate(self.entries):
            if not len(entry.entry_rows):
                several = np.bincount(self.traces.person, units[:, e])[self.traces.person].astype(np.int64)
                each = entry.unit // np.maximum(several, 1) if entry.unit > 1 else 1
                units[:, e] *= each * (self.unit // entry.unit)
        return units

    @cached_property
    def numbers(self) -> dict[str, dict[str, int]]:
        """The number of every value of every column, over all releases."""
        found: dict[str, dict[str, int]] = {}
        for entry in self.entries:
            for column, values in zip(entry.columns, entry.values, strict=True):
                own = found.setdefault(column, {})
                for value in values:
                    own.setdefault(value, len(own))
        return found

    def ids(self, entry: Entry, column: str, codes: IntArray) -> IntArray:
        """Return the numbers of values of a release, given rows of its own codes."""
        at = entry.columns.index(column)
        return np.array([self.numbers[column][v] for v in entry.values[at]], dtype=np.int64)[codes[:, at]]

    def same(self, column: str, e: int, f: int) -> BoolArray:
        """Return, for every record that is in both of two releases, whether its value of a column is the same."""
        rows = self.traces.rows[:, [e, f]]
        there = rows[(rows >= 0).all(axis=1)].T
        then, now = (self.entries[at].tags_of(column)[own] for at, own in zip((e, f), there, strict=True))
        return np.asarray(then == now)

    @cached_property
    def kept(self) -> dict[str, float]:
        """The columns that most people keep from one release to another, and the smallest share who keep each.

        For releases of 0.1.0, this is not known: nearly everybody is assumed to keep them.
        """
        found: dict[str, list[float]] = {}
        for f, later in enumerate(self.entries):
            for e, entry in enumerate(self.entries[:f]):
                both = (self.traces.classes[:, [e, f]] >= 0).all(axis=1)
                for name in set(entry.columns) & set(later.columns) if both.any() else ():
                    known = entry.has_changes and later.has_changes
                    found.setdefault(name, []).append(float(np.mean(self.same(name, e, f))) if known else 0.99)
        return {name: min(shares) for name, shares in found.items() if max(shares) > 0.5}

    def linking_columns(self, key: Key) -> list[Key]:
        """Return sets of columns that link rows: those that everybody keeps, then with others, alone and one by one."""
        kept = {name: share for name, share in self.kept.items() if name not in key}
        sure = tuple(sorted(name for name, share in kept.items() if share == 1))
        rest = sorted((name for name in kept if name not in sure), key=lambda name: (-kept[name], name))
        sets = [sure, *((*sure, name) for name in rest), *((*sure, *rest[:n]) for n in range(2, len(rest) + 1))]
        return [some for some in sets if some]

    def kinds(self, columns: Key, key: int, upto: int | None = None) -> PersonKinds | None:
        """Set up the problem of some columns; None if fewer than two releases have them.

        Parameters
        ----------
        columns : Key
        key : int
            Number of these, from the first, that are judged.
        upto : int, optional
            Number of releases to use, from the first.
        """
        n = len(self.entries) if upto is None else upto
        whole = [e for e in range(n) if set(columns) <= set(self.entries[e].columns)]
        if not whole:
            return None
        coded = _Coded(self, columns, n, whole)
        record, classes, weights = self._pieces(columns, n, coded)
        dealt = (classes[:, whole] >= 0).any(axis=1)
        number, first = numbered(np.hstack([classes[dealt], weights[dealt]]))
        place, weight = classes[dealt][first], weights[dealt][first]
        size = np.bincount(number, minlength=len(first)).astype(np.int64)
        others: list[_Others] = [(e, self.entries[e].counterfeits, release.fake) for e, release in coded.of.items()]
        for e in coded.of:
            here = ~dealt & (classes[:, e] >= 0)
            slack = np.bincount(classes[here, e], weights[here, e], self.entries[e].n_classes)
            others.append((e, slack.astype(np.int64), 1))
        system = coded.system(place, weight, size, others)
        return PersonKinds(place, record[dealt], number, coded.values, coded.widest(place, key), system)

    def _pieces(self, columns: Key, n: int, coded: _Coded) -> tuple[IntArray, IntArray, IntArray]:
        """Split people's records where a value of these columns has changed; return records, classes and units."""
        traces = self.traces
        classes = traces.classes[:, :n].copy()
        classes[:, [e for e in range(n) if e not in coded.of]] = -1
        turn = np.zeros(len(classes), dtype=np.int64)
        last = np.zeros((len(classes), len(columns)), dtype=np.uint64)
        piece = np.zeros(classes.shape, dtype=np.int64)
        for e in range(n):
            entry, here = self.entries[e], np.flatnonzero(classes[:, e] >= 0)
            if entry.has_changes:
                tags = np.zeros((len(here), len(columns)), dtype=np.uint64)
                for j, name in enumerate(columns):
                    if name in entry.columns:
                        tags[:, j] = entry.tags_of(name)[traces.rows[here, e]]
                changed = ((tags != 0) & (last[here] != 0) & (tags != last[here])).any(axis=1)
                turn[here] += changed
                last[here] = np.where((tags != 0) | changed[:, None], tags, last[here])
            piece[:, e] = turn
            if not entry.has_changes and len(here):
                # from then on it is another one
                turn[here] += self._contradicted(e, here, columns, coded)
        pieces = [np.where(piece == t, classes, -1) for t in range(int(turn.max(initial=0)) + 1)]
        record = np.concatenate([np.flatnonzero((own >= 0).any(axis=1)) for own in pieces])
        cut = np.concatenate([own[(own >= 0).any(axis=1)] for own in pieces])
        return record, cut, np.where(cut >= 0, self._units[record, :n], 0)

    def _contradicted(self, e: int, here: IntArray, columns: Key, coded: _Coded) -> BoolArray:
        """Return who in a release of 0.1.0, which kept no tags, now has a value that the class did not contain."""
        now, row = self.entries[-1], self.traces.row[here]
        if not set(columns) <= set(now.columns):
            return np.zeros(len(here), dtype=np.bool_)
        code = coded.codes_of(np.column_stack([self.ids(now, c, self._own) for c in columns]))
        present = row >= 0
        found = np.ones(len(here), dtype=np.bool_)
        found[present] = coded.of[e].found(self.traces.classes[here[present], e], code[row[present]])[1]
        return ~found


_Others = tuple[int, IntArray, int]


class _Published:
    """The contents of a release's classes, by combinations of the columns that it has.

    Parameters
    ----------
    held : Histogram
        By class and by codes of the release.
    project : int64 array
        The codes here of the codes that releases with all columns share.
    first : int
        The first of its equations, one for every entry of ``held``.
    fake : int
        Weight of a counterfeit.
    """

    def __init__(self, held: Histogram, project: IntArray, first: int, fake: int) -> None:
        self.held, self.first, self.fake, self._project = held, first, fake, project
        self._span = int(max(project.max(initial=0), held.values.max(initial=0))) + 1
        self._keys = held.groups * self._span + held.values

    def found(self, classes: IntArray, codes: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the equation of each class and shared code, and which of them exist."""
        wanted = classes * self._span + self._project[codes]
        at = np.minimum(np.searchsorted(self._keys, wanted), max(len(self._keys) - 1, 0))
        return self.first + at, (codes >= 0) & (self._keys[at] == wanted)


class _Coded:
    """The classes of some releases by combinations of values, in codes that all releases with all columns share."""

    def __init__(self, history: History, columns: Key, n: int, whole: Sequence[int]) -> None:
        entries, self._whole = history.entries[:n], whole
        own = {e: [j for j, c in enumerate(columns) if c in entry.columns] for e, entry in enumerate(entries)}
        ids = {}
        for e, entry in enumerate(entries):
            if own[e]:
                ids[e] = np.column_stack([history.ids(entry, columns[j], entry.entry_values) for j in own[e]])
        joined = np.concatenate([ids[e] for e in whole])
        self.values = joined[numbered(joined)[1]]
        self.of: dict[int, _Published] = {}
        at = 0
        for e, found in ids.items():
            both, _ = numbered(np.concatenate([self.values[:, own[e]], found]))
            project, code, entry = both[: len(self.values)], both[len(self.values) :], entries[e]
            rows = len(entry.entry_rows) > 0
            units = entry.entry_rows if rows else entry.entry_units * (history.unit // entry.unit)
            held = Histogram.from_pairs(entry.entry_class, code, units, entry.n_classes)
            self.of[e] = _Published(held, project, at, 1 if rows else history.unit)
            at += len(held.units)
        self.held: IntArray = np.concatenate([release.held.units for release in self.of.values()])

    def codes_of(self, own: IntArray) -> IntArray:
        """Return the shared codes of combinations; -1 for those that no release with all columns has."""
        n = len(self.values)
        both, first = numbered(np.concatenate([self.values, own]))
        return places_among(both[:n], len(first))[both[n:]]

    def widest(self, place: IntArray, key: int) -> IntArray:
        """Return the number of different values of the key in the richest class of each kind."""
        of_key, _ = numbered(self.values[:, :key])
        widest = np.zeros(len(place), dtype=np.int64)
        for e in self._whole:
            here = place[:, e] >= 0
            distinct = self.of[e].held.relabel(of_key).distinct()
            widest[here] = np.maximum(widest[here], distinct[place[here, e]])
        return widest

    def system(self, place: IntArray, weight: IntArray, size: IntArray, others: Sequence[_Others]) -> System:
        """Set up the equations of some kinds, given their classes, weights and numbers of records.

        ``others`` fill classes in addition: a release, the number in each of its classes, and the weight of one.
        """
        kind, code = self._cells(place)
        keep = np.ones(len(kind), dtype=np.bool_)
        links = []
        for e, release in self.of.items():
            cell = np.flatnonzero(place[kind, e] >= 0)
            row, there = release.found(place[kind[cell], e], code[cell])
            times = weight[kind[cell], e]
            keep[cell] &= there & (self.held[row] >= times)
            links.append((cell, row, times))
        number = np.cumsum(keep) - 1
        links = [(number[cell[keep[cell]]], row[keep[cell]], times[keep[cell]]) for cell, row, times in links]
        sizes, kinds, n = [size], [kind[keep]], len(size)
        for e, counts, each in others:
            used, label = np.flatnonzero(counts > 0), self.of[e].held.groups
            rows = np.flatnonzero(counts[label] > 0)
            start = sum(map(len, kinds))
            links.append((start + np.arange(len(rows)), self.of[e].first + rows, np.full(len(rows), each)))
            kinds.append(n + np.searchsorted(used, label[rows]))
            sizes.append(counts[used])
            n += len(used)
        size, kind = np.concatenate(sizes), np.concatenate(kinds)
        code = np.concatenate([code[keep], np.full(len(kind) - keep.sum(), -1)])
        cell, row, times = (np.concatenate(part).astype(np.int64) for part in zip(*links, strict=True))
        return System(size, kind, code, cell, row, times, self.held)

    def _cells(self, place: IntArray) -> tuple[IntArray, IntArray]:
        """Return the values of one class of every kind: it has no others."""
        fresh = np.ones(len(place), dtype=np.bool_)
        kinds, codes = [], []
        for e in reversed(self._whole):
            here = np.flatnonzero(fresh & (place[:, e] >= 0))
            fresh[here] = False
            held = self.of[e].held.take(place[here, e])
            kinds.append(here[held.groups])
            codes.append(held.values)
        kind, code = np.concatenate(kinds), np.concatenate(codes)
        order = np.lexsort((code, kind))
        return kind[order], code[order]
