"""Lowering the loss of groups under any model: moves, swaps, groups dissolved, cut in two, or pooled and cut anew.

Each round proposes one change for every record (to the group of one of its neighbors, alone or in exchange) or for
every group (dissolved into its neighbors, or pooled with the nearest one), takes those that save most and affect no
group twice, evaluates the model on all affected groups in one call, and keeps the changes that keep them satisfied;
the groups of a refused change are free for the next best. Rounds cycle through neighbors and partners, so that
refused changes do not block others.
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

__all__ = ["CYCLE", "descend", "keep"]

ROUNDS, WORK = 720, 12_000_000
"""Number of rounds; fewer for tables of more than WORK / ROUNDS records."""

CYCLE = 12
"""In each cycle of this many rounds, one cuts and pools groups and one dissolves them."""

TRIES = 4
"""Number of times a round replaces refused changes."""


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
        now = Grouped(points, labels, n, units, needed)
        place, cycle = turn % CYCLE, turn // CYCLE
        if place == CYCLE - 1:
            proposed = cut_or_pooled(now, cycle)
        elif place == CYCLE // 2 - 1:
            proposed = dissolved(now, near, cycle)
        else:
            each = np.arange(len(labels))
            proposed = exchanged(now, near[:, turn % near.shape[1]], turn // 2 + each, np.zeros(len(labels)))
        labels, n, kept = keep(problem, space, labels, n, proposed)
        idle = 0 if kept else idle + 1
        # every neighbor twice, and every direction of a cut
        if idle > max(2 * near.shape[1], CYCLE * 2 * (points.shape[1] + 1)):
            break
    return labels, False


def keep(
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
