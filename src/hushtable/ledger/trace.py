"""Traces: the class of every person in every release.

A trace is one class per release, or none. An adversary who knows everybody's quasi-identifiers, and who is in which
release, cannot distinguish people with the same trace; any intersection or difference of published classes is
a union of traces. So a trace is to combined releases what a class is to one release.

People are tracked by name, even if their quasi-identifiers change. For a person with several records, those
with the same quasi-identifiers are the same, then those with the same values; the others are matched in the order of
their classes: the person is known to be in both classes, whichever record became which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import AnyArray, IntArray, inverted, run_places
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.entry import Entry


@dataclass(frozen=True)
class Traces:
    """The traces of everybody who is in some release.

    Attributes
    ----------
    classes : int64 array, records x releases
        The class of each record in each release; -1 if it is not in it. The last release is the new one.
    person : int64 array
        Person of each record.
    rows : int64 array, records x releases
        Each record's position in each release; -1 if it is not in it.
    """

    classes: IntArray
    person: IntArray
    rows: IntArray

    @property
    def row(self) -> IntArray:
        """Each record's position in the new release."""
        return self.rows[:, -1]

    @cached_property
    def groups(self) -> tuple[IntArray, IntArray]:
        """The trace of each record, as a number, and a record that has it."""
        return numbered(self.classes)

    @cached_property
    def before(self) -> IntArray:
        """The trace of each record in the earlier releases only."""
        return numbered(self.classes[:, :-1])[0]

    def people(self, group: IntArray, n_groups: int) -> IntArray:
        """Count the people of groups of records; -1 is in none."""
        _, first = numbered(np.column_stack([group, self.person]))
        return np.bincount(group[first][group[first] >= 0], minlength=n_groups).astype(np.int64)


def numbered(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Number the distinct rows of a matrix of numbers from -1 on, in their order; also return one row of each.

    Examples
    --------
    >>> [found.tolist() for found in numbered(np.array([[3, -1], [-1, 2], [3, -1]]))]
    [[1, 0, 1], [1, 0]]
    """
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return number_rows(list((rows + 1).T), (rows.max(axis=0, initial=-1) + 2).tolist())


def trace(entries: Sequence[Entry]) -> Traces:
    """Track everybody through these releases, the new one last.

    Examples
    --------
    >>> from hushtable.ledger.entry import Entry
    >>> def release(people, classes):
    ...     nothing = np.zeros(0, dtype=np.int64)
    ...     persons = np.array([[p, 0] for p in people], dtype=np.uint64)
    ...     return Entry("", "", "", (), 1, persons, persons[:, 0], np.array(classes), np.zeros(2, dtype=np.int64),
    ...                  (), nothing, nothing, nothing.reshape(0, 0))
    >>> trace([release([7, 8, 9], [0, 0, 1]), release([7, 9], [0, 0])]).classes.tolist()
    [[0, 0], [0, -1], [1, 0]]
    """
    persons = np.concatenate([e.persons for e in entries])
    person = _labelled([persons[:, 0], persons[:, 1]])
    # whose each record is that was followed so far, with its last quasi-identifiers and values
    last: list[AnyArray] = [np.empty(0, dtype=kind) for kind in (np.int64, np.uint64, np.uint64)]
    at, start = [], 0
    for entry in entries:
        now = [person[start : start + len(entry.classes)], entry.records, _mark(entry)]
        start += len(entry.classes)
        order = np.lexsort((entry.classes, now[0]))
        here = np.empty(len(order), dtype=np.int64)
        here[order] = _continued(last, [part[order] for part in now])
        new = order[here[order] >= len(last[0])]
        last = [np.append(before, part[new]) for before, part in zip(last, now, strict=True)]
        for before, part in zip(last, now, strict=True):
            before[here] = part
        at.append(here)
    classes, rows = (np.full((len(last[0]), len(entries)), -1, dtype=np.int64) for _ in range(2))
    for e, (here, entry) in enumerate(zip(at, entries, strict=True)):
        classes[here, e], rows[here, e] = entry.classes, np.arange(len(here))
    return Traces(classes, last[0], rows)


def _mark(entry: Entry) -> AnyArray:
    """Number the values of a person's records, so that those with the same values are recognized; 0 for unknown."""
    mark = np.zeros(len(entry.classes), dtype=np.uint64)
    for tag in entry.tags.T if entry.has_changes else ():
        mark = mark * np.uint64(0x9E3779B97F4A7C15) + tag
    return mark


def _continued(then: Sequence[AnyArray], now: Sequence[AnyArray]) -> IntArray:
    """Return which of the tracked records each record continues; higher numbers are new ones.

    Both arguments are owners, quasi-identifiers and values. Records that agree in all of these are the same, then those
    that agree in the quasi-identifiers, then in the values.
    """
    at = np.full(len(now[0]), -1, dtype=np.int64)
    free, rest = np.arange(len(then[0])), np.arange(len(now[0]))
    for alike in ((0, 1, 2), (0, 1), (0, 2), (0,)):
        one, other = _paired([then[i][free] for i in alike], [now[i][rest] for i in alike])
        at[rest[other]] = free[one]
        free, rest = np.delete(free, one), np.delete(rest, other)
    at[rest] = len(then[0]) + np.arange(len(rest))
    return at


def _paired(one: Sequence[AnyArray], other: Sequence[AnyArray]) -> tuple[IntArray, IntArray]:
    """Pair equal rows of two tables, each at most once and in their order; return the positions of the pairs."""
    label = _labelled([np.concatenate(both) for both in zip(one, other, strict=True)])
    n = len(one[0])
    mine, theirs = (own * (len(label) + 1) + _turns(own) for own in (label[:n], label[n:]))
    _, left, right = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    return left.astype(np.int64), right.astype(np.int64)


def _labelled(columns: Sequence[AnyArray]) -> IntArray:
    """Number the distinct rows of columns of any numbers, in their order."""
    order = np.lexsort(columns[::-1])
    changes = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    label = np.empty(len(order), dtype=np.int64)
    label[order] = np.cumsum(np.append(False, changes))
    return label


def _turns(label: IntArray) -> IntArray:
    """Number the rows that have the same label: 0, 1, ..."""
    order = np.argsort(label, kind="stable")
    return run_places(label[order])[inverted(order)]
