"""Optimal full-domain generalization: the node with the lowest cost, with proof.

The search is a branch and bound. Every node has a lower bound on its cost: the cost of its levels without
suppression, plus the suppression that the projections on pairs (and triples, if pairs are not enough) force. The next
node to evaluate is an open one with a medium bound and many finer nodes. If it needs more suppression than allowed,
it rules out all finer nodes. If it fits, it rules out all nodes whose bound is not below its cost. An evaluated node
also raises the bounds of finer ones. When no node is open, the best one is optimal.

Without suppression, satisfaction of models that survive merging is monotone in the lattice, and a node that fails
rules out all finer ones. With suppression, it is not, unless every model survives adding records: only the number of
people in groups that are too small for the models is monotone, so the search uses only that. ``optimum_proven`` in
the notes says whether the search finished.

Classes only grow when a node is generalized further. So for objectives based on class sizes, an evaluated node also
bounds the coarser ones: each record costs at least its group's size, or the smallest allowed size, and the number of
classes is at most the number of smallest classes that fit into its groups. If a group violates a model that is not
monotone (t-closeness, entropy, recursive, beta, delta), parts of it may satisfy the model at a finer node. The parts
kept there satisfy it together, and caps on the shares of values bound how much of the group can be kept.

Lattices of more than four million nodes are never enumerated. Half of the evaluations that ``nodes`` allows (2,000 by
default) are spent on finding a good node: up until a node fits, then down along the cheapest steps, then by
exchanging levels. The others are spent on bounding the optimum, by repeatedly dividing the box of levels with the
lowest bound. The notes contain the value of the best node, a proved lower bound on the optimum and the gap between
the two. Working memory: 33 bytes per evaluated node, at most 128 rolled-up tables and, for enumerated lattices, 29
bytes per node and 3 per node and column.

When to use
-----------
When every column is published at one level, and the choice must be provably optimal.

When not
--------
With many columns and tall hierarchies, if the optimum must be proved: the lattice is their product. ``nodes`` and
``seconds`` cut off the proof, but still give a result. With ``seconds``, the result depends on the machine; with
``nodes``, it does not.

Cost
----
From milliseconds to minutes; grows with the lattice and the distinct combinations, but hardly with repeated rows.

References
----------
F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012 (the problem); K. LeFevre et al.,
"Incognito", 2005 (the subset property).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.branch_and_bound import branch_and_bound
from hushtable.algorithms.lattice.climb import Limit, climb
from hushtable.algorithms.lattice.full_domain import MOST_NODES, FullDomain, Goal
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import AMOUNTS
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.errors import ParameterError, did_you_mean
from hushtable.params import AtLeast, Positive

__all__ = ["MOST_JUDGED", "Optimal"]

MOST_JUDGED = 2000
"""Default number of nodes evaluated in a lattice too large to enumerate; smaller ones are searched completely."""


@dataclass(frozen=True)
class Optimal(FullDomain):
    """Finds the cheapest node of the lattice that satisfies the models within the suppression limit.

    Parameters
    ----------
    objective : str
        Cost to minimize.
    amounts : mapping of str to float, optional
        Money per record for the objective ``payout``: the publisher's ``benefit`` (1200) and ``loss`` (300), the
        adversary's ``gain`` (300) and ``cost`` (4).
    seconds : float, optional
        Stop after this time with the best node so far; whether it is optimal is in the notes.
    nodes : int, optional
        Stop after evaluating this many nodes: like ``seconds``, but with the same result on every machine.

    Examples
    --------
    >>> Optimal(objective="discernibility", fixed={"sex": 0}, nodes=500).values()
    {'fixed': {'sex': 0}, 'objective': 'discernibility', 'nodes': 500}
    """

    objective: Annotated[Goal, "cost to minimize"] = "loss"
    amounts: Annotated[
        Mapping[str, float],
        "money per record for 'payout': the publisher's benefit and loss, the adversary's gain and cost",
    ] = field(default_factory=dict)
    seconds: Annotated[float | None, Positive(), "time budget"] = None
    nodes: Annotated[int | None, AtLeast(1), "maximum number of nodes to evaluate; same result on every machine"] = None

    name: ClassVar[str] = "optimal"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.amounts and not self.objective.startswith("payout"):
            raise ParameterError(
                "The 'amounts' parameter of Optimal is for 'objective: payout'.",
                hint="Remove it, or set the objective.",
            )
        for name, amount in self.amounts.items():
            if name not in AMOUNTS:
                raise ParameterError(
                    f"The 'amounts' parameter of Optimal has no {name!r}.", hint=did_you_mean(name, AMOUNTS)
                )
            if not (0 <= amount < math.inf) or (amount == 0 and name == "benefit"):
                raise ParameterError(
                    f"The {name!r} of Optimal's 'amounts' must be finite and not negative, and a benefit above 0. "
                    f"Got {amount!r} instead."
                )

    def run(self, problem: Problem) -> Partition:
        """Search; see the module's docstring."""
        more: dict[str, Any] = {"amounts": self.amounts} if self.amounts else {}
        judge = Judge(problem, self.objective, self.fixed, **more)
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        if judge.space.n_nodes > MOST_NODES:
            best, bound = _search_large(judge, Limit(self.nodes or MOST_JUDGED, deadline))
            proven = best is not None and best.value <= bound
        else:
            best, bound, proven = branch_and_bound(judge, Limit(self.nodes, deadline))
        if best is None:
            raise self.not_found(problem)
        bound = min(bound, best.value)
        return self.finish(
            judge,
            best,
            optimum_proven=proven,
            objective=self.objective,
            value=best.value,
            lower_bound=bound,
            gap=best.value - bound,
        )


def _search_large(judge: Judge, limit: Limit) -> tuple[NodeVerdict | None, float]:
    """Search a lattice too large to enumerate: spend half of the nodes on a good solution, half on the bound."""
    # few runs need this module
    from hushtable.algorithms.lattice.boxes import search_boxes

    best = climb(judge, replace(limit, nodes=(limit.nodes or MOST_JUDGED) // 2))
    return search_boxes(judge, best, limit)
