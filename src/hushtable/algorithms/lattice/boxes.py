"""Branch and bound without enumerating the lattice: boxes of levels, the most promising first.

A box is a range of levels for every column. Four facts give a lower bound on the cost of its nodes:

* Every node is coarser than the lower corner, whose levels are the cheapest of the box.
* Every node is finer than the upper corner, so it has to suppress at least as much (``NodeVerdict.small``).
* The projection on two columns forces some suppression on nodes with their levels. Levels that occur in no allowed
  combination are removed from the box; objectives that charge cells are a rising function of a sum of terms, one per
  column, so over pairs that share no column the smallest sums of the allowed combinations add up.
* Groups only grow from the lower corner on (``Objective.floor``).

The box with the lowest bound comes next: its corners are evaluated, and it is divided. No node of a discarded box can
be better than the best known node, so the lowest bound of the remaining boxes is a bound on the optimum.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.lattice.bounds import forced_units, projectable
from hushtable.algorithms.lattice.climb import Limit
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import CellObjective
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.arrays import BoolArray, FloatArray, IntArray

__all__ = ["search_boxes"]

CAREFUL = 1 - 1e-12
"""Sums are rounded, and a lower bound must not exceed the true value."""

Pair = tuple[int, int]


def search_boxes(judge: Judge, best: NodeVerdict | None, limit: Limit) -> tuple[NodeVerdict | None, float]:
    """Return the best node and a lower bound on the optimum, which is its value if the search finished."""
    search = _BoxSearch(judge, best)
    search.add(judge.space.low, judge.space.high, 0)
    while search.heap and search.least() < search.value:
        if limit.reached(judge):
            return search.best, search.least()
        judge.problem.progress(limit.share(judge), "bounding the optimum")
        search.divide()
    return search.best, search.value


@dataclass(frozen=True)
class _Box:
    low: IntArray
    high: IntArray
    lost: int


class _BoxSearch:
    def __init__(self, judge: Judge, best: NodeVerdict | None) -> None:
        self.judge, self.best = judge, best
        self.heap: list[tuple[float, int, _Box]] = []
        self._count = itertools.count()
        self._cells = judge.objective if isinstance(judge.objective, CellObjective) else None
        self._allowed: dict[Pair, BoolArray] = {}
        self._costs: dict[Pair, FloatArray] = {}
        self._single: list[FloatArray] = []
        self._project()
        self._matched = self._matching()

    @property
    def value(self) -> float:
        """The cost of the best node; infinite if there is none."""
        return float("inf") if self.best is None else self.best.value

    def least(self) -> float:
        """The lowest bound of the remaining boxes."""
        return self.heap[0][0]

    def _project(self) -> None:
        """Find which levels two columns may have together, and their minimum cost."""
        judge, space = self.judge, self.judge.space
        for j in range(space.d):
            levels = np.arange(int(space.heights[j]) + 1)
            none = np.zeros(len(levels), dtype=np.int64)
            terms = none.astype(np.float64) if self._cells is None else self._cells.terms(j, levels, none)
            self._single.append(terms)
        for pair in itertools.combinations(range(space.d), 2):
            if not projectable(space, pair):
                continue
            judge.problem.progress(0.0, "bounding the optimum")
            shape = [int(space.heights[j]) + 1 for j in pair]
            forced = forced_units(space, judge.minimum, pair).reshape(shape)
            self._allowed[pair] = forced <= judge.budget
            if self._cells is not None:
                both = np.indices(shape).reshape(2, -1)
                first, second = (self._cells.terms(j, both[a], forced.reshape(-1)) for a, j in enumerate(pair))
                self._costs[pair] = np.where(self._allowed[pair], (first + second).reshape(shape), np.inf)

    def _matching(self) -> list[Pair]:
        """Choose pairs that share no column, the most informative beyond their single columns first."""
        space = self.judge.space
        gain: dict[Pair, float] = {}
        for (i, j), cost in self._costs.items():
            inside = cost[space.low[i] : space.high[i] + 1, space.low[j] : space.high[j] + 1]
            gain[i, j] = float(inside.min() - self._single[i][space.low[i]] - self._single[j][space.low[j]])
        free, out = set(range(space.d)), []
        for pair in sorted(gain, key=lambda p: (-gain[p], p)):
            if free.issuperset(pair):
                free -= set(pair)
                out.append(pair)
        return out

    def _cut(self, low: IntArray, high: IntArray) -> bool:
        """Remove levels that occur in no allowed combination; False if no node is left."""
        changed = True
        while changed:
            changed = False
            for (i, j), allowed in self._allowed.items():
                inside = allowed[low[i] : high[i] + 1, low[j] : high[j] + 1]
                if inside[0, 0]:
                    continue
                rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
                if not len(rows):
                    return False
                # finer levels are forced to suppress more, so only the low ends move
                if rows[0] or columns[0]:
                    low[i] += rows[0]
                    low[j] += columns[0]
                    changed = True
        return True

    def _bound(self, low: IntArray, lost: int, floor: float, high: IntArray) -> float:
        """A lower bound on the cost of every node of a box."""
        objective = self.judge.objective
        floors = None if self._cells is not None else np.array([floor])
        bound = float(objective.bound(low[None, :], np.array([lost]), floors)[0])
        if self._cells is None:
            return bound
        free, total = set(range(len(low))), 0.0
        for i, j in self._matched:
            free -= {i, j}
            total += float(self._costs[i, j][low[i] : high[i] + 1, low[j] : high[j] + 1].min())
        total += math.fsum(float(self._single[j][low[j]]) for j in sorted(free))
        return max(bound, float(self._cells.of_sum(np.asarray(total)))) * CAREFUL

    def add(self, low: IntArray, high: IntArray, lost: int, floor: float = -math.inf) -> None:
        """Add a box to the heap, unless none of its nodes can be the best."""
        low, high = low.copy(), high.copy()
        if not self._cut(low, high):
            return
        if floor == -math.inf and self._cells is None:
            floor = self.judge.objective.floor(np.array([1]), np.array([self.judge.space.units]))
        bound = self._bound(low, lost, floor, high)
        if bound < self.value:
            heapq.heappush(self.heap, (bound, next(self._count), _Box(low, high, lost)))

    def _look(self, node: IntArray) -> NodeVerdict:
        verdict = self.judge.again(node)
        if verdict.fits and verdict.value < self.value:
            self.best = verdict
        return verdict

    def divide(self) -> None:
        """Evaluate the corners of the box with the lowest bound, and divide it."""
        _, _, box = heapq.heappop(self.heap)
        top = self._look(box.high)
        if top.small > self.judge.budget or (self.judge.monotone and not top.fits):
            return
        if (box.low == box.high).all():
            return
        lost, floor = max(box.lost, top.small), -math.inf
        if self._cells is None:
            floor = self._look(box.low).floor
        j = self._widest(box)
        middle = int(box.low[j] + box.high[j]) // 2
        for begin, end in ((int(box.low[j]), middle), (middle + 1, int(box.high[j]))):
            low, high = box.low.copy(), box.high.copy()
            low[j], high[j] = begin, end
            self.add(low, high, lost, floor)

    def _widest(self, box: _Box) -> int:
        """The column whose levels differ most in cost, or in their number of nodes."""
        space, columns = self.judge.space, range(len(box.low))
        if self._cells is not None:
            spread = [float(self._single[j][box.high[j]] - self._single[j][box.low[j]]) for j in columns]
        else:
            spread = [math.log(space.sizes[j, box.low[j]] / space.sizes[j, box.high[j]]) for j in columns]
        # a column with one level left cannot be divided, regardless of rounding
        return max((j for j in columns if box.low[j] < box.high[j]), key=lambda j: (spread[j], -j))
