"""A heuristic for lattices that cannot be enumerated: up until a node fits, then down while it pays."""

from __future__ import annotations

import time

import numpy as np

from hushtable.algorithms.lattice.judge import Judge, Verdict
from hushtable.arrays import IntArray

__all__ = ["climb"]


def climb(judge: Judge, deadline: float | None) -> tuple[Verdict | None, float]:
    """Return a good node and a lower bound of the optimum.

    Upwards, each step takes the column whose next level keeps the most people per unit of cost; downwards, each step
    takes the cheapest finer neighbour that still fits, until none does. The bound is the cost of the bottom node: what
    even a release without any generalisation beyond the leaves would cost given what it must suppress.
    """
    space = judge.space
    node = np.zeros(space.d, dtype=np.int64)
    verdict = judge(node)
    bound = float(judge.objective.bound(node[None, :], np.array([0]))[0])
    while not verdict.fits:
        steps = _neighbours(node, space.heights, +1)
        if not len(steps) or _late(deadline):
            break
        judge.problem.progress(float(node.sum() / space.heights.sum()), "climbing the lattice")
        tried = [judge(s) for s in steps]
        costs = judge.objective.bound(steps, np.array([v.lost for v in tried]))
        gained = np.array([verdict.lost - v.lost for v in tried], dtype=np.float64)
        here = float(judge.objective.bound(node[None, :], np.array([verdict.lost]))[0])
        rate = gained / np.maximum(costs - here, 1e-12)
        fitting = [i for i, v in enumerate(tried) if v.fits]
        chosen = min(fitting, key=lambda i: tried[i].value) if fitting else int(np.argmax(rate))
        node, verdict = steps[chosen], tried[chosen]
    if not verdict.fits:
        top = judge(space.heights)
        if not top.fits:
            return None, bound
        verdict, node = top, space.heights
    while not _late(deadline):
        finer = [judge(s) for s in _neighbours(node, space.heights, -1)]
        better = [v for v in finer if v.fits and v.value < verdict.value]
        if not better:
            break
        verdict = min(better, key=lambda v: v.value)
        node = verdict.node
    return verdict, bound


def _neighbours(node: IntArray, heights: IntArray, step: int) -> IntArray:
    moved = node + step * np.eye(len(node), dtype=np.int64)
    inside = (moved >= 0).all(axis=1) & (moved <= heights).all(axis=1)
    return moved[inside]


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline
