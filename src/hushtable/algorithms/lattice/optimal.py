"""Optimal full-domain generalisation: the node of least cost, proved.

Branch and bound. Every node has a lower bound of its cost: what its levels cost even if nothing is suppressed, and what
the projections on pairs (and triples, where pairs do not suffice) force to be suppressed. Of the open nodes one with a
middling bound and many finer nodes is judged next: if it needs more suppression than allowed, all finer nodes are
ruled out; if it fits, all nodes whose bound is not below its cost are; and a judged node raises the bounds of the
finer ones. When no node is open, the best one is optimal.

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

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.lattice.branch_and_bound import branch_and_bound
from hushtable.algorithms.lattice.climb import climb
from hushtable.algorithms.lattice.judge import Judge
from hushtable.params import Positive

__all__ = ["MOST_NODES", "Optimal"]

MOST_NODES = 2**22
"""Lattices up to this size are enumerated; 12 bytes a node of working memory and 2 bytes per node and column."""


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
            best, bound, proven = branch_and_bound(judge, deadline)
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
