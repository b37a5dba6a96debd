"""A lower bound of the optimum for lattices that cannot be enumerated, from pairs of columns.

The projection on two columns forces every node with their levels to suppress so many people. Objectives that charge
cells are a rising function of a sum with one term per column; the sum over a pair is at least its least value over the
levels that the projection allows. Adding up pairs that share no column gives a bound of the whole, for any way of
pairing the columns; a good one is found greedily.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from hushtable.algorithms.lattice.bounds import forced_units, projectable
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import CellObjective
from hushtable.arrays import FloatArray, IntArray

__all__ = ["lower_bound"]


def lower_bound(judge: Judge) -> float:
    """Return a number that no node's value is below; infinite where the projections rule out every node."""
    space, objective = judge.space, judge.objective
    bottom = judge.again(space.low)
    # every node is coarser than the bottom, and the bottom's levels are the cheapest
    bound = float(objective.bound(space.low[None, :], np.zeros(1, dtype=np.int64), np.array([bottom.floor]))[0])
    if not isinstance(objective, CellObjective):
        return bound
    single = [_least(judge, objective, (j,)) if projectable(space, (j,)) else 0.0 for j in range(space.d)]
    pairs = {}
    for i, j in itertools.combinations(range(space.d), 2):
        if projectable(space, (i, j)):
            judge.problem.progress(0.0, "bounding the optimum")
            pairs[i, j] = max(_least(judge, objective, (i, j)), single[i] + single[j])
    if math.inf in single or math.inf in pairs.values():
        return math.inf
    free, total = set(range(space.d)), 0.0
    for i, j in sorted(pairs, key=lambda p: single[p[0]] + single[p[1]] - pairs[p]):
        if i in free and j in free:
            free -= {i, j}
            total += pairs[i, j]
    total += math.fsum(single[j] for j in sorted(free))
    # sums are rounded, and a bound must not be above what it bounds
    return max(bound, float(objective.of_sum(np.asarray(total))) * (1 - 1e-12))


def _least(judge: Judge, objective: CellObjective, columns: tuple[int, ...]) -> float:
    """The least sum of these columns' terms over the levels that their projection allows."""
    space = judge.space
    forced = forced_units(space, judge.minimum, columns)
    forced = forced.reshape([int(space.heights[j]) + 1 for j in columns])
    forced = forced[tuple(slice(int(space.low[j]), int(space.high[j]) + 1) for j in columns)]
    allowed = np.argwhere(forced <= judge.budget)
    if not len(allowed):
        return math.inf
    lost: IntArray = forced[tuple(allowed.T)]
    total: FloatArray = np.zeros(len(allowed))
    for a, j in enumerate(columns):
        total += objective.terms(j, allowed[:, a] + space.low[j], lost)
    return float(total.min())
