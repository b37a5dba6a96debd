"""Optimal full-domain generalisation: the node of least cost, proved.

Branch and bound. Every node has a lower bound of its cost: what its levels cost even if nothing is suppressed, and what
the projections on pairs (and triples, where pairs do not suffice) force to be suppressed. Of the open nodes one with a
middling bound and many finer nodes is judged next: if it needs more suppression than allowed, all finer nodes are
ruled out; if it fits, all nodes whose bound is not below its cost are; and a judged node raises the bounds of the
finer ones. When no node is open, the best one is optimal.

Without suppression, satisfaction of models that survive merging is monotone in the lattice, and a node that fails
rules out all finer ones. With suppression it is not, unless every model survives adding records: what is monotone is
the number of people in groups that are too small for the models, and only that is used. ``optimum_proven`` in the
notes says whether the search ran to its end.

Lattices of more than four million nodes are searched heuristically within a time budget: upwards until a node fits,
then down along the cheapest steps, then by exchanging levels; with the cost of the best node and a lower bound of the
optimum in the notes. Working memory: 33 bytes a judged node, at most 128 rolled-up tables, and for the lattices that
are enumerated 12 bytes a node and 2 per node and column.

When to use
-----------
Where every column is published at one level, and the best choice must be proved.

When not
--------
With many columns of high hierarchies: the lattice is their product. ``seconds`` stops the proof, not the result.

Cost
----
Between milliseconds and minutes; grows with the lattice and the distinct combinations, hardly with rows that repeat.

References
----------
F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012 (the problem); K. LeFevre et al.,
"Incognito", 2005 (the subset property).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.branch_and_bound import branch_and_bound
from hushtable.algorithms.lattice.climb import climb
from hushtable.algorithms.lattice.full_domain import MOST_NODES, FullDomain, Goal
from hushtable.algorithms.lattice.judge import Judge
from hushtable.params import Positive

__all__ = ["MOST_SECONDS", "Optimal"]

MOST_SECONDS = 60.0
"""Time budget of the heuristic where none is given; lattices that are enumerated are searched to the end."""


@dataclass(frozen=True)
class Optimal(FullDomain):
    """The cheapest node of the lattice that satisfies the models within the suppression limit.

    Parameters
    ----------
    objective : str
        What "cheapest" means.
    seconds : float, optional
        Stop after this time with the best node so far; whether it is optimal is in the notes.

    Examples
    --------
    >>> Optimal(objective="discernibility", fixed={"sex": 0}).values()
    {'fixed': {'sex': 0}, 'objective': 'discernibility'}
    """

    objective: Annotated[Goal, "what is minimised"] = "loss"
    seconds: Annotated[float | None, Positive(), "time budget"] = None

    name: ClassVar[str] = "optimal"

    def run(self, problem: Problem) -> Partition:
        """Search; see the module's docstring."""
        judge = Judge(problem, self.objective, self.fixed)
        start = time.monotonic()
        if judge.space.n_nodes > MOST_NODES:
            best, bound = climb(judge, start + (self.seconds or MOST_SECONDS))
            proven = best is not None and best.value <= bound
        else:
            best, bound, proven = branch_and_bound(judge, None if self.seconds is None else start + self.seconds)
        if best is None:
            raise self.not_found(problem)
        bound = min(bound, best.value)
        return self.finish(
            judge, best, optimum_proven=proven, objective=self.objective, value=best.value, lower_bound=bound
        )
