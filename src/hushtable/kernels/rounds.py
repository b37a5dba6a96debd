"""Annealing many groups at once: in each round, every group proposes a change, and compatible changes are made.

For large tables, where the sequential steps of ``anneal`` would take too long. In a round, each group draws one of its
records and one of that record's neighbors, and proposes that the record move to the neighbor's group or swap with a
record there. A proposal that lowers the error, or raises it by less than a random tolerance, claims both groups; a draw
decides between several claims on a group. Changes that win both claims are made. No two of them touch the same group,
draws are a hash of the round and the group, and every sum has a fixed order, so the result depends neither on the
number of cores nor on the device.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.parallel import each, threads

SHARED_FROM = 4096
"""Number of groups at which a round's proposals are shared among the cores."""

QUANTILES = 4096
"""Quantiles of the tolerance."""

_MASK = np.uint64(0xFFFFFFFF00000000)


class RoundsState(ABC):
    """Groups that are annealed in rounds on some device."""

    @abstractmethod
    def run(self, first: int, heats: FloatArray) -> None:
        """Make the rounds with these numbers, one for each heat."""

    @abstractmethod
    def labels(self) -> IntArray:
        """Return the group of each record."""


def draws(number: int, groups: int) -> IntArray:
    """Return the draws of a round, one for each group: 64 bits of a hash (a splitmix) of both.

    Examples
    --------
    >>> len(set(draws(1, 1000).tolist()) | set(draws(2, 1000).tolist()))
    2000
    """
    with np.errstate(over="ignore"):
        x = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1342543DE82EF95)
        return _mixed(x + np.arange(groups, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)).view(np.int64)


def _mixed(x: AnyArray) -> AnyArray:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def tickets(drawn: IntArray) -> IntArray:
    """Return the tickets that decide between claims: 31 bits of another hash, and the number of the group."""
    with np.errstate(over="ignore"):
        first = (_mixed(drawn.view(np.uint64)) & _MASK) >> np.uint64(1)
    return np.asarray((first & _MASK).view(np.int64) | np.arange(len(drawn), dtype=np.int64))


class Processor(RoundsState):
    """Rounds on the processor's cores.

    Parameters
    ----------
    points : float64 array
        Records x columns.
    labels : int64 array
        Groups ``0 .. g - 1`` of at least ``least`` records each.
    near : int64 array
        Records x neighbors, nearest first.
    least : int
        Records that a group must have.
    tolerance : float64 array
        Quantiles of the exponential distribution, ``QUANTILES`` of them.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> near = np.array([[1, 2, 3], [0, 2, 3], [3, 1, 0], [2, 1, 0]])
    >>> state = Processor(line, np.array([0, 1, 0, 1]), near, 2, np.ones(QUANTILES))
    >>> state.run(0, np.zeros(40))
    >>> found = state.labels()
    >>> bool(found[0] == found[1] != found[2] == found[3])
    True
    """

    def __init__(self, points: FloatArray, labels: IntArray, near: IntArray, least: int, tolerance: FloatArray) -> None:
        self._points, self._near, self._least, self._tolerance = points, near, least, tolerance
        self._own, self._member, self._count, self._total = grouped(points, labels, least)

    def labels(self) -> IntArray:
        """Return the group of each record."""
        return self._own.copy()

    def run(self, first: int, heats: FloatArray) -> None:
        """Let all groups propose, on all cores, and decide which changes are made."""
        n = len(self._count)
        parts = threads() if n >= SHARED_FROM else 1
        ends = [n * i // parts for i in range(parts + 1)]
        there, seat, other = (np.empty(n, dtype=np.int64) for _ in range(3))
        suggest, agree = dispatch(propose, propose, 10**9), dispatch(settle, settle, 10**9)
        state = (self._points, self._own, self._near, self._member, self._count, self._total)
        for number, heat in enumerate(heats.tolist(), first):
            drawn = draws(number, n)
            given = (drawn, heat, self._tolerance, self._least, there, seat, other)
            list(each(lambda part: suggest(*state, *given, *part), pairwise(ends)))  # noqa: B023 - used at once
            agree(self._points, self._own, self._member, self._count, self._total, tickets(drawn), there, seat, other)


def grouped(points: FloatArray, labels: IntArray, least: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return each record's group, the records of each group, their number and their sum."""
    sizes = np.bincount(labels)
    room = max(int(sizes.max()), 3 * least) + 1
    order = np.argsort(labels, kind="stable")
    member = np.full((len(sizes), room), -1, dtype=np.int64)
    member[labels[order], np.arange(len(labels)) - (np.cumsum(sizes) - sizes)[labels[order]]] = order
    total = np.column_stack([np.bincount(labels, weights=column, minlength=len(sizes)) for column in points.T])
    return labels.astype(np.int64), member, sizes.astype(np.int64), np.ascontiguousarray(total)


def propose(
    points: Any, own: Any, near: Any, member: Any, count: Any, total: Any, drawn: Any, heat: Any, tolerance: Any,
    least: Any, there: Any, seat: Any, other: Any, first: Any, stop: Any,
) -> None:  # fmt: skip
    """Write each group's proposal: the other group (-1: none), the record's seat, and that of the record there (-1)."""
    d, room = points.shape[1], member.shape[1]
    for a in range(first, stop):
        there[a] = -1
        na, h = count[a], drawn[a]
        seat[a] = (((h >> 8) & 0xFFFF) * na) >> 16
        i = member[a, seat[a]]
        share = ((h >> 24) & 1023) / 1024.0
        b = own[near[i, int(share * share * near.shape[1])]]
        if b == a:
            continue
        nb = count[b]
        limit = heat * tolerance[(h >> 34) & 4095]
        if na > least and nb < room and h & 1 == 0:
            other[a] = -1
            sa, sb, da, db, q = 0.0, 0.0, 0.0, 0.0, 0.0
            for c in range(d):
                x, y, p = total[a, c], total[b, c], points[i, c]
                sa += x * x
                sb += y * y
                da += x * p
                db += y * p
                q += p * p
            change = sa / na - (sa - 2.0 * da + q) / (na - 1) + sb / nb - (sb + 2.0 * db + q) / (nb + 1)
        else:
            other[a] = (((h >> 46) & 0xFFFF) * nb) >> 16
            r = member[b, other[a]]
            along, apart = 0.0, 0.0
            for c in range(d):
                diff = points[r, c] - points[i, c]
                along += diff * (total[a, c] * nb - total[b, c] * na)
                apart += diff * diff
            change = -((2.0 * along + apart * (na + nb)) / (na * nb))
        if change < limit:
            there[a] = b


def settle(
    points: Any, own: Any, member: Any, count: Any, total: Any, ticket: Any, there: Any, seat: Any, other: Any
) -> None:
    """Make the changes that win both groups: the lowest ticket wins a group."""
    held = np.full(len(count), np.int64(2**63 - 1))
    for a in range(len(count)):
        b = there[a]
        if b >= 0:
            held[a] = min(held[a], ticket[a])
            held[b] = min(held[b], ticket[a])
    for a in range(len(count)):
        b = there[a]
        if b < 0 or held[a] != ticket[a] or held[b] != ticket[a]:
            continue
        i = member[a, seat[a]]
        own[i] = b
        if other[a] < 0:
            count[a] -= 1
            member[a, seat[a]] = member[a, count[a]]
            member[b, count[b]] = i
            count[b] += 1
            for c in range(points.shape[1]):
                total[a, c] -= points[i, c]
                total[b, c] += points[i, c]
            continue
        r = member[b, other[a]]
        own[r] = a
        member[a, seat[a]], member[b, other[a]] = r, i
        for c in range(points.shape[1]):
            diff = points[r, c] - points[i, c]
            total[a, c] += diff
            total[b, c] -= diff
