"""The search behind the optimal algorithm: open nodes, their bounds, and which to judge next."""

from __future__ import annotations

import time

import numpy as np

from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.probe import Probe
from hushtable.algorithms.lattice.verdict import Verdict
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["branch_and_bound"]

PATIENCE = 48
"""Nodes judged before triples are projected: an easy search is over by then."""

MANY = 1 << 16
"""Tuples from which on judging a node is dear: projections come from rolled-up tables, and nodes are well chosen."""

LOW = 0.3
"""Share of the open nodes that may be finer, in one column, than the table that triples are projected from."""

LOWEST = 0.15
"""The same for the tables that nodes are grouped from."""

TRIED = 16
"""Nodes judged before others are chosen by what they are likely to close."""

FEW = 8
"""Open nodes from which on the one with the least bound is taken."""

ENOUGH = 512
"""Open nodes below which triples of many tuples cost more than they close, where something may be suppressed."""


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
        if judged % 32 == 0:
            judge.problem.progress(1 - len(open_) / judge.space.n_nodes, "searching the lattice")
        judged += 1
        node = open_.probe(best) if best is not None and judged > TRIED else None
        if node is None:
            node = open_.choose()
        open_.roll_up(node, judged)
        verdict = judge(node)
        if verdict.fits and (best is None or verdict.value < best.value):
            best = verdict
        open_.learn(verdict, best)
    return best, float("inf") if best is None else best.value, True


class _Open:
    """The nodes that may still be the optimum, with lower bounds of their cost."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        space = judge.space
        self._triples = space.d > 2
        self.nodes = space.nodes
        source = None
        if len(space.root) >= MANY and judge.budget:
            # where much may be suppressed, pairs of fine levels say little
            half = np.clip(space.heights // 2, space.low, space.high)
            space.roll_to(half)
            source = space.finest(half)
        none = np.zeros(len(self.nodes), dtype=np.int64)
        self._lost = project(space, judge.minimum, min(2, space.d), self.nodes, none, source)
        self._bound: FloatArray = judge.objective.bound(self.nodes, self._lost)
        # a proxy of how many nodes a verdict on this one reaches
        self._reach = np.log1p(self.nodes).sum(axis=1)
        self._columns = np.ascontiguousarray(self.nodes.T)
        self._height = self.nodes.sum(axis=1, dtype=np.int64)
        self._probe: Probe | None = None
        self._limits: FloatArray | None = None
        self._limited_by = 0.0
        self._shrink(self._lost <= judge.budget)

    def __len__(self) -> int:
        return len(self.nodes)

    def least(self) -> float:
        """The least bound of the open nodes: the optimum is not below it."""
        return float(self._bound.min())

    def roll_up(self, node: IntArray, judged: int) -> None:
        """Roll the table up to where a node, and other open ones, can be grouped from."""
        space = self._judge.space
        if len(space.root) < MANY:
            if judged % 16 == 1:
                space.roll_to(np.minimum(self._columns.min(axis=1), node))
        elif space.finest(node) is space.root:
            unserved = np.column_stack([self._columns[:, ~space.served(self.nodes)], node])
            space.roll_to(np.minimum(node, self._lowest(LOWEST, unserved)))

    @staticmethod
    def _lowest(share: float, columns: AnyArray) -> IntArray:
        """The levels that at most so large a share of the nodes is below, column by column."""
        place = int(share * columns.shape[1])
        return np.asarray(np.partition(columns, place, axis=1)[:, place], dtype=np.int64)

    def _shrink(self, keep: BoolArray) -> None:
        if keep.all():
            return
        self.nodes, self._lost = self.nodes[keep], self._lost[keep]
        self._bound, self._reach, self._height = self._bound[keep], self._reach[keep], self._height[keep]
        if self._limits is not None:
            self._limits = self._limits[keep]
        self._columns = np.ascontiguousarray(self._columns[:, keep])

    def project_triples(self, best: Verdict | None) -> bool:
        """Raise the bounds by the projections on three columns, once; False where that was done."""
        space, judge = self._judge.space, self._judge
        many = len(space.root) >= MANY
        if not self._triples or (many and judge.budget and len(self) < ENOUGH):
            return False
        self._triples = False
        source = None
        if many:
            # far fewer tuples, and weaker bounds for the nodes that are finer in some column
            low = self._lowest(LOW, self._columns)
            space.roll_to(low)
            source = space.finest(low)
        self._lost = project(space, judge.minimum, 3, self.nodes, self._lost, source)
        self._bound = np.maximum(self._bound, judge.objective.bound(self.nodes, self._lost))
        keep = self._lost <= judge.budget
        if best is not None:
            keep &= self._bound < best.value
        self._shrink(keep)
        return True

    def probe(self, best: Verdict) -> IntArray | None:
        """The node, open or not, that is likely to close most open ones; None where judging is cheaper than that."""
        judge = self._judge
        if judge.budget == 0 or judge.minimum <= 1 or len(judge.space.root) < MANY:
            return None
        if self._probe is None:
            self._probe = Probe(judge)
        if self._limits is None or best.value != self._limited_by:
            self._limits, self._limited_by = self._probe.limits(self.nodes, best.value), best.value
        return self._probe(self.nodes, self._limits)

    def choose(self) -> IntArray:
        """Of the nodes with a middling bound, one with many finer nodes; of the last few, the most promising."""
        return np.asarray(self.nodes[self._choose()], dtype=np.int64)

    def _choose(self) -> int:
        n = len(self)
        if n <= FEW:
            return int(np.argmin(self._bound))
        low, high = (3 * n) // 8, (5 * n) // 8
        edges = np.partition(self._bound, (low, high))
        middling = np.flatnonzero((self._bound >= edges[low]) & (self._bound <= edges[high]))
        return int(middling[np.argmax(self._reach[middling])])

    def learn(self, verdict: Verdict, best: Verdict | None) -> None:
        """Close what a verdict rules out, and raise the bounds of the finer nodes."""
        judge = self._judge
        finer = self._columns[0] <= verdict.node[0]
        for j in range(1, len(self._columns)):
            finer &= self._columns[j] <= verdict.node[j]
        # of the finer ones only the node itself is as high
        keep = ~(finer & (self._height == verdict.node.sum()))
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
