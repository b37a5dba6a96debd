"""Lowering the loss of groups under any model: moves, swaps, groups dissolved, cut in two, or pooled and cut anew.

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

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.groups import stats_of
from hushtable.algorithms.cluster.proposals import Change, Grouped, cut_or_pooled, dissolved, exchanged
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.rng import bits, exponential_quantiles

__all__ = ["descend", "temper"]

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


def descend(
    problem: Problem,
    space: Space,
    points: FloatArray,
    near: IntArray,
    labels: IntArray,
    n: int,
    needed: int,
    deadline: float | None = None,
) -> tuple[IntArray, bool]:
    """Return labels of satisfied groups with at most the sum of squared errors of the given ones.

    Also return whether the time limit was reached.

    Parameters
    ----------
    problem : Problem
    space : Space
    points : float64 array
        The space's points as numbers without gaps.
    near : int64 array
        Records x neighbors, nearest first.
    labels : int64 array
        Labels of satisfied groups ``0 .. n - 1``; every point has one.
    n : int
    needed : int
        Minimum units of a group.
    deadline : float, optional
        On the monotonic clock; checked before each round.
    """
    units = np.ones(len(labels), dtype=np.int64) if space.units is None else space.units
    rounds = max(CYCLE, min(ROUNDS, WORK // len(labels)))
    idle = 0
    for turn in range(rounds):
        problem.progress(turn / rounds, "refining")
        if deadline is not None and time.monotonic() >= deadline:
            return labels, True
        offered = near[:, turn % near.shape[1]], turn // 2 + np.arange(len(labels)), np.zeros(len(labels))
        proposed = _proposed(Grouped(points, labels, n, units, needed), near, turn, offered)
        labels, n, kept = _keep(problem, space, labels, n, proposed)
        idle = 0 if kept else idle + 1
        # every neighbor twice, and every direction of a cut
        if idle > max(2 * near.shape[1], CYCLE * 2 * (points.shape[1] + 1)):
            break
    return labels, False


def temper(
    problem: Problem,
    space: Space,
    points: FloatArray,
    near: IntArray,
    labels: IntArray,
    n: int,
    needed: int,
    deadline: float | None = None,
) -> tuple[IntArray, bool]:
    """Return labels of satisfied groups, with at most the error of ``descend`` alone; see there.

    Also return whether the time limit was reached.
    """
    plain, late = descend(problem, space, points, near, labels, n, needed, deadline)
    rounds = min(HOT_ROUNDS, HOT_WORK // len(labels))
    if late or rounds < LEAST or int(plain.max()) < 1:
        return plain, late
    units = np.ones(len(labels), dtype=np.int64) if space.units is None else space.units
    before = _error(points, plain)
    hot = before / len(labels) * min(2.0, rounds / 750)
    tolerance = exponential_quantiles(4096)
    labels, n = plain, int(plain.max()) + 1
    begin, turn, done = time.monotonic(), 0, 0
    while turn < rounds:
        problem.progress(turn / rounds, "refining")
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
        proposed = _proposed(Grouped(points, labels, n, units, needed), near, done, offered)
        labels, n, _ = _keep(problem, space, labels, n, proposed)
        turn, done = turn + 1, done + 1
    if not late:
        labels, _ = descend(problem, space, points, near, labels, n, needed)
    return (labels if _error(points, labels) < before else plain), late


def _error(points: FloatArray, labels: IntArray) -> float:
    """The sum of squared errors."""
    groups = Grouped(points, labels, int(labels.max()) + 1, np.ones(len(labels), dtype=np.int64), 1)
    return float(np.einsum("nd,nd->", points, points) - groups.term.sum())


def _proposed(now: Grouped, near: IntArray, turn: int, offered: tuple[IntArray, IntArray, FloatArray]) -> list[Change]:
    """Return the changes of a round; if it neither cuts nor dissolves groups, the exchanges that are ``offered``."""
    place, cycle = turn % CYCLE, turn // CYCLE
    if place == CYCLE - 1:
        return cut_or_pooled(now, cycle)
    return dissolved(now, near, cycle) if place == CYCLE // 2 - 1 else exchanged(now, *offered)


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
