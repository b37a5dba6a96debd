"""A heuristic for lattices that cannot be enumerated: up until a node fits, then down as long as the cost falls.

It is an anytime search: it finds a node that fits after a few evaluations, and then improves it. The distance from
the optimum is not known here; ``boxes`` bounds it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.arrays import IntArray


@dataclass(frozen=True)
class Limit:
    """When a search stops.

    Attributes
    ----------
    nodes : int, optional
        Stop after this many evaluated nodes: the same on every machine.
    deadline : float, optional
        Stop at this time of the monotonic clock.
    """

    nodes: int | None = None
    deadline: float | None = None

    def reached(self, judge: Judge) -> bool:
        """Whether to stop."""
        if self.nodes is not None and len(judge.seen) >= self.nodes:
            return True
        return self.deadline is not None and time.monotonic() > self.deadline

    def share(self, judge: Judge) -> float:
        """Share of the allowed evaluations used so far."""
        return 0.0 if self.nodes is None else min(len(judge.seen) / self.nodes, 1.0)


class _Late(Exception):
    """Signals that the limit is reached."""


def climb(judge: Judge, limit: Limit) -> NodeVerdict | None:
    """Return a good node, if any.

    First, a binary search looks for a node that fits on a chain from bottom to top that raises the widest column at
    every step. Then the search climbs greedily: each step raises the column whose next level saves the most people
    per unit of cost. From the better of the two, it descends: each step takes the cheapest finer neighbor that still
    fits. Finally, it lowers one level and raises another, as long as that is cheaper.
    """
    search = _Ascent(judge, limit)
    search.look(judge.space.high)
    try:
        search.halve()
        search.up()
        search.down()
    except _Late:
        pass
    return search.best


class _Ascent:
    def __init__(self, judge: Judge, limit: Limit) -> None:
        self.judge = judge
        self.space = judge.space
        self.limit = limit
        self.best: NodeVerdict | None = None

    def look(self, node: IntArray) -> NodeVerdict:
        """Evaluate a node and remember it if it is the best so far."""
        verdict = self.judge.again(node)
        if verdict.fits and (self.best is None or verdict.value < self.best.value):
            self.best = verdict
        return verdict

    def look_all(self, nodes: Iterable[IntArray]) -> list[NodeVerdict]:
        """Evaluate nodes until the limit is reached."""
        found = []
        for node in nodes:
            if self.limit.reached(self.judge):
                raise _Late
            self.judge.problem.progress(self.limit.share(self.judge), "climbing the lattice")
            found.append(self.look(node))
        return found

    def halve(self) -> None:
        """Run a binary search on the chain that raises the column with the most nodes at every step."""
        chain = list(self._chain())
        low, high = 0, len(chain) - 1
        while low < high:
            middle = (low + high) // 2
            if self.look_all([chain[middle]])[0].fits:
                high = middle
            else:
                low = middle + 1

    def _chain(self) -> Iterator[IntArray]:
        node = self.space.low.copy()
        columns = np.arange(self.space.d)
        yield node.copy()
        while (node < self.space.high).any():
            sizes = np.where(node < self.space.high, self.space.sizes[columns, node], -1)
            node[np.argmax(sizes)] += 1
            yield node.copy()

    def up(self) -> None:
        """Take the step that saves the most people per unit of cost, until a node fits."""
        bound = self.judge.objective.bound
        node = self.space.low
        verdict = self.look_all([node])[0]
        while not verdict.fits and (node < self.space.high).any():
            steps = list(self._neighbours(node, +1))
            tried = self.look_all(steps)
            if any(v.fits for v in tried):
                return
            costs = bound(np.array(steps), np.array([v.lost for v in tried]))
            here = float(bound(node[None, :], np.array([verdict.lost]))[0])
            gained = np.array([verdict.lost - v.lost for v in tried], dtype=np.float64)
            chosen = int(np.argmax(gained / np.maximum(costs - here, 1e-12)))
            node, verdict = steps[chosen], tried[chosen]

    def down(self) -> None:
        """From the best node so far: lower a level, or lower one and raise another, as long as that is cheaper."""
        while self.best is not None:
            before = self.best
            self.look_all(self._neighbours(before.node, -1))
            if self.best is before:
                self.look_all(self._exchanges(before.node))
            if self.best is before:
                return

    def _neighbours(self, node: IntArray, step: int) -> Iterator[IntArray]:
        for j in range(self.space.d):
            if self.space.low[j] <= node[j] + step <= self.space.high[j]:
                moved = node.copy()
                moved[j] += step
                yield moved

    def _exchanges(self, node: IntArray) -> Iterator[IntArray]:
        for lowered in self._neighbours(node, -1):
            for moved in self._neighbours(lowered, +1):
                if not np.array_equal(moved, node):
                    yield moved
