"""Optimal full-domain generalisation: the node of least cost, proved.

Best first. Every node has a lower bound of its cost: what its levels cost even if nothing is suppressed, and what the
projections on pairs (and triples, where pairs do not suffice) force to be suppressed. The open node with the least
bound is judged next; a node that needs more suppression than allowed rules out every finer node, a judged node raises
the bounds of the finer ones. When no open node's bound is below the best cost found, the best node is optimal.

Without suppression, satisfaction of models that survive merging is monotone in the lattice, and a node that fails
rules out all finer ones. With suppression it is not: what is monotone is the number of people in groups that are too
small for the models, and only that is used. ``optimum_proven`` in the notes says whether the search ran to its end.

Lattices of more than four million nodes are searched heuristically: greedily upwards until a node fits, then down
along the cheapest steps, with the cost of the best node and a lower bound in the notes.

References
----------
F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012 (the problem); K. LeFevre et al.,
"Incognito", 2005 (the subset property).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.climb import climb
from hushtable.algorithms.lattice.judge import Judge, Verdict
from hushtable.arrays import IntArray
from hushtable.models.base import Monotone
from hushtable.params import Positive

__all__ = ["MOST_NODES", "Optimal"]

MOST_NODES = 2**22
"""Lattices up to this size are enumerated; 12 bytes a node of working memory and 2 bytes per node and column."""

PATIENCE = 48
"""Nodes judged before triples are projected."""


@dataclass(frozen=True)
class Optimal(Algorithm):
    """The cheapest node of the lattice that satisfies the models within the suppression limit.

    Parameters
    ----------
    objective : str
        What "cheapest" means.
    seconds : float, optional
        Stop after this time with the best node so far; whether it is optimal is in the notes.

    Examples
    --------
    >>> Optimal(objective="discernibility").values()
    {'objective': 'discernibility'}
    """

    objective: Annotated[
        Literal["loss", "ncp", "prec", "height", "entropy", "discernibility", "average-class-size"],
        "what is minimised",
    ] = "loss"
    seconds: Annotated[float | None, Positive(), "time budget"] = None

    name: ClassVar[str] = "optimal"
    recoding: ClassVar[Recoding] = Recoding.GLOBAL

    def run(self, problem: Problem) -> Partition:
        """Search; see the module's docstring."""
        judge = Judge(problem, self.objective)
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        if judge.space.n_nodes > MOST_NODES:
            best, bound = climb(judge, deadline)
            proven = best is not None and best.value <= bound
        else:
            best, bound, proven = _best_first(judge, deadline)
        if best is None:
            raise self.not_found(problem)
        notes: dict[str, Any] = {
            "optimum_proven": proven,
            "objective": self.objective,
            "value": best.value,
            "lower_bound": min(bound, best.value),
            "nodes": judge.space.n_nodes,
            "nodes_judged": len(judge.seen),
            "levels": dict(zip((c.name for c in problem.table.quasi), map(int, best.node), strict=True)),
        }
        return replace(judge.partition(best.node), notes=notes)


def _best_first(judge: Judge, deadline: float | None) -> tuple[Verdict | None, float, bool]:
    """Return the best node, a lower bound of the optimum, and whether the search ran to its end."""
    space = judge.space
    nodes = space.nodes
    exact = judge.budget == 0 and Monotone.MERGE in judge.model.flags
    lost = project(space, judge.minimum, min(2, space.d), np.zeros(len(nodes), dtype=np.int64))
    open_ = np.flatnonzero(lost <= judge.budget)
    bound = judge.objective.bound(nodes[open_], lost[open_])
    best: Verdict | None = None
    turn = 0
    while len(open_):
        at = int(np.argmin(bound))
        if best is not None and bound[at] >= best.value - 1e-15 * abs(best.value):
            break
        if deadline is not None and time.monotonic() > deadline:
            return best, float(bound[at]), False
        if turn == PATIENCE and space.d > 2:
            lost = project(space, judge.minimum, 3, lost)
            keep = lost[open_] <= judge.budget
            open_ = open_[keep]
            bound = np.maximum(bound[keep], judge.objective.bound(nodes[open_], lost[open_]))
            turn += 1
            continue
        turn += 1
        if turn % 32 == 0:
            judge.problem.progress(1 - len(open_) / space.n_nodes, "searching the lattice")
        verdict = judge(nodes[open_[at]])
        if verdict.fits and (best is None or verdict.value < best.value):
            best = verdict
        open_, bound = _prune(judge, verdict, best, open_, bound, lost, exact=exact, at=at)
    return best, float("inf") if best is None else best.value, True


def _prune(
    judge: Judge, verdict: Verdict, best: Verdict | None, open_: IntArray, bound: Any, lost: IntArray,
    *, exact: bool, at: int,
) -> tuple[IntArray, Any]:  # fmt: skip
    """Close what a verdict rules out, and raise the bounds of the finer nodes."""
    nodes = judge.space.nodes
    keep = np.ones(len(open_), dtype=np.bool_)
    keep[at] = False
    finer = (nodes[open_] <= verdict.node).all(axis=1)
    if verdict.small > judge.budget or (exact and not verdict.fits):
        keep &= ~finer
    elif verdict.small > 0:
        raised = np.flatnonzero(finer & (lost[open_] < verdict.small))
        if len(raised):
            lost[open_[raised]] = verdict.small
            bound = bound.copy()
            bound[raised] = np.maximum(bound[raised], judge.objective.bound(nodes[open_[raised]], lost[open_[raised]]))
    if best is not None:
        keep &= bound < best.value
    return open_[keep], bound[keep]
