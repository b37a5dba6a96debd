"""The search for patterns, whole levels of sets at a time.

*Analyze-set* of the paper divides one set after the other by recursion. Sets do not influence each other, so all sets
of one depth are described, evaluated and divided together. Two paths to the same pattern lead to the same records
(those that match it), so a level keeps each pattern once.

Several attributes may induce the same number of sets; the paper divides by each of them, and a record may then match
several patterns. The number of copies is bounded: a level contains at most ``COPIES`` times the records at the start of
the search, and divides by fewer of the tied attributes, the first ones, if more would not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hushtable.algorithms.pattern.anti_unify import INDIFFERENT, Condition, selected
from hushtable.arrays import AnyArray, BoolArray, IntArray, inverted, mask_of
from hushtable.kernels.grouping import group_rows, histogram, number_rows

COPIES = 16
"""Maximum number of copies of the records in a level."""

Judge = Callable[[IntArray, IntArray], tuple[BoolArray, BoolArray]]
"""Takes the rows and offsets of some sets; returns which may be published and which may be divided further."""


@dataclass(frozen=True)
class Records:
    """The records as the search sees them.

    Attributes
    ----------
    columns : sequence of integer arrays
        The codes of every quasi-identifier.
    sizes : sequence of int
        Number of codes of each.
    unknown : sequence of bool
        Columns in which code 0 means unknown and never counts as shared by a set.
    """

    columns: Sequence[AnyArray]
    sizes: Sequence[int]
    unknown: Sequence[bool]

    def describe(self, rows: IntArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Return, for each set of rows, how many sets every attribute induces, and the values that all rows share."""
        n_sets = np.empty((len(offsets) - 1, len(self.columns)), dtype=np.int64)
        shared = np.empty_like(n_sets)
        everyone = np.empty(0, dtype=np.int64)
        for j, (codes, size) in enumerate(zip(self.columns, self.sizes, strict=True)):
            at, values, _ = histogram(rows, offsets[:-1], offsets[1:], codes, everyone, size)
            n_sets[:, j] = np.diff(at)
            shared[:, j] = np.where(n_sets[:, j] == 1, values[at[:-1]], INDIFFERENT)
        return n_sets, shared

    def patterns(self, shared: IntArray) -> IntArray:
        """Return the patterns of sets, given the values that their rows share: an unknown value does not count."""
        return np.where((shared == 0) & np.asarray(self.unknown, dtype=np.bool_), INDIFFERENT, shared)


@dataclass(frozen=True)
class Patterns:
    """Patterns and the records they were found on.

    Attributes
    ----------
    values : (patterns, attributes) int64 array
        Codes, or ``INDIFFERENT``. The longest come first, then those with more records, then by code.
    rows, offsets : int64 arrays
        The records of pattern p are ``rows[offsets[p]:offsets[p + 1]]``. A record may belong to several.
    bounded : bool
        Whether ``COPIES`` kept the search from dividing by every tied attribute.
    """

    values: IntArray
    rows: IntArray = field(repr=False)
    offsets: IntArray = field(repr=False)
    bounded: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def lengths(self) -> IntArray:
        """Number of attributes that each pattern fixes."""
        return np.asarray((self.values != INDIFFERENT).sum(axis=1))


def find_patterns(
    records: Records, start: IntArray, offsets: IntArray, *, condition: Condition, length: int, judge: Judge
) -> Patterns:
    """Divide sets of records until the pattern of each is long enough.

    Parameters
    ----------
    records : Records
    start, offsets : int64 arrays
        The initial sets.
    condition : {"<", ">"}
        Which attribute divides first.
    length : int
        Minimum number of attributes that a pattern fixes, at least 1.
    judge : callable
        Which sets are admissible, and which may still have admissible subsets.

    Examples
    --------
    >>> records = Records([np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])], [2, 3], [False, False])
    >>> pairs = lambda rows, offsets: (np.diff(offsets) >= 2, np.diff(offsets) > 2)
    >>> find_patterns(records, np.arange(4), np.array([0, 4]), condition="<", length=1, judge=pairs).values.tolist()
    [[1, 2], [0, -1]]
    """
    rows, at = start, offsets
    room = COPIES * len(start)
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    bounded = False
    while len(at) > 1:
        good, open_ = judge(rows, at)
        rows, at = keep_sets(rows, at, good | open_)
        good, open_ = (flag[good | open_] for flag in (good, open_))
        n_sets, shared = records.describe(rows, at)
        once = _once(shared, records.sizes, rows, at)
        values = records.patterns(shared)
        done = once & good & ((values != INDIFFERENT).sum(axis=1) >= length)
        found.append((shared[done], *keep_sets(rows, at, done)))
        chosen = selected(n_sets, condition) & (once & open_ & ~done)[:, None]
        chosen, cut = _within(chosen, np.diff(at), room)
        bounded |= cut
        rows, at = divide_sets(records, rows, at, chosen)
    return _collected(records, found, bounded)


def keep_sets(rows: IntArray, offsets: IntArray, which: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the rows and offsets of some of the sets.

    Examples
    --------
    >>> rows, offsets = keep_sets(np.array([5, 7, 9]), np.array([0, 2, 3]), np.array([False, True]))
    >>> rows.tolist(), offsets.tolist()
    ([9], [0, 1])
    """
    lengths = np.diff(offsets)
    kept = np.concatenate([[0], np.cumsum(lengths[which])]).astype(np.int64)
    return rows[np.repeat(which, lengths)], kept


def _once(shared: IntArray, sizes: Sequence[int], rows: IntArray, offsets: IntArray) -> BoolArray:
    """Mark each set once. Sets that share the same values are the same, or began apart and have no record in common."""
    if not len(shared):
        return np.empty(0, dtype=np.bool_)
    lead = np.minimum.reduceat(rows, offsets[:-1])
    _, first = number_rows([lead, *(shared + 1).T], [int(lead.max()) + 1, *(size + 1 for size in sizes)])
    return mask_of(first, len(shared))


def _within(chosen: BoolArray, lengths: IntArray, room: int) -> tuple[BoolArray, bool]:
    """Take fewer of the tied attributes if all of them would make too many copies."""
    turn = np.cumsum(chosen, axis=1) * chosen
    most = int(turn.max(initial=0))
    for ties in range(most, 1, -1):
        kept = chosen & (turn <= ties)
        if int((kept.sum(axis=1) * lengths).sum()) <= room:
            return kept, ties < most
    return chosen & (turn <= 1), most > 1


def divide_sets(records: Records, rows: IntArray, offsets: IntArray, chosen: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the sets that the chosen attributes induce, attribute after attribute and set after set.

    Examples
    --------
    >>> records = Records([np.array([0, 0, 1])], [2], [False])
    >>> rows, offsets = divide_sets(records, np.arange(3), np.array([0, 3]), np.array([[True]]))
    >>> rows.tolist(), offsets.tolist()
    ([0, 1, 2], [0, 2, 3])
    """
    parts, starts = [], []
    for j, (codes, size) in enumerate(zip(records.columns, records.sizes, strict=True)):
        mine, at = keep_sets(rows, offsets, chosen[:, j])
        if not len(mine):
            continue
        owner = np.repeat(np.arange(len(at) - 1), np.diff(at))
        labels, first = number_rows([owner, codes[mine]], [len(at) - 1, size])
        order, bounds = group_rows(labels, len(first))
        parts.append(mine[order])
        starts.append(np.diff(bounds))
    if not parts:
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return np.concatenate(parts), np.concatenate([[0], np.cumsum(np.concatenate(starts))]).astype(np.int64)


def _collected(records: Records, found: Sequence[tuple[IntArray, IntArray, IntArray]], bounded: bool) -> Patterns:
    """Combine the levels, each set once, in an order that depends only on content."""
    shared = np.concatenate([f[0] for f in found])
    rows = np.concatenate([f[1] for f in found])
    lengths = np.concatenate([np.diff(f[2]) for f in found])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    once = _once(shared, records.sizes, rows, offsets)
    values, lengths = records.patterns(shared[once]), lengths[once]
    rows, _ = keep_sets(rows, offsets, once)
    order = np.lexsort([*values.T[::-1], -lengths, -(values != INDIFFERENT).sum(axis=1)])
    moved, bounds = group_rows(np.repeat(inverted(order), lengths), len(order))
    return Patterns(values[order], rows[moved], bounds, bounded)
