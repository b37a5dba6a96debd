"""What was added or taken away: the people by whom a class differs from whole classes of another release."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.ledger.entry import Entry
from hushtable.ledger.values import Counts
from hushtable.table.stats import GroupStats, Histogram, Key

__all__ = ["candidates", "difference", "in_new_codes", "remainders"]


def in_new_codes(counts: Counts, place: IntArray, earlier: Entry) -> Histogram:
    """Return the earlier classes by the new release's codes; values that it does not know are left out."""
    back = np.full(counts.span, -1, dtype=np.int64)
    back[place[place >= 0]] = np.flatnonzero(place >= 0)
    code = back[counts.keys % counts.span]
    known = code >= 0
    owner = counts.keys[known] // counts.span
    return Histogram.from_pairs(owner, code[known], counts.units[known], earlier.n_classes, counts.unit)


def remainders(at: IntArray, other: IntArray, fake_at: IntArray, fake_other: IntArray) -> tuple[IntArray, int]:
    """Tell who is in a class with whole classes of the other release, but in none of those: by class, else -1."""
    inside = _contained(at, other, len(fake_other))
    part = (at >= 0) & (other >= 0)
    covered = np.zeros(len(at), dtype=np.bool_)
    covered[part] = inside[other[part]]
    with_whole = np.zeros(len(fake_at), dtype=np.bool_)
    with_whole[at[covered]] = True
    # nobody knows which values of a class with counterfeits are people's
    with_whole &= fake_at == 0
    np.logical_and.at(with_whole, at[covered], fake_other[other[covered]] == 0)
    rest = (at >= 0) & ~covered
    rest[rest] = with_whole[at[rest]]
    named, group = np.unique(at[rest], return_inverse=True)
    out = np.full(len(at), -1, dtype=np.int64)
    out[rest] = group
    return out, len(named)


def _contained(at: IntArray, other: IntArray, n: int) -> BoolArray:
    """Tell which classes of the other release lie within one class of this one."""
    there = other >= 0
    lowest = np.full(n, np.iinfo(np.int64).max)
    highest = np.full(n, -2, dtype=np.int64)
    np.minimum.at(lowest, other[there], at[there])
    np.maximum.at(highest, other[there], at[there])
    return np.asarray((lowest == highest) & (lowest >= 0))


def difference(
    key: Key, whole: Histogram, parts: Histogram, at: IntArray, other: IntArray, group: IntArray, n: int
) -> tuple[GroupStats, BoolArray]:
    """Return the classes less their whole parts, and whether that can be: no value changed in between."""
    of_group = np.zeros(n, dtype=np.int64)
    of_group[group[group >= 0]] = at[group >= 0]
    inside = _contained(at, other, len(parts))
    owner = np.full(len(parts), -1, dtype=np.int64)
    place = np.full(len(whole), -1, dtype=np.int64)
    place[of_group] = np.arange(n)
    both = (at >= 0) & (other >= 0)
    owner[other[both]] = np.where(inside[other[both]], place[at[both]], -1)
    minus = parts.merge(owner, n)
    plus = whole.take(of_group)
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


def candidates(key: Key, hist: Histogram) -> GroupStats:
    """Return groups of candidate values: as many people as there are candidates."""
    return GroupStats(hist.sum(hist.units).astype(np.int64), hist.unit, {key: hist})
