"""What the classes of the same people have in common, once their values are dealt out to all of them.

A person's value is in each of the person's classes, and in each at most as often as it occurs there: what is left is
the least count of every value, less what no dealing gives (see ``hushtable.ledger.dealing``).

A value that changed is a removal and an insertion. So whoever is in the new release is followed back to those classes
that hold the present value, and is another one in the others; whoever is not, and whose classes share no value, is
another one in each. Releases with only some of a joint model's columns narrow down what is possible, but are not dealt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.dealing import deal
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.game import Sheet, Truth
from hushtable.ledger.trace import Traces, record_units
from hushtable.ledger.values import Counts, counts_of, histogram_of, own_codes
from hushtable.table.stats import Histogram, Key

__all__ = ["Coded", "Common", "coded_releases", "common"]


@dataclass(frozen=True)
class Common:
    """What is left for everybody.

    Attributes
    ----------
    left : Histogram
        For every kind of people, the values that they can have: in the new release's codes, and behind them those that
        it does not know.
    widest : int64 array
        How many different values the richest of their classes has.
    present : bool array
        Which kinds are in the new release.
    told : bool array
        Of which kinds the new release tells something together with others: those in several releases, and those of
        whom the dealing leaves less.
    record, kind : int64 arrays
        Which records of the traces are of which kind.
    """

    left: Histogram
    widest: IntArray
    present: BoolArray
    told: BoolArray
    record: IntArray
    kind: IntArray

    def records(self, kinds: IntArray, n: int) -> BoolArray:
        """Tell which of n records are of some kinds."""
        out = np.zeros(n, dtype=np.bool_)
        out[self.record[np.isin(self.kind, kinds)]] = True
        return out


@dataclass(frozen=True)
class Coded:
    """A release in the codes that all share: the new release's, and behind them values that it does not know.

    Attributes
    ----------
    counts : Counts
        Its classes, by its own combinations.
    place : int64 array
        The combination that each shared code stands for; -1 where there is none, -2 where it cannot tell.
    classes : Histogram or None
        The classes by shared codes; None where it has only some of the columns.
    """

    counts: Counts
    place: IntArray
    classes: Histogram | None


def common(now: Described, earlier: Sequence[Entry], traces: Traces, key: Key, unit: int) -> Common | None:
    """Find what everybody's classes have in common; None where nobody is in several releases.

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
    """
    sizes = [len(now.entry.values[now.entry.columns.index(name)]) for name in key]
    own = own_codes(now, traces, key, sizes)
    releases = coded_releases(now.entry, earlier, key, sizes, unit)
    record, classes = _pieces(traces, releases, own)
    if not np.any((classes[:, :-1] >= 0) & (classes[:, -1:] >= 0)):
        return None
    kind, first = _numbered(classes)
    possible = _possible(classes[first], releases, unit)
    none = (possible.lengths == 0)[kind]
    if none.any():
        record, classes = _apart(record, classes, none)
        kind, first = _numbered(classes)
        possible = _possible(classes[first], releases, unit)
    weights = record_units(traces, [*earlier, now.entry], unit)[record] * (classes >= 0)
    entries, truth = [*earlier, now.entry], np.where(classes[:, -1] >= 0, own[record], -1)
    left = _dealt(possible, classes, kind, weights, truth, releases, entries, unit)
    of_kind = classes[first]
    present, several = of_kind[:, -1] >= 0, (of_kind[:, :-1] >= 0).any(axis=1)
    told = _less(left, possible)
    if np.any(told & ~present):
        before = classes.copy()
        before[:, -1] = -1
        old, some = _numbered(before)
        then = _dealt(_possible(before[some], releases, unit), before, old, weights, truth, releases, entries, unit)
        # what the earlier releases told without the new one is not its fault
        told &= present | _less(left, then.take(old[first]))
    widest = np.zeros(len(first), dtype=np.int64)
    for e, release in enumerate(releases):
        if release is not None:
            here = of_kind[:, e] >= 0
            widest[here] = np.maximum(widest[here], release.counts.distinct[of_kind[here, e]])
    return Common(left, widest, present, told | (present & several), record, kind)


def coded_releases(
    now: Entry, earlier: Sequence[Entry], key: Key, sizes: Sequence[int], unit: int
) -> list[Coded | None]:
    """Return all releases in shared codes, the new one last; None for those with none of the columns."""
    found = [counts_of(entry, now, key, sizes, unit) for entry in earlier]
    further: dict[tuple[str, ...], int] = {}
    n = math.prod(sizes)
    back: list[IntArray | None] = []
    for entry, compared in zip(earlier, found, strict=True):
        if compared is None or not set(key) <= set(entry.columns):
            back.append(None)
            continue
        counts, place = compared
        shared = np.full(counts.span, -1, dtype=np.int64)
        shared[place[place >= 0]] = np.flatnonzero(place >= 0)
        columns = [entry.values[entry.columns.index(name)] for name in key]
        for combination in np.unique(counts.keys % counts.span).tolist():
            if shared[combination] < 0:
                hashes, rest = [], combination
                for values in reversed(columns):
                    hashes.append(values[rest % len(values)])
                    rest //= len(values)
                shared[combination] = further.setdefault(tuple(hashes), n + len(further))
        back.append(shared)
    span = n + len(further)
    out: list[Coded | None] = []
    for compared, code_of, entry in zip(found, back, earlier, strict=True):
        if compared is None:
            out.append(None)
            continue
        counts, place = compared
        wide = np.append(place, np.full(len(further), -2 if code_of is None else -1, dtype=np.int64))
        classes = None
        if code_of is not None:
            used = counts.keys % counts.span
            wide[code_of[used]] = used
            classes = Histogram.from_pairs(
                counts.keys // counts.span, code_of[used], counts.units, entry.n_classes, unit
            )
        out.append(Coded(counts, wide, classes))
    own = histogram_of(now, key, sizes, unit)
    counts = Counts(own.groups * span + own.values, own.units, span, unit, own.distinct())
    return [*out, Coded(counts, np.arange(span), own)]


def _pieces(traces: Traces, releases: Sequence[Coded | None], own: IntArray) -> tuple[IntArray, IntArray]:
    """Cut the traces where a value has changed; return the records' numbers and the classes of every piece."""
    classes, whose, cut = traces.classes.copy(), [np.arange(len(traces.row))], []
    present = np.flatnonzero(own >= 0)
    for e, release in enumerate(releases[:-1]):
        if release is None:
            classes[:, e] = -1
            continue
        there = present[classes[present, e] >= 0]
        changed = there[release.counts.find(classes[there, e], release.place[own[there]]) == 0]
        if release.classes is not None:
            alone = np.full((len(changed), classes.shape[1]), -1, dtype=np.int64)
            alone[:, e] = classes[changed, e]
            whose.append(changed)
            cut.append(alone)
        classes[changed, e] = -1
    record, classes = np.concatenate(whose), np.concatenate([classes, *cut])
    dealt = [e for e, release in enumerate(releases) if release is not None and release.classes is not None]
    kept = np.flatnonzero((classes[:, dealt] >= 0).any(axis=1))
    return record[kept], classes[kept]


def _apart(record: IntArray, classes: IntArray, which: BoolArray) -> tuple[IntArray, IntArray]:
    """Take some pieces apart into their single classes."""
    piece, e = np.nonzero((classes >= 0) & which[:, None])
    alone = np.full((len(piece), classes.shape[1]), -1, dtype=np.int64)
    alone[np.arange(len(piece)), e] = classes[piece, e]
    return np.concatenate([record[~which], record[piece]]), np.concatenate([classes[~which], alone])


def _numbered(classes: IntArray) -> tuple[IntArray, IntArray]:
    columns = [classes[:, e] + 1 for e in range(classes.shape[1])]
    return number_rows(columns, [int(column.max(initial=0)) + 1 for column in columns])


def _possible(classes: IntArray, releases: Sequence[Coded | None], unit: int) -> Histogram:
    """Return what the classes of every kind have in common."""
    fresh = np.ones(len(classes), dtype=np.bool_)
    groups, values, units = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    for e in reversed(range(len(releases))):
        release = releases[e]
        if release is None or release.classes is None:
            continue
        here = np.flatnonzero(fresh & (classes[:, e] >= 0))
        fresh[here] = False
        taken = release.classes.take(classes[here, e])
        groups.append(here[taken.groups])
        values.append(taken.values)
        units.append(taken.units)
    kind, value, left = (np.concatenate(parts) for parts in (groups, values, units))
    for e, release in enumerate(releases):
        if release is None:
            continue
        inside = (classes[kind, e] >= 0) & (release.place[value] != -2)
        found = release.counts.find(classes[kind[inside], e], release.place[value[inside]])
        left[inside] = np.minimum(left[inside], found)
    return Histogram.from_pairs(kind, value, left, len(classes), unit)


def _dealt(
    possible: Histogram, classes: IntArray, kind: IntArray, weights: IntArray, truth: IntArray,
    releases: Sequence[Coded | None], entries: Sequence[Entry], unit: int,
) -> Histogram:  # fmt: skip
    """Deal the values of all classes out to kinds of pieces, given the values that some of these have."""
    known = np.flatnonzero(truth >= 0)
    had = Truth(kind[known], truth[known], weights[known, -1])
    of_kind = np.full((len(possible), classes.shape[1]), -1, dtype=np.int64)
    of_kind[kind] = classes
    sheets = _sheets(of_kind, kind, weights, releases, entries, unit)
    return deal(possible, sheets, had, _steady(kind, weights * (classes >= 0)))


def _less(left: Histogram, before: Histogram) -> BoolArray:
    """Tell of which groups some value is possible less often than before, or no more."""
    span = int(max(left.values.max(initial=0), before.values.max(initial=0))) + 1
    keys, wanted = left.groups * span + left.values, before.groups * span + before.values
    at = np.searchsorted(keys, wanted)
    same = np.append(keys, -1)[at] == wanted
    fewer = np.where(same, np.append(left.units, 0)[at], 0) < before.units
    return np.asarray(before.sum(fewer) > 0)


def _steady(kind: IntArray, weights: IntArray) -> BoolArray:
    """Tell which kinds have only records that count alike in all their releases: then so do the values of the kind."""
    most = weights.max(axis=1, initial=0)
    alike = (weights > 0).any(axis=1) & ((weights == 0) | (weights == most[:, None])).all(axis=1)
    return np.asarray(np.bincount(kind[~alike], minlength=int(kind.max(initial=-1)) + 1) == 0)


def _sheets(
    of_kind: IntArray, kind: IntArray, weights: IntArray, releases: Sequence[Coded | None],
    entries: Sequence[Entry], unit: int,
) -> list[Sheet]:  # fmt: skip
    out = []
    for e, (release, entry) in enumerate(zip(releases, entries, strict=True)):
        if release is not None and release.classes is not None:
            supply = np.zeros(len(of_kind), dtype=np.int64)
            np.add.at(supply, kind, weights[:, e])
            out.append(Sheet(of_kind[:, e], supply, release.classes, entry.counterfeits * unit))
    return out
