"""Changes to groups that would lower the sum of squared errors, regardless of the models.

The error of a partition is a constant minus the sum over groups of |S|^2 / n, with S the sum of a group's n points; so
what a change saves follows from the sums of the groups that it touches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.grouping import group_rows

__all__ = ["Change", "Grouped", "cut_or_pooled", "dissolved", "exchanged"]

PARTNERS = 3
"""Number of nearest groups with which a group is pooled in turn."""

BUSY = 2048
"""Approximate maximum number of groups that look for a partner, or dissolve, in a round."""

LEAST = 1e-9
"""A change that saves less than this part of a record's mean square is none."""


@dataclass(frozen=True)
class Change:
    """Some records that go to other groups; ``n + g`` is a new group, cut from group ``g`` of ``n``.

    Attributes
    ----------
    saved : float
        Decrease of the sum of squared errors.
    touched : tuple of int
        The groups that lose or gain records.
    rows, to : int64 arrays
    slack : float
        Maximum cost.
    """

    saved: float
    touched: tuple[int, ...]
    rows: IntArray
    to: IntArray
    slack: float = 0.0

    @property
    def order(self) -> tuple[float, int]:
        """Sort key for changes, the best first."""
        return -self.saved - self.slack, int(self.rows[0])


class Grouped:
    """Points in groups, with facts about the groups.

    Parameters
    ----------
    points : float64 array
        Records x columns.
    labels : int64 array
        Groups ``0 .. n - 1``, none of them empty.
    n : int
    units : int64 array
        Weight of each record.
    needed : int
        Minimum units of a group.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> two = Grouped(line, np.array([0, 0, 1, 1]), 2, np.ones(4, np.int64), 2)
    >>> two.count.tolist(), two.term.tolist(), two.members_of(1).tolist()
    ([2, 2], [0.5, 180.5], [2, 3])
    """

    def __init__(self, points: FloatArray, labels: IntArray, n: int, units: IntArray, needed: int) -> None:
        self.points, self.labels, self.n, self.units, self.needed = points, labels, n, units, needed
        # bincount adds in the order of the points, which is canonical
        columns = [np.bincount(labels, weights=points[:, j], minlength=n) for j in range(points.shape[1])]
        self.total: FloatArray = np.column_stack(columns)
        self.count = np.bincount(labels, minlength=n)
        self.weight = np.bincount(labels, weights=units, minlength=n).astype(np.int64)
        self.term = _squares(self.total) / self.count
        self.least = LEAST * float(_squares(points).sum()) / len(points)
        self._members, self._offsets = group_rows(labels, n)

    def members_of(self, group: int) -> IntArray:
        """The records of a group, in canonical order."""
        return self._members[self._offsets[group] : self._offsets[group + 1]]

    def member(self, groups: IntArray, number: IntArray) -> IntArray:
        """One record of each of these groups: the one with that number, counted cyclically."""
        return self._members[self._offsets[groups] + number % self.count[groups]]

    def some(self, turn: int) -> range:
        """The groups whose turn it is."""
        step = max(1, self.n // BUSY)
        return range(turn % step, self.n, step)


def _squares(x: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nd,nd->n", x, x))


def exchanged(now: Grouped, neighbour: IntArray, number: IntArray, slack: FloatArray) -> list[Change]:
    """Propose moving each record to the group of a neighbor, alone or in exchange for one of its members.

    Parameters
    ----------
    now : Grouped
    neighbour : int64 array
        Neighbor of each record.
    number : int64 array
        Which member of the neighbor's group it may swap with, counted cyclically.
    slack : float64 array
        Maximum cost of each change.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> mixed = Grouped(line, np.array([0, 1, 0, 1]), 2, np.ones(4, np.int64), 2)
    >>> found = exchanged(mixed, np.array([1, 0, 3, 2]), np.array([1, 1, 0, 0]), np.zeros(4))
    >>> max((c.saved, c.rows.tolist()) for c in found)
    (80.0, [3, 0])
    """
    points, units, count, weight, needed = now.points, now.units, now.count, now.weight, now.needed
    a, b = now.labels, now.labels[neighbour]
    r = now.member(b, number)
    own, other = now.total[a] - points, now.total[b] + points
    before = now.term[a] + now.term[b]
    after = _squares(own) / np.maximum(count[a] - 1, 1) + _squares(other) / (count[b] + 1)
    move = np.where((count[a] > 1) & (weight[a] - units >= needed) & (a != b), after - before, -np.inf)
    after = _squares(own + points[r]) / count[a] + _squares(other - points[r]) / count[b]
    shift = units[r] - units
    fits = (a != b) & (weight[a] + shift >= needed) & (weight[b] - shift >= needed)
    swap = np.where(fits, after - before, -np.inf)
    saved = np.maximum(move, swap)
    out: list[Change] = []
    for x in np.flatnonzero(saved + slack > now.least).tolist():
        touched, may = (int(a[x]), int(b[x])), float(slack[x])
        if move[x] >= swap[x]:
            out.append(Change(float(saved[x]), touched, np.array([x]), np.array([b[x]]), may))
        else:
            out.append(Change(float(saved[x]), touched, np.array([x, r[x]]), np.array([b[x], a[x]]), may))
    return out


def dissolved(now: Grouped, near: IntArray, turn: int) -> list[Change]:
    """Propose dissolving each group: its records move to the groups of their neighbors, each where it costs least.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]])
    >>> three = Grouped(line, np.array([0, 0, 2, 1, 1, 2]), 3, np.ones(6, np.int64), 2)
    >>> near = np.array([[1, 2], [0, 2], [1, 0], [4, 5], [3, 5], [4, 3]])
    >>> best = max(dissolved(three, near, 0), key=lambda change: change.saved)
    >>> best.touched, best.rows.tolist(), best.to.tolist()
    ((2, 0, 1), [2, 5], [0, 1])
    """
    out: list[Change] = []
    for g in now.some(turn) if now.n > 1 else ():
        rows = now.members_of(g)
        choice = now.labels[near[rows]]
        cost = _joining(now, rows, choice)
        cost[choice == g] = np.inf
        best = np.argmin(cost, axis=1)
        every = np.arange(len(rows))
        if not np.isfinite(cost[every, best]).all():
            continue  # a record whose neighbors are all in its own group
        to = choice[every, best]
        takers, which = np.unique(to, return_inverse=True)
        total = now.total[takers].copy()
        np.add.at(total, which, now.points[rows])
        count = now.count[takers] + np.bincount(which, minlength=len(takers))
        saved = float((_squares(total) / count).sum() - now.term[takers].sum() - now.term[g])
        if saved > now.least:
            out.append(Change(saved, (g, *takers.tolist()), rows, to))
    return out


def _joining(now: Grouped, rows: IntArray, groups: IntArray) -> FloatArray:
    """Increase of each group's error (records x groups) when its record joins."""
    apart = now.points[rows][:, None, :] - now.total[groups] / now.count[groups][..., None]
    return np.asarray(np.einsum("ngd,ngd->ng", apart, apart) * (now.count[groups] / (now.count[groups] + 1)))


def cut_or_pooled(now: Grouped, turn: int) -> list[Change]:
    """Propose cutting large groups in two, and pooling each group with one of its nearest and cutting again.

    Cuts go across the longest line between two records first, then across each column, and then again into halves:
    what a model refuses in one direction it may allow in another.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> one = Grouped(line, np.zeros(4, np.int64), 1, np.ones(4, np.int64), 2)
    >>> [(c.saved, c.rows.tolist(), c.to.tolist()) for c in cut_or_pooled(one, 0)]
    [(81.0, [0, 1, 2, 3], [0, 0, 1, 1])]
    """
    middle = now.total / now.count[:, None]
    out: list[Change | None] = []
    for g in now.some(turn):
        own = now.members_of(g)
        if int(now.weight[g]) >= 2 * now.needed:
            out.append(_cut(now, own, 0.0, (g,), (g, now.n + g), turn))
        if now.n < 2:
            continue
        far = _squares(middle - middle[g])
        far[g] = np.inf
        partner = int(np.argsort(far, kind="stable")[turn % min(PARTNERS, now.n - 1)])
        both = np.sort(np.concatenate([own, now.members_of(partner)]))
        joint = now.total[g] + now.total[partner]
        gap = float(now.term[g] + now.term[partner] - float(joint @ joint) / len(both))
        out.append(_cut(now, both, gap, (g, partner), (g, partner), turn // PARTNERS))
    return [change for change in out if change]


def _cut(
    now: Grouped, rows: IntArray, gap: float, touched: tuple[int, ...], names: tuple[int, int], turn: int
) -> Change | None:
    """Cut records in two, along the direction for this turn: where the error falls most, or in halves."""
    if len(rows) < 2:
        return None
    x = now.points[rows]
    x = x - x.mean(axis=0)
    column = turn % (x.shape[1] + 1) - 1
    if column < 0:
        first = int(np.argmax(_squares(x)))
        second = int(np.argmax(_squares(x - x[first])))
        along = np.einsum("nd,d->n", x, x[second] - x[first])
    else:
        along = x[:, column]
    order = np.argsort(along, kind="stable")
    square = _squares(np.cumsum(x[order], axis=0)[:-1])
    weight = np.cumsum(now.units[rows][order])
    n = np.arange(1, len(rows))
    allowed = (weight[:-1] >= now.needed) & (weight[-1] - weight[:-1] >= now.needed)
    saved = np.where(allowed, square / n + square / n[::-1], 0.0)
    even = turn // (x.shape[1] + 1) % 2 == 1
    best = int(np.argmin(np.abs(2 * weight[:-1] - weight[-1]))) if even else int(np.argmax(saved))
    if not saved[best] - gap > LEAST * float(_squares(x).sum()):
        return None
    label = np.where(np.arange(len(rows)) <= best, names[0], names[1])
    return Change(float(saved[best] - gap), touched, rows[order], label)
