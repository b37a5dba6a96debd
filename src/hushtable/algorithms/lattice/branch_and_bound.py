"""The search behind the optimal algorithm: open nodes, their bounds, and which to judge next."""

from __future__ import annotations

import time

import numpy as np

from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.verdict import Verdict
from hushtable.arrays import BoolArray, FloatArray

__all__ = ["branch_and_bound"]

PATIENCE = 48
"""Nodes judged before triples are projected: an easy search is over by then."""

MANY = 1 << 16
"""Tuples from which on triples are projected from a rolled-up table: nine columns have 84 of them."""

LOW = 0.5
"""Share of the open nodes that may be finer, in one column, than that table."""

FEW = 8
"""Open nodes from which on the one with the least bound is taken."""


def branch_and_bound(judge: Judge, deadline: float | None) -> tuple[Verdict | None, float, bool]:
    """Return the best node, a lower bound of the optimum, and whether the search ran to its end."""
    open_ = _Open(judge)
    best: Verdict | None = None
    judged = 0
    # where nothing may be suppressed a bound is a verdict, and with many tuples verdicts are dear
    patience = 0 if judge.budget == 0 and len(judge.space.root) >= MANY else PATIENCE
    while len(open_):
        if deadline is not None and time.monotonic() > deadline:
            return best, open_.least(), False
        if judged == patience and open_.project_triples(best):
            continue
        if judged % 16 == 0:
            open_.roll_up()
        if judged % 32 == 0:
            judge.problem.progress(1 - len(open_) / judge.space.n_nodes, "searching the lattice")
        judged += 1
        place = open_.choose()
        verdict = judge(open_.nodes[place].astype(np.int64))
        if verdict.fits and (best is None or verdict.value < best.value):
            best = verdict
        open_.learn(place, verdict, best)
    return best, float("inf") if best is None else best.value, True


class _Open:
    """The nodes that may still be the optimum, with lower bounds of their cost."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        space = judge.space
        self._triples = space.d > 2
        self.nodes = space.nodes
        self._lost = project(
            space, judge.minimum, min(2, space.d), self.nodes, np.zeros(len(self.nodes), dtype=np.int64)
        )
        self._bound: FloatArray = judge.objective.bound(self.nodes, self._lost)
        # a proxy of how many nodes a verdict on this one reaches
        self._reach = np.log1p(self.nodes).sum(axis=1)
        self._columns = np.ascontiguousarray(self.nodes.T)
        self._shrink(self._lost <= judge.budget)
        self.roll_up()

    def __len__(self) -> int:
        return len(self.nodes)

    def least(self) -> float:
        """The least bound of the open nodes: the optimum is not below it."""
        return float(self._bound.min())

    def roll_up(self) -> None:
        """Roll the table up to where all open nodes are coarser: what comes next is grouped from there."""
        if len(self):
            self._judge.space.roll_to(self._columns.min(axis=1).astype(np.int64))

    def _shrink(self, keep: BoolArray) -> None:
        if keep.all():
            return
        self.nodes, self._lost = self.nodes[keep], self._lost[keep]
        self._bound, self._reach = self._bound[keep], self._reach[keep]
        self._columns = np.ascontiguousarray(self._columns[:, keep])

    def project_triples(self, best: Verdict | None) -> bool:
        """Raise the bounds by the projections on three columns, once; False where that was done."""
        if not self._triples:
            return False
        self._triples = False
        space, judge = self._judge.space, self._judge
        source = None
        if len(space.root) >= MANY:
            # far fewer tuples, and weaker bounds for the nodes that are finer in some column
            low = np.quantile(self._columns, LOW, axis=1, method="lower").astype(np.int64)
            space.roll_to(low)
            source = space.finest(low)
        self._lost = project(space, judge.minimum, 3, self.nodes, self._lost, source)
        self._bound = np.maximum(self._bound, judge.objective.bound(self.nodes, self._lost))
        keep = self._lost <= judge.budget
        if best is not None:
            keep &= self._bound < best.value
        self._shrink(keep)
        self.roll_up()
        return True

    def choose(self) -> int:
        """Of the nodes with a middling bound, one with many finer nodes; of the last few, the most promising."""
        n = len(self)
        if n <= FEW:
            return int(np.argmin(self._bound))
        low, high = (3 * n) // 8, (5 * n) // 8
        edges = np.partition(self._bound, (low, high))
        middling = np.flatnonzero((self._bound >= edges[low]) & (self._bound <= edges[high]))
        return int(middling[np.argmax(self._reach[middling])])

    def learn(self, place: int, verdict: Verdict, best: Verdict | None) -> None:
        """Close what a verdict rules out, and raise the bounds of the finer nodes."""
        judge = self._judge
        keep = np.ones(len(self), dtype=np.bool_)
        keep[place] = False
        finer = self._columns[0] <= verdict.node[0]
        for j in range(1, len(self._columns)):
            finer &= self._columns[j] <= verdict.node[j]
        if verdict.small > judge.budget or (judge.monotone and not verdict.fits):
            keep &= ~finer
        elif verdict.small > 0:
            raised = np.flatnonzero(finer & (self._lost < verdict.small))
            if len(raised):
                self._lost[raised] = verdict.small
                tighter = judge.objective.bound_alike(self.nodes[raised], verdict.small)
                self._bound[raised] = np.maximum(self._bound[raised], tighter)
        if verdict.floor > -np.inf:
            coarser = self._columns[0] >= verdict.node[0]
            for j in range(1, len(self._columns)):
                coarser &= self._columns[j] >= verdict.node[j]
            self._bound[coarser] = np.maximum(self._bound[coarser], verdict.floor)
        if best is not None:
            keep &= self._bound < best.value
        self._shrink(keep)
