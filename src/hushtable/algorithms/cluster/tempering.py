"""Refining under any model, beyond local optima: changes that cost something are accepted too, ever fewer of them.

As in annealing, a change is proposed if its cost is below an exponentially distributed tolerance, whose mean falls to
zero. But it works in rounds, as in ``descent``: there is one proposal for every record, those that affect no group
twice are tried together, and the model is evaluated on all affected groups in one call. So it is cheap for any model,
and every intermediate partition is satisfied.
"""

from __future__ import annotations

import time

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.descent import CYCLE, descend, keep
from hushtable.algorithms.cluster.proposals import Grouped, cut_or_pooled, dissolved, exchanged
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.rng import bits, exponential_quantiles

__all__ = ["temper"]

ROUNDS, WORK = 4000, 4_500_000
"""Number of rounds; fewer for tables of more than WORK / ROUNDS records."""

LEAST = 100
"""Minimum number of rounds: with fewer, the search would not cool down again."""

COOLING = 3
"""Heat falls with this power of the remaining rounds."""


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
    rounds = min(ROUNDS, WORK // len(labels))
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
        groups = Grouped(points, labels, n, units, needed)
        place, cycle = done % CYCLE, done // CYCLE
        if place == CYCLE - 1:
            proposed = cut_or_pooled(groups, cycle)
        elif place == CYCLE // 2 - 1:
            proposed = dissolved(groups, near, cycle)
        else:
            drawn = bits(0, f"refine {done}", len(labels))
            slack = heat * tolerance[(drawn & np.uint64(4095)).astype(np.int64)]
            # near ones more often than far ones
            share = ((drawn >> np.uint64(12)) & np.uint64(1023)).astype(np.float64) / 1024
            chosen = near[np.arange(len(labels)), (share * share * near.shape[1]).astype(np.int64)]
            proposed = exchanged(groups, chosen, (drawn >> np.uint64(32)).astype(np.int64), slack)
        labels, n, _ = keep(problem, space, labels, n, proposed)
        turn, done = turn + 1, done + 1
    if not late:
        labels, _ = descend(problem, space, points, near, labels, n, needed)
    return (labels if _error(points, labels) < before else plain), late


def _error(points: FloatArray, labels: IntArray) -> float:
    """The sum of squared errors."""
    groups = Grouped(points, labels, int(labels.max()) + 1, np.ones(len(labels), dtype=np.int64), 1)
    return float(np.einsum("nd,nd->", points, points) - groups.term.sum())
