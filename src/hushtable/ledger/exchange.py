"""Who was exchanged: what those have who are in one of two releases only, however the others were regrouped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.table.stats import Histogram

__all__ = ["Exchange", "Side", "exchanges", "told_before"]

Exchange = tuple[Histogram, IntArray]
"""The values of groups of people, and which of the groups every record is of; -1 where it is of none."""


@dataclass(frozen=True)
class Side:
    """One of two releases that are compared.

    Attributes
    ----------
    at, units : int64 arrays
        The class of each record, -1 where it is in none, and its units.
    classes : Histogram
        The values of the classes.
    usable : bool array
        Which classes have no counterfeits, and all records of their people.
    """

    at: IntArray
    units: IntArray
    classes: Histogram
    usable: BoolArray


def exchanges(one: Side, other: Side, own: IntArray | None = None) -> tuple[Exchange, Exchange]:
    """Find what those have who are in one of two releases only, where the values of the others tell it.

    Classes that share people hang together. The people in both releases whom such classes hold have values that both
    releases have there; if these are no more than the people, exactly these. The rest is that of the people who left,
    and of those who came: where one left and one came, their values are known if they differ, however the others were
    regrouped.

    Parameters
    ----------
    one, other : Side
    own : int64 array, optional
        The value of every record in the first release, where it is known: nothing follows where the people in both have
        others than it seems, since values have changed.

    Returns
    -------
    (rest, whose), (rest, whose)
        Of the people in one release only, and of those in the other only, the values of those whose classes hang
        together; and which of these groups every record is of, -1 where it is of none.

    Examples
    --------
    >>> def side(at, classes):
    ...     at = np.array(at)
    ...     return Side(at, (at >= 0).astype(np.int64), Histogram.dense(classes), np.ones(len(classes), dtype=bool))
    >>> first, later = side([0, 0, 1, 1, -1], [[1, 1], [1, 1]]), side([0, -1, 0, 1, 1], [[2, 0], [1, 1]])
    >>> [(rest.as_matrix(2).tolist(), whose.tolist()) for rest, whose in exchanges(first, later)]
    [([[0.0, 1.0]], [-1, 0, -1, -1, -1]), ([[1.0, 0.0]], [-1, -1, -1, -1, 0])]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, total = len(one.classes), len(one.classes) + len(other.classes)
    both = (one.at >= 0) & (other.at >= 0)
    ends = one.at[both], n + other.at[both]
    graph = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(total, total))
    count, part = connected_components(graph, directed=False)
    first, second = part[:n].astype(np.int64), part[n:].astype(np.int64)
    good = np.ones(count, dtype=np.bool_)
    good[first[~one.usable]] = False
    good[second[~other.usable]] = False
    good[first[one.at[both]][one.units[both] != other.units[both]]] = False
    people = np.zeros(count, dtype=np.int64)
    np.add.at(people, first[one.at[both]], one.units[both])
    mine, theirs = one.classes.merge(first, count), other.classes.merge(second, count)
    held = _least(mine, theirs)
    good &= (people > 0) & (held.sum(held.units) == people)
    if own is not None:
        true = Histogram.from_pairs(first[one.at[both]], own[both], one.units[both], count, held.unit)
        same = _least(true, held)
        good &= same.sum(same.units) == people
    return _alone(one.at, both, first, good, _minus(mine, held)), _alone(
        other.at, both, second, good, _minus(theirs, held)
    )


def _alone(
    at: IntArray, both: BoolArray, part: IntArray, good: BoolArray, rest: Histogram
) -> tuple[Histogram, IntArray]:
    """Return the groups of those who are in this release only, and whose each record is."""
    whose = np.full(len(at), -1, dtype=np.int64)
    own = np.flatnonzero((at >= 0) & ~both)
    own = own[good[part[at[own]]]]
    groups, whose[own] = np.unique(part[at[own]], return_inverse=True)
    return rest.take(groups), whose


def _least(one: Histogram, other: Histogram) -> Histogram:
    """Return the values that groups of both have, with the lesser count."""
    span = int(max(one.values.max(initial=0), other.values.max(initial=0))) + 1
    keys = (one.groups * span + one.values, other.groups * span + other.values)
    same, left, right = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    units = np.minimum(one.units[left], other.units[right])
    return Histogram.from_pairs(same // span, same % span, units, len(one), one.unit)


def _minus(one: Histogram, other: Histogram) -> Histogram:
    """Take away what other groups have of the same values."""
    groups, values = np.concatenate([one.groups, other.groups]), np.concatenate([one.values, other.values])
    return Histogram.from_pairs(groups, values, np.concatenate([one.units, -other.units]), len(one), one.unit)


def told_before(found: Exchange, before: Exchange) -> BoolArray:
    """Tell which groups were found before, of the same people and with the same values.

    Other values of the same people were never found: those of the people in both releases had changed.

    Examples
    --------
    >>> found = Histogram.dense([[2, 0], [1, 1], [1, 0]]), np.array([0, 0, 1, 1, -1, 2])
    >>> before = Histogram.dense([[1, 0], [0, 1], [2, 0], [0, 1]]), np.array([2, 2, 0, 1, 1, 3])
    >>> told_before(found, before).tolist()
    [True, False, False]
    """
    (rest, whose), (known, theirs) = found, before
    inside = np.flatnonzero((whose >= 0) & (theirs >= 0))
    pairs, count = np.unique(np.column_stack([whose[inside], theirs[inside]]), axis=0, return_counts=True)
    size, others = (np.bincount(own[own >= 0], minlength=1) for own in (whose, theirs))
    one, other = pairs[(count == size[pairs[:, 0]]) & (count == others[pairs[:, 1]])].T
    mine, then = rest.take(one), known.take(other)
    same = (_minus(mine, then).lengths == 0) & (_minus(then, mine).lengths == 0)
    return np.isin(np.arange(len(rest)), one[same])
