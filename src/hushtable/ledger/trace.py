"""Traces: in which class of which release everybody is.

A trace is one class per release, or none. People with the same trace cannot be told apart by anybody who knows the
quasi-identifiers of all, and who is in which release; what any intersection or difference of published classes holds is
a union of traces. So a trace is to releases together what a class is to one release.

Somebody who has one record in every release is followed by name, whatever happens to the quasi-identifiers. Somebody
who has several is followed record by record: those with the same quasi-identifiers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.entry import Entry

__all__ = ["Traces", "trace"]


@dataclass(frozen=True)
class Traces:
    """The traces of everybody who is in some release.

    Attributes
    ----------
    classes : int64 array, records x releases
        The class of each record in each release; -1 where it is not in it. The last release is the new one.
    person : int64 array
        Whose each record is.
    row : int64 array
        The record's place in the new release; -1 where it is not in it.
    """

    classes: IntArray
    person: IntArray
    row: IntArray

    @cached_property
    def groups(self) -> tuple[IntArray, IntArray]:
        """The trace of each record, as a number, and a record that has it."""
        return _numbered(self.classes)

    @cached_property
    def before(self) -> IntArray:
        """The trace of each record in the earlier releases alone."""
        return _numbered(self.classes[:, :-1])[0]

    def people(self, group: IntArray, n_groups: int) -> IntArray:
        """Count the people of groups of records; -1 is in none."""
        kept = np.flatnonzero(group >= 0)
        pairs = np.unique(group[kept] * (int(self.person.max(initial=0)) + 1) + self.person[kept])
        return np.bincount(pairs // (int(self.person.max(initial=0)) + 1), minlength=n_groups).astype(np.int64)


def _numbered(classes: IntArray) -> tuple[IntArray, IntArray]:
    if not classes.shape[1]:
        return np.zeros(len(classes), dtype=np.int64), np.zeros(1, dtype=np.int64)
    columns = [classes[:, j] + 1 for j in range(classes.shape[1])]
    return number_rows(columns, [int(c.max(initial=0)) + 1 for c in columns])


def trace(entries: Sequence[Entry]) -> Traces:
    """Follow everybody through these releases, the new one last.

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
    order = np.lexsort((persons[:, 1], persons[:, 0]))
    new = _starts(persons[order, 0], persons[order, 1])
    person = np.empty(len(order), dtype=np.int64)
    person[order] = np.cumsum(new) - 1
    n_people = int(new.sum())
    release = np.repeat(np.arange(len(entries)), [len(e.classes) for e in entries])
    several = np.zeros(n_people, dtype=np.bool_)
    for e in range(len(entries)):
        several |= np.bincount(person[release == e], minlength=n_people) > 1
    record = np.concatenate([e.records for e in entries])
    record = np.where(several[person], record, np.uint64(0))
    turn = _turns(person, record, release)
    order = np.lexsort((turn, record, person))
    new = _starts(person[order], record[order], turn[order])
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    n = int(new.sum())
    classes = np.full((n, len(entries)), -1, dtype=np.int64)
    classes[which, release] = np.concatenate([e.classes for e in entries])
    owner = np.empty(n, dtype=np.int64)
    owner[which] = person
    row = np.full(n, -1, dtype=np.int64)
    last = release == len(entries) - 1
    row[which[last]] = np.arange(int(last.sum()))
    return Traces(classes, owner, row)


def _starts(*columns: AnyArray) -> BoolArray:
    """Tell where a new combination begins in sorted columns."""
    new = np.ones(len(columns[0]), dtype=np.bool_)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def _turns(person: IntArray, record: AnyArray, release: IntArray) -> IntArray:
    """Number the records of a person that are alike within a release: 0, 1, ..."""
    order = np.lexsort((np.arange(len(person)), record, person, release))
    new = _starts(person[order], record[order], release[order])
    start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order)) - start
    return turn
