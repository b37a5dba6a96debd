"""Lowering the loss of groups under any model: moves, swaps, and dissolving, cutting or pooling groups.

Each round proposes one change for every record (to the group of one of its neighbors, alone or in exchange) or for
every group (dissolved into its neighbors, or pooled with the nearest one), takes those that save most and affect no
group twice, evaluates the model on all affected groups in one call, and keeps the changes that keep them satisfied;
the groups of a refused change are free for the next best. Rounds cycle through neighbors and partners, so that
refused changes do not block others.

``temper`` goes beyond local optima. As in annealing, it also proposes a change if its cost is below an exponentially
distributed tolerance, whose mean falls to zero. But it works in the same rounds: the model is evaluated on all affected
groups in one call, so it is cheap for any model, and every intermediate partition is satisfied.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.groups import stats_of
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.grouping import group_rows
from hushtable.rng import bits, exponential_quantiles

ROUNDS, WORK = 720, 12_000_000
"""Number of rounds; fewer for tables of more than WORK / ROUNDS records."""

CYCLE = 12
"""In each cycle of this many rounds, one cuts and pools groups and one dissolves them."""

TRIES = 4
"""Number of times a round replaces refused changes."""

HOT_ROUNDS, HOT_WORK = 4000, 4_500_000
"""The same for rounds of tempering."""

LEAST = 100
"""Minimum number of rounds of tempering: with fewer, the search would not cool down again."""

COOLING = 3
"""Heat falls with this power of the remaining rounds."""


@dataclass(frozen=True)
class Refining:
    """What a search for groups of lower loss works with.

    Attributes
    ----------
    problem : Problem
    space : Space
    points : float64 array
        The space's points as numbers without missing values.
    near : int64 array
        Records x neighbors, nearest first.
    needed : int
        Minimum units of a group.
    deadline : float, optional
        On the monotonic clock.
    """

    problem: Problem
    space: Space
    points: FloatArray
    near: IntArray
    needed: int
    deadline: float | None = None


def descend(given: Refining, labels: IntArray, n: int) -> tuple[IntArray, bool]:
    """Return labels of satisfied groups with at most the sum of squared errors of the given ones.

    Also return whether the time limit was reached, which is checked before each round.

    Parameters
    ----------
    given : Refining
    labels : int64 array
        Labels of satisfied groups ``0 .. n - 1``; every point has one.
    n : int
    """
    near = given.near
    rounds = max(CYCLE, min(ROUNDS, WORK // len(labels)))
    idle = 0
    for turn in range(rounds):
        given.problem.progress(turn / rounds, "refining")
        if given.deadline is not None and time.monotonic() >= given.deadline:
            return labels, True
        offered = near[:, turn % near.shape[1]], turn // 2 + np.arange(len(labels)), np.zeros(len(labels))
        labels, n, kept = _round(given, labels, n, turn, offered)
        idle = 0 if kept else idle + 1
        # every neighbor twice, and every direction of a cut
        if idle > max(2 * near.shape[1], CYCLE * 2 * (given.points.shape[1] + 1)):
            break
    return labels, False


def temper(given: Refining, labels: IntArray, n: int) -> tuple[IntArray, bool]:
    """Return labels of satisfied groups, with at most the error of ``descend`` alone; see ``descend``.

    Also return whether the time limit was reached.
    """
    points, near, deadline = given.points, given.near, given.deadline
    plain, late = descend(given, labels, n)
    rounds = min(HOT_ROUNDS, HOT_WORK // len(labels))
    if late or rounds < LEAST or int(plain.max()) < 1:
        return plain, late
    before = _error(points, plain)
    hot = before / len(labels) * min(2.0, rounds / 750)
    tolerance = exponential_quantiles(4096)
    labels, n = plain, int(plain.max()) + 1
    begin, turn, done = time.monotonic(), 0, 0
    while turn < rounds:
        given.problem.progress(turn / rounds, "refining")
        if deadline is not None and done:
            # at the current pace, the rest of the cooling must fit into the remaining time
            now = time.monotonic()
            fits = max(done * (deadline - now) / (now - begin), 1.0)
            late = late or fits < rounds - turn
            turn += int(max((rounds - turn) / fits - 1, 0))
        heat = hot * (max(rounds - turn, 0) / rounds) ** COOLING
        drawn = bits(0, f"refine {done}", len(labels))
        slack = heat * tolerance[(drawn & np.uint64(4095)).astype(np.int64)]
        # near ones more often than far ones
        share = ((drawn >> np.uint64(12)) & np.uint64(1023)).astype(np.float64) / 1024
        chosen = near[np.arange(len(labels)), (share * share * near.shape[1]).astype(np.int64)]
        offered = chosen, (drawn >> np.uint64(32)).astype(np.int64), slack
        labels, n, _ = _round(given, labels, n, done, offered)
        turn, done = turn + 1, done + 1
    if not late:
        labels, _ = descend(replace(given, deadline=None), labels, n)
    return (labels if _error(points, labels) < before else plain), late


def _error(points: FloatArray, labels: IntArray) -> float:
    """The sum of squared errors."""
    groups = Grouped(points, labels, int(labels.max()) + 1, np.ones(len(labels), dtype=np.int64), 1)
    return float(np.einsum("nd,nd->", points, points) - groups.term.sum())


def _round(
    given: Refining, labels: IntArray, n: int, turn: int, offered: tuple[IntArray, IntArray, FloatArray]
) -> tuple[IntArray, int, bool]:
    """Make the changes of a round; if it neither cuts nor dissolves groups, the exchanges that are ``offered``."""
    now = Grouped(given.points, labels, n, given.space.weights, given.needed)
    place, cycle = turn % CYCLE, turn // CYCLE
    if place == CYCLE - 1:
        proposed = cut_or_pooled(now, cycle)
    else:
        proposed = dissolved(now, given.near, cycle) if place == CYCLE // 2 - 1 else exchanged(now, *offered)
    return _keep(given.problem, given.space, labels, n, proposed)


def _keep(
    problem: Problem, space: Space, labels: IntArray, n: int, proposed: Sequence[Change]
) -> tuple[IntArray, int, bool]:
    """Make the changes that save most, affect no group twice and keep the model satisfied."""
    groupwise, together = problem.model.part(table_level=False), problem.model.part(table_level=True)
    waiting = sorted(proposed, key=lambda c: c.order)
    used: set[int] = set()
    good: list[Change] = []
    for _ in range(TRIES):
        trying, waiting = _apart(waiting, used)
        if not trying:
            break
        trial, owner, m = _applied(labels, n, trying)
        bad = owner[~groupwise.satisfied(stats_of(problem, space, trial, m), problem.reference)]
        failed = set(bad.tolist())
        kept = [c for at, c in enumerate(trying) if at not in failed]
        good += kept
        used.update(g for c in kept for g in c.touched)
    good.sort(key=lambda c: c.order)
    while good:
        trial, _, m = _applied(labels, n, good)
        if bool(together.table_satisfied(stats_of(problem, space, trial, m), problem.reference)[0]):
            return trial, m, True
        good = good[: len(good) // 2]
    return labels, n, False


def _apart(changes: Sequence[Change], used: set[int]) -> tuple[list[Change], list[Change]]:
    """Return the first changes that affect no group twice, nor a used one, and the conflicting ones."""
    taken = set(used)
    first: list[Change] = []
    rest: list[Change] = []
    for change in changes:
        if taken.isdisjoint(change.touched):
            taken.update(change.touched)
            first.append(change)
        elif used.isdisjoint(change.touched):
            rest.append(change)
    return first, rest


def _applied(labels: IntArray, n: int, chosen: Sequence[Change]) -> tuple[IntArray, IntArray, int]:
    """Return the new labels without gaps, the change each group comes from (-1: none), and the number of groups."""
    trial = labels.copy()
    source = np.full(2 * n, -1, dtype=np.int64)
    for at, change in enumerate(chosen):
        trial[change.rows] = change.to
        source[list(change.touched)] = at
        source[change.to] = at
    present, trial = np.unique(trial, return_inverse=True)
    return trial.reshape(-1).astype(np.int64), source[present], len(present)


# Changes to groups that would lower the sum of squared errors, regardless of the models.
#
# The error of a partition is a constant minus the sum over groups of |S|^2 / n, with S the sum of a group's n points;
# so what a change saves follows from the sums of the groups that it touches.


PARTNERS = 3
"""Number of nearest groups with which a group is pooled in turn."""

BUSY = 2048
"""Approximate maximum number of groups that look for a partner, or dissolve, in a round."""

NEGLIGIBLE = 1e-9
"""A change that saves less than this fraction of a record's mean square does not count."""


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
        self.least = NEGLIGIBLE * float(_squares(points).sum()) / len(points)
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
    """Propose dissolving each group: each record moves to the group of a neighbor where it costs least.

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
    if not saved[best] - gap > NEGLIGIBLE * float(_squares(x).sum()):
        return None
    label = np.where(np.arange(len(rows)) <= best, names[0], names[1])
    return Change(float(saved[best] - gap), touched, rows[order], label)
