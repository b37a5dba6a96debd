"""Whole rows: what stands beside a sensitive value links its row to the rows of other releases.

Somebody's class held (flu, 70 kg) and (HIV, 80 kg) in spring, and (flu, 70 kg) and (HIV, 90 kg) in autumn. By the
illness alone both are left; but there is one row that both classes have. So a row is taken as one value and followed
like one, and what is left is counted by the model's column again.

Rows are compared by the columns that most people keep: the others would tell the same rows apart. Whose row has changed
in spite of that, the adversary does not know: nobody is judged by rows who is in all releases together with such a one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.arrays import IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.common import Common, common
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.trace import Traces
from hushtable.ledger.values import counts_of
from hushtable.table.stats import Histogram, Key

__all__ = ["by_rows"]

_ROW = "row"


def by_rows(now: Described, earlier: Sequence[Entry], traces: Traces, key: Key, unit: int) -> Iterator[Common]:
    """Find what the rows of everybody's classes have in common, counted by the values of a column.

    Parameters
    ----------
    now : Described
        The new release.
    earlier : sequence of Entry
    traces : Traces
        Of all those releases.
    key : Key
        The sensitive (or joint) column.
    unit : int
        Units per person, for all releases.

    Yields
    ------
    Common
        One for every set of further columns that some earlier release shares with the new one. Those of whom it tells
        something are in several releases, together with nobody whose row has changed.
    """
    further = [_kept(now, e, entry, traces, key) for e, entry in enumerate(earlier)]
    for beside in sorted(set(further) - {()}):
        columns = (*key, *beside)
        coded = _coded(now, earlier, columns, len(key))
        found = common(coded.now, coded.earlier, traces, (_ROW,), unit)
        if found is not None:
            yield _projected(found, coded, traces)


def _kept(now: Described, e: int, entry: Entry, traces: Traces, key: Key) -> tuple[str, ...]:
    """Return the further columns of which most people who are in both releases have a value of their earlier class."""
    if not set(key) <= set(entry.columns):
        return ()
    both = np.flatnonzero((traces.row >= 0) & (traces.classes[:, e] >= 0))
    kept = []
    for at, name in enumerate(now.entry.columns):
        if name in key or name not in entry.columns or not len(both):
            continue
        compared = counts_of(entry, now.entry, (name,), [len(now.entry.values[at])], entry.unit)
        if compared is not None:
            counts, place = compared
            found = counts.find(traces.classes[both, e], place[now.own[traces.row[both], at]]) > 0
            if 2 * np.count_nonzero(found) > len(both):
                kept.append(name)
    return tuple(kept)


@dataclass(frozen=True)
class _Coded:
    """Releases whose only column is the row.

    Attributes
    ----------
    now : Described
    earlier : list of Entry
        Without any column where they lack some of those that make a row.
    value : int64 array
        The new release's code of the model's column in each row; -1 where it does not know the value.
    """

    now: Described
    earlier: list[Entry]
    value: IntArray


def _coded(now: Described, earlier: Sequence[Entry], columns: tuple[str, ...], n_key: int) -> _Coded:
    whole = [entry for entry in earlier if set(columns) <= set(entry.columns)]
    # the new release's values come first, so that their numbers are its codes
    numbers = [{v: i for i, v in enumerate(now.entry.values[now.entry.columns.index(name)])} for name in columns]
    parts = [now.own[:, [now.entry.columns.index(name) for name in columns]]]
    for entry in (now.entry, *whole):
        own = []
        for known, name in zip(numbers, columns, strict=True):
            at = entry.columns.index(name)
            code = np.array([known.setdefault(v, len(known)) for v in entry.values[at]], dtype=np.int64)
            own.append(code[entry.entry_values[:, at]])
        parts.append(np.column_stack(own))
    stacked = np.concatenate(parts)
    row, first = number_rows(list(stacked.T), [len(known) for known in numbers])
    names = tuple(str(i) for i in range(len(first)))
    ends = np.cumsum([len(part) for part in parts])
    value, unknown = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=np.bool_)
    for j in range(n_key):
        size = len(now.entry.values[now.entry.columns.index(columns[j])])
        value = value * size + stacked[first, j]
        unknown |= stacked[first, j] >= size
    rows = iter(np.split(row[ends[0] :], ends[1:-1] - ends[0]))
    new = Described(_of_rows(now.entry, next(rows), names), row[: ends[0], None])
    found = [_of_rows(e, next(rows), names) if set(columns) <= set(e.columns) else _without(e) for e in earlier]
    return _Coded(new, found, np.where(unknown, -1, value))


def _of_rows(entry: Entry, row: IntArray, names: tuple[str, ...]) -> Entry:
    return replace(entry, sensitive=(_ROW,), others=(), values=(names,), entry_values=row[:, None])


def _without(entry: Entry) -> Entry:
    return replace(entry, sensitive=(), others=(), values=(), entry_values=entry.entry_values[:, :0])


def _projected(found: Common, coded: _Coded, traces: Traces) -> Common:
    """Count what is left by the model's column, for those who are together with nobody whose row has changed."""
    value = coded.value[found.left.values]
    shown = np.flatnonzero(value >= 0)
    groups, units = found.left.groups[shown], found.left.units[shown]
    left = Histogram.from_pairs(groups, value[shown], units, len(found.left), found.left.unit)
    compared = [bool(entry.sensitive) for entry in (*coded.earlier, coded.now.entry)]
    seen = replace(traces, classes=traces.classes[:, compared])
    group, first = seen.groups
    changed = np.zeros(len(first), dtype=np.bool_)
    changed[group[np.bincount(found.record, minlength=len(group)) > 1]] = True
    together = (traces.row >= 0) & ((seen.classes >= 0).sum(axis=1) > 1) & ~changed[group]
    told = np.zeros(len(left), dtype=np.bool_)
    told[found.kind[together[found.record]]] = True
    return replace(found, left=left, widest=left.distinct(), told=told)
