"""Kinds of people, and what the releases say of them: one constraint problem.

People who are in the same classes of all releases are of one *kind*: nobody who knows everybody's quasi-identifiers,
and who is in which release, can tell them apart. Let x[kind, value] be how many of a kind have a value. These are
whole numbers from 0 on; those of a kind add up to its people, and those of a class to what the class publishes.
Whatever satisfies that is a *world*; nobody can know more than what all worlds have in common.

Counterfeits are a kind of their own in each class that has some. A person whose value has changed is somebody else
from then on: the ledger knows of whom that is so. Where people have several records, records are followed; with an
entity each counts as its share of the person. Of several columns taken together a value is a combination, and
releases that have only some of the columns say what they say of those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.entry import Entry
from hushtable.ledger.trace import Traces, record_units, trace
from hushtable.table.stats import Key

__all__ = ["History", "Kinds", "System"]


@dataclass(frozen=True)
class System:
    """The constraint problem: a variable for every value that a kind might have, equations of kinds and of classes.

    Attributes
    ----------
    size : int64 array
        Records of every kind.
    kind, code : int64 arrays
        The variables, kinds ascending: who, and which value.
    cell, row, weight : int64 arrays
        Where the variables stand in the classes' equations, and what they are multiplied by there.
    held : int64 array
        What every such equation adds up to.
    """

    size: IntArray
    kind: IntArray
    code: IntArray
    cell: IntArray
    row: IntArray
    weight: IntArray
    held: IntArray


@dataclass(frozen=True)
class Kinds:
    """Everybody of some releases, by kind.

    Attributes
    ----------
    place : int64 array, kinds x releases
        The class of each kind in each release; -1 where it is in none.
    record, kind : int64 arrays
        Which records of the traces are of which kind; a record whose value changed is of several.
    values : int64 array, codes x columns
        The value (see ``History.numbers``) of each code in each column.
    widest : int64 array
        How many different values of the first columns, the key, the richest class of each kind has.
    system : System
        Counterfeits are further kinds behind these.
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
        The newest one's values, record by record, as ``describe`` gives them.
    """

    def __init__(self, entries: Sequence[Entry], own: IntArray) -> None:
        self.entries, self._own = list(entries), own
        self.unit = math.lcm(*(e.unit for e in entries))
        self._numbers: dict[str, dict[str, int]] = {}

    @cached_property
    def traces(self) -> Traces:
        """In which class of which release everybody is."""
        return trace(self.entries)

    @cached_property
    def _units(self) -> IntArray:
        """What every record counts in every release: a row, or in those of 0.1.0, which kept no rows, its share."""
        units = record_units(self.traces, self.entries, self.unit)
        for e, entry in enumerate(self.entries):
            if len(entry.entry_rows):
                units[:, e] = np.minimum(units[:, e], 1)
        return units

    def numbers(self, column: str) -> dict[str, int]:
        """Number the values of a column over all releases."""
        if column not in self._numbers:
            found: dict[str, int] = {}
            for entry in self.entries:
                if column in entry.columns:
                    for value in entry.values[entry.columns.index(column)]:
                        found.setdefault(value, len(found))
            self._numbers[column] = found
        return self._numbers[column]

    def ids(self, entry: Entry, column: str) -> IntArray:
        """Return the numbers of the values that the classes of a release hold, entry by entry."""
        at, numbers = entry.columns.index(column), self.numbers(column)
        return np.array([numbers[v] for v in entry.values[at]], dtype=np.int64)[entry.entry_values[:, at]]

    @cached_property
    def kept(self) -> dict[str, float]:
        """The columns that most people keep from one release to another, and the least share who keep each.

        Of releases of 0.1.0 it is not known: there nearly everybody is taken to keep them.
        """
        found: dict[str, list[float]] = {}
        for f, later in enumerate(self.entries):
            for e, entry in enumerate(self.entries[:f]):
                both = np.flatnonzero((self.traces.classes[:, e] >= 0) & (self.traces.classes[:, f] >= 0))
                for name in set(entry.columns) & set(later.columns) if len(both) else ():
                    share = 0.99
                    if entry.known and later.known:
                        then = entry.tags[self.traces.rows[both, e], entry.columns.index(name)]
                        now = later.tags[self.traces.rows[both, f], later.columns.index(name)]
                        share = float(np.mean(then == now))
                    found.setdefault(name, []).append(share)
        return {name: min(shares) for name, shares in found.items() if max(shares) > 0.5}

    def beside(self, key: Key) -> list[Key]:
        """Return sets of columns that link rows: those that everybody keeps, then with others, alone and one by one."""
        kept = {name: share for name, share in self.kept.items() if name not in key}
        sure = tuple(sorted(name for name, share in kept.items() if share == 1))
        rest = sorted((name for name in kept if name not in sure), key=lambda name: (-kept[name], name))
        sets = [sure, *((*sure, name) for name in rest), *((*sure, *rest[:n]) for n in range(2, len(rest) + 1))]
        return [some for some in sets if some]

    def kinds(self, columns: Key, key: int, upto: int | None = None) -> Kinds | None:
        """Set up the problem of some columns; None where fewer than two releases have them.

        Parameters
        ----------
        columns : Key
        key : int
            How many of these, from the first, are what is judged.
        upto : int, optional
            Only so many releases, from the first.
        """
        n = len(self.entries) if upto is None else upto
        whole = [e for e in range(n) if set(columns) <= set(self.entries[e].columns)]
        if not whole:
            return None
        coded = _Coded(self, columns, n, whole)
        record, classes, weights = self._pieces(columns, n, coded)
        dealt = np.flatnonzero((classes[:, whole] >= 0).any(axis=1))
        beside = np.setdiff1d(np.arange(len(record)), dealt)
        number, first = number_rows(*_shifted([*classes[dealt].T, *weights[dealt].T]))
        place, weight = classes[dealt][first], weights[dealt][first]
        size = np.bincount(number, minlength=len(first)).astype(np.int64)
        slack = np.zeros(len(coded.fakes), dtype=np.int64)
        for e in coded.rows_of:
            here = beside[classes[beside, e] >= 0]
            np.add.at(slack, coded.start[e] + classes[here, e], weights[here, e])
        system = coded.system(place, weight, size, slack)
        return Kinds(place, record[dealt], number, coded.values, coded.widest(place, key), system)

    def _pieces(self, columns: Key, n: int, coded: _Coded) -> tuple[IntArray, IntArray, IntArray]:
        """Cut everybody's records where a value of these columns has changed; return records, classes and units."""
        traces = self.traces
        classes = traces.classes[:, :n].copy()
        for e in range(n):
            if e not in coded.rows_of:
                classes[:, e] = -1
        turn = np.zeros(len(classes), dtype=np.int64)
        last = np.zeros((len(classes), len(columns)), dtype=np.uint64)
        piece = np.zeros(classes.shape, dtype=np.int64)
        for e in range(n):
            entry, here = self.entries[e], np.flatnonzero(classes[:, e] >= 0)
            if entry.known:
                tags = np.zeros((len(here), len(columns)), dtype=np.uint64)
                for j, name in enumerate(columns):
                    if name in entry.columns:
                        tags[:, j] = entry.tags[traces.rows[here, e], entry.columns.index(name)]
                changed = ((tags != 0) & (last[here] != 0) & (tags != last[here])).any(axis=1)
                turn[here] += changed
                last[here] = np.where((tags != 0) | changed[:, None], tags, last[here])
            piece[:, e] = turn
            if not entry.known and len(here):
                # from then on it is another one
                turn[here] += self._contradicted(e, here, columns, coded)
        out_record, out_classes, out_units = [], [], []
        for t in range(int(turn.max(initial=0)) + 1):
            mine = np.where(piece == t, classes, -1)
            some = np.flatnonzero((mine >= 0).any(axis=1))
            out_record.append(some)
            out_classes.append(mine[some])
            out_units.append(np.where(mine[some] >= 0, self._units[some, :n], 0))
        return np.concatenate(out_record), np.concatenate(out_classes), np.concatenate(out_units)

    def _contradicted(self, e: int, here: IntArray, columns: Key, coded: _Coded) -> BoolArray:
        """Who of a release of 0.1.0, which kept no tags, has a value now that the class did not hold."""
        now, row = self.entries[-1], self.traces.row[here]
        if not set(columns) <= set(now.columns):
            return np.zeros(len(here), dtype=np.bool_)
        known = [np.array([self.numbers(c)[v] for v in now.values[now.columns.index(c)]]) for c in columns]
        own = np.column_stack([k[self._own[:, now.columns.index(c)]] for k, c in zip(known, columns, strict=True)])
        code = coded.codes_of(own)
        present = row >= 0
        found = np.ones(len(here), dtype=np.bool_)
        found[present] = coded.held_in(e, self.traces.classes[here[present], e], code[row[present]])
        return ~found


class _Coded:
    """The classes of some releases by combinations of values, in codes that all releases with all columns share."""

    def __init__(self, history: History, columns: Key, n: int, whole: Sequence[int]) -> None:
        entries = history.entries[:n]
        self._history, self._columns = history, columns
        values = {}
        for e, entry in enumerate(entries):
            own = [c for c in columns if c in entry.columns]
            if own:
                values[e] = own, np.column_stack([history.ids(entry, c) for c in own])
        sizes = [len(history.numbers(c)) for c in columns]
        joined = np.concatenate([values[e][1] for e in whole])
        number, first = number_rows(list(joined.T), sizes)
        self.values = joined[first]
        self.start = np.concatenate([[0], np.cumsum([e.n_classes for e in entries])]).astype(np.int64)
        self.fakes = np.concatenate([e.counterfeits for e in entries]).astype(np.int64)
        self._project: dict[int, IntArray] = {}
        self.rows_of: dict[int, IntArray] = {}
        self._spans: dict[int, int] = {}
        self.first_row: dict[int, int] = {}
        held: list[IntArray] = []
        at = 0
        ends = np.cumsum([0, *(len(values[e][1]) for e in whole)])
        for e, (own, ids) in values.items():
            if e in whole:
                code, project = number[ends[whole.index(e)] : ends[whole.index(e) + 1]], np.arange(len(first))
            else:
                some = [columns.index(c) for c in own]
                both, _ = number_rows(list(np.concatenate([self.values[:, some], ids]).T), [sizes[j] for j in some])
                project, code = both[: len(first)], both[len(first) :]
            span = int(max(project.max(initial=0), code.max(initial=0))) + 1
            keys, place = np.unique(entries[e].entry_class * span + code, return_inverse=True)
            units = np.zeros(len(keys), dtype=np.int64)
            counted = entries[e].entry_units * (history.unit // entries[e].unit)
            np.add.at(units, place, entries[e].entry_rows if len(entries[e].entry_rows) else counted)
            self.rows_of[e], self._project[e], self._spans[e] = keys, project, span
            self.first_row[e] = at
            held.append(units)
            at += len(keys)
        self.held: IntArray = np.concatenate(held)
        self._whole = list(whole)

    def codes_of(self, own: IntArray) -> IntArray:
        """Return the shared codes of combinations; -1 for those that no release with all columns has."""
        n = len(self.values)
        sizes = [len(self._history.numbers(c)) for c in self._columns]
        both, _ = number_rows(list(np.concatenate([self.values, own]).T), sizes)
        code = np.full(int(both.max(initial=0)) + 1, -1, dtype=np.int64)
        code[both[:n]] = np.arange(n)
        return code[both[n:]]

    def found(self, e: int, classes: IntArray, codes: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the equation of each class and code, and which of them there are."""
        keys = self.rows_of[e]
        wanted = classes * self._spans[e] + self._project[e][codes]
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return self.first_row[e] + at, (codes >= 0) & (keys[at] == wanted)

    def held_in(self, e: int, classes: IntArray, codes: IntArray) -> BoolArray:
        """Whether classes hold codes."""
        return self.found(e, classes, codes)[1]

    def widest(self, place: IntArray, key: int) -> IntArray:
        """Return how many different values of the key the richest class of each kind has."""
        own = list(self.values[:, :key].T)
        of_key, _ = number_rows(own, [int(c.max(initial=0)) + 1 for c in own])
        widest = np.zeros(len(place), dtype=np.int64)
        for e in self._whole:
            keys, span = self.rows_of[e], self._spans[e]
            width = int(of_key.max(initial=0)) + 1
            pairs = np.unique(keys // span * width + of_key[keys % span])
            distinct = np.bincount(pairs // width, minlength=int(self.start[e + 1] - self.start[e]))
            here = place[:, e] >= 0
            widest[here] = np.maximum(widest[here], distinct[place[here, e]])
        return widest

    def system(self, place: IntArray, weight: IntArray, size: IntArray, slack: IntArray) -> System:
        """Set up the equations."""
        kind, code = self._cells(place)
        keep = np.ones(len(kind), dtype=np.bool_)
        for e in self.rows_of:
            here = np.flatnonzero(place[kind, e] >= 0)
            at, there = self.found(e, place[kind[here], e], code[here])
            keep[here] &= there & (self.held[at] >= weight[kind[here], e])
        kind, code = kind[keep], code[keep]
        cell: list[IntArray] = []
        row: list[IntArray] = []
        times: list[IntArray] = []
        for e in self.rows_of:
            here = np.flatnonzero(place[kind, e] >= 0)
            cell.append(here)
            row.append(self.found(e, place[kind[here], e], code[here])[0])
            times.append(weight[kind[here], e])
        sizes, n = [size], len(kind)
        more_kind, more_code = [kind], [code]
        for number in (self.fakes, slack):
            for e, keys in self.rows_of.items():
                whole = number is self.fakes and not len(self._history.entries[e].entry_rows)
                each = self._history.unit if whole else 1
                label = keys // self._spans[e]
                counts = number[self.start[e] : self.start[e + 1]]
                used = np.flatnonzero(counts > 0)
                place_of = np.full(len(counts), -1, dtype=np.int64)
                place_of[used] = sum(map(len, sizes)) + np.arange(len(used))
                rows = np.flatnonzero(place_of[label] >= 0)
                more_kind.append(place_of[label[rows]])
                more_code.append(np.full(len(rows), -1, dtype=np.int64))
                cell.append(n + np.arange(len(rows)))
                row.append(self.first_row[e] + rows)
                times.append(np.full(len(rows), each, dtype=np.int64))
                sizes.append(counts[used])
                n += len(rows)
        every = (sizes, more_kind, more_code, cell, row, times)
        size, kind, code, of_cell, of_row, of_weight = (np.concatenate(part).astype(np.int64) for part in every)
        return System(size, kind, code, of_cell, of_row, of_weight, self.held)

    def _cells(self, place: IntArray) -> tuple[IntArray, IntArray]:
        """Return the values of one class of every kind: it has no others."""
        fresh = np.ones(len(place), dtype=np.bool_)
        kinds, codes = [], []
        for e in reversed(self._whole):
            here = np.flatnonzero(fresh & (place[:, e] >= 0))
            fresh[here] = False
            keys, span = self.rows_of[e], self._spans[e]
            ends = np.searchsorted(keys, np.arange(int(self.start[e + 1] - self.start[e]) + 1) * span)
            lengths = np.diff(ends)[place[here, e]]
            kinds.append(np.repeat(here, lengths))
            inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            codes.append(keys[np.repeat(ends[place[here, e]], lengths) + inside] % span)
        kind, code = np.concatenate(kinds), np.concatenate(codes)
        order = np.lexsort((code, kind))
        return kind[order], code[order]


def _shifted(columns: Sequence[IntArray]) -> tuple[list[IntArray], list[int]]:
    """Columns of numbers from -1 on as ``number_rows`` takes them."""
    return [c + 1 for c in columns], [int(c.max(initial=-1)) + 2 for c in columns]
