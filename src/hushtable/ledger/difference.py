"""What was added or taken away: the people by whom classes differ from whole classes of another release."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.ledger.bounds import expanded
from hushtable.table.stats import GroupStats, Histogram, Key

__all__ = ["Remainder", "candidates", "difference", "first_values", "known_to", "left_over", "remainders"]

_AT_ONCE = 4_000_000

Remainder = tuple[tuple[int, ...], tuple[int, ...]]
"""Classes of one release, and the classes of another that lie within them."""


def known_to(stats: GroupStats, key: Key, n: int) -> GroupStats:
    """Leave out the values behind the first n."""
    hist = stats.histogram(key)
    return candidates(key, first_values(hist, n)) if np.any(hist.values >= n) else stats


def first_values(hist: Histogram, n: int) -> Histogram:
    """Leave out the values behind the first n."""
    shown = hist.values < n
    return Histogram.from_pairs(hist.groups[shown], hist.values[shown], hist.units[shown], len(hist), hist.unit)


def remainders(at: IntArray, other: IntArray, fake_at: IntArray, fake_other: IntArray) -> list[Remainder]:
    """Find the people who are left when whole classes of another release are taken out of some classes of this one.

    From every class of the other release whose people are all here: the classes that they are in now, less all classes
    of the other release that lie within those.

    Parameters
    ----------
    at, other : int64 arrays
        The class of each record in this release and in the other; -1 where it is in none.
    fake_at, fake_other : int64 arrays
        Counterfeits of each class: nobody knows which of its values are people's, so it is left out.

    Examples
    --------
    >>> none = np.zeros(2, dtype=np.int64)
    >>> remainders(np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 0, -1]), none, none)
    [((0, 1), (0,))]
    """
    size_at = np.bincount(at[at >= 0], minlength=len(fake_at))
    size_other = np.bincount(other[other >= 0], minlength=len(fake_other))
    both = (at >= 0) & (other >= 0)
    here = (np.bincount(other[both], minlength=len(fake_other)) == size_other) & (size_other > 0)
    pairs = np.unique(other[both] * len(fake_at) + at[both])
    there, label = pairs // max(len(fake_at), 1), pairs % max(len(fake_at), 1)
    there, label = there[here[there]], label[here[there]]
    ends = np.searchsorted(there, np.arange(len(fake_other) + 1))
    touching = Histogram.from_pairs(label, there, np.ones(len(label), dtype=np.int64), len(fake_at))
    wholes = sorted({tuple(label[a:b].tolist()) for a, b in itertools.pairwise(ends.tolist()) if a < b})
    found = []
    for some in _portions(wholes, touching.lengths):
        owner = np.repeat(np.arange(len(some)), [len(whole) for whole in some])
        labels = np.array([c for whole in some for c in whole], dtype=np.int64)
        which, entry = expanded(touching.offsets, labels)
        inside, count = np.unique(owner[which] * len(fake_other) + touching.values[entry], return_counts=True)
        inside = inside[count == np.diff(ends)[inside % len(fake_other)]]
        part, within = inside // len(fake_other), inside % len(fake_other)
        left = np.bincount(owner, size_at[labels], len(some)) - np.bincount(part, size_other[within], len(some))
        faked = np.bincount(owner, fake_at[labels], len(some)) + np.bincount(part, fake_other[within], len(some))
        bounds = np.searchsorted(part, np.arange(len(some) + 1))
        for w in np.flatnonzero((left > 0) & (faked == 0)).tolist():
            found.append((some[w], tuple(within[bounds[w] : bounds[w + 1]].tolist())))
    return found


def _portions(wholes: list[tuple[int, ...]], touched: IntArray) -> Iterator[list[tuple[int, ...]]]:
    """Yield sets of classes, as many at a time as touch some millions of others together."""
    ends = np.cumsum([len(whole) for whole in wholes], dtype=np.int64)
    cost = np.cumsum(touched[np.array([c for whole in wholes for c in whole], dtype=np.int64)])[ends - 1]
    start = 0
    while start < len(wholes):
        done = cost[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(cost, done + _AT_ONCE)))
        yield wholes[start:end]
        start = end


def left_over(at: IntArray, other: IntArray, found: Sequence[Remainder], which: IntArray) -> BoolArray:
    """Tell which records some of the remainders consist of.

    Examples
    --------
    >>> at, other = np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 0, -1])
    >>> left_over(at, other, [((0, 1), (0,))], np.array([0])).tolist()
    [False, False, False, False, True]
    """
    out = np.zeros(len(at), dtype=np.bool_)
    wholes, parts = [found[i][0] for i in which.tolist()], [found[i][1] for i in which.tolist()]
    order = np.argsort(at, kind="stable")
    ends = np.searchsorted(at[order], np.arange(int(at.max(initial=0)) + 2))
    width = int(other.max(initial=0)) + 2
    done = 0
    for some in _portions(wholes, np.diff(ends)):
        owner = np.repeat(np.arange(len(some)), [len(whole) for whole in some])
        of_class, place = expanded(ends, np.array([c for whole in some for c in whole], dtype=np.int64))
        record = order[place]
        own = parts[done : done + len(some)]
        taken = np.repeat(np.arange(len(some)), [len(part) for part in own]) * width
        taken += np.array([c for part in own for c in part], dtype=np.int64) + 1
        out[record[~np.isin(owner[of_class] * width + other[record] + 1, taken)]] = True
        done += len(some)
    return out


def difference(
    key: Key, whole: Histogram, parts: Histogram, found: Sequence[Remainder]
) -> tuple[GroupStats, BoolArray]:
    """Return the values of remainders, and whether they can be: no value changed in between."""
    n = len(found)
    plus = _summed(whole, [w for w, _ in found])
    minus = _summed(parts, [p for _, p in found])
    groups = np.concatenate([plus.groups, minus.groups])
    values = np.concatenate([plus.values, minus.values])
    order = np.lexsort((values, groups))
    units = np.concatenate([plus.units, -minus.units])[order]
    g, v = groups[order], values[order]
    new = np.ones(len(g), dtype=np.bool_)
    new[1:] = (g[1:] != g[:-1]) | (v[1:] != v[:-1])
    starts = np.flatnonzero(new)
    total = np.add.reduceat(units, starts) if len(starts) else units
    sound = np.ones(n, dtype=np.bool_)
    sound[g[starts][total < 0]] = False
    left = Histogram.from_pairs(g[starts], v[starts], np.maximum(total, 0), n, whole.unit)
    return candidates(key, left), sound


def _summed(hist: Histogram, sets: Sequence[tuple[int, ...]]) -> Histogram:
    """Add up some groups of a histogram for each set; a group may be in several."""
    members = np.array([g for chosen in sets for g in chosen], dtype=np.int64)
    owner = np.repeat(np.arange(len(sets), dtype=np.int64), [len(chosen) for chosen in sets])
    return hist.take(members).merge(owner, len(sets))


def candidates(key: Key, hist: Histogram) -> GroupStats:
    """Return groups of candidate values: as many people as there are candidates."""
    return GroupStats(hist.sum(hist.units).astype(np.int64), hist.unit, {key: hist})
