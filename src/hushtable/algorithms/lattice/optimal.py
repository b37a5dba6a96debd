"""Optimal full-domain generalization: the node of least cost, proved.

Branch and bound. Every node has a lower bound of its cost: what its levels cost even if nothing is suppressed, and what
the projections on pairs (and triples, where pairs do not suffice) force to be suppressed. Of the open nodes one with a
middling bound and many finer nodes is judged next: if it needs more suppression than allowed, all finer nodes are
ruled out; if it fits, all nodes whose bound is not below its cost are; and a judged node raises the bounds of the
finer ones. When no node is open, the best one is optimal.

Without suppression, satisfaction of models that survive merging is monotone in the lattice, and a node that fails
rules out all finer ones. With suppression it is not, unless every model survives adding records: what is monotone is
the number of people in groups that are too small for the models, and only that is used. ``optimum_proven`` in the
notes says whether the search ran to its end.

Classes only grow when a node is generalized further. So a judged node also bounds the coarser ones, for the objectives
that look at class sizes: each record costs at least its group's size, or the smallest size allowed, and no more classes
can be made of its groups than smallest ones fit into them. A group that violates a model which is not monotone
(t-closeness, entropy, recursive, beta, delta) need not violate it as a whole at a finer node. But the parts that are
kept there satisfy it together, and caps on the shares of values bound how much of the group that can be.

Lattices of more than four million nodes are never enumerated. Half of the judged nodes that ``nodes`` allows (2,000 by
default) go into finding a good node: upwards until a node fits, then down along the cheapest steps, then by exchanging
levels. The others go into bounding the optimum: the box of levels with the least bound is divided, again and again. The
notes have the value of the best node, a proved lower bound of the optimum and the gap between the two. Working memory:
33 bytes a judged node, at most 128 rolled-up tables, and for the lattices that are enumerated 29 bytes a node and 3 per
node and column.

When to use
-----------
When every column is published at one level, and the best choice must be proved.

When not
--------
With many columns of high hierarchies, if the optimum must be proved: the lattice is their product. ``nodes`` and
``seconds`` stop the proof, not the result. With ``seconds`` the result depends on the machine, with ``nodes`` it does
not.

Cost
----
Between milliseconds and minutes; grows with the lattice and the distinct combinations, hardly with rows that repeat.

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
from hushtable.algorithms.lattice.verdict import Verdict
from hushtable.errors import ParameterError, did_you_mean
from hushtable.params import AtLeast, Positive

__all__ = ["MOST_JUDGED", "Optimal"]

MOST_JUDGED = 2000
"""Nodes judged by default in a lattice that is too large to be enumerated; others are searched to the end."""


@dataclass(frozen=True)
class Optimal(FullDomain):
    """The cheapest node of the lattice that satisfies the models within the suppression limit.

    Parameters
    ----------
    objective : str
        What "cheapest" means.
    amounts : mapping of str to float, optional
        Money per record for the objective ``payout``: the publisher's ``benefit`` (1200) and ``loss`` (300), the
        adversary's ``gain`` (300) and ``cost`` (4).
    seconds : float, optional
        Stop after this time with the best node so far; whether it is optimal is in the notes.
    nodes : int, optional
        Stop after judging this many nodes: as ``seconds``, but with the same result on every machine.

    Examples
    --------
    >>> Optimal(objective="discernibility", fixed={"sex": 0}, nodes=500).values()
    {'fixed': {'sex': 0}, 'objective': 'discernibility', 'nodes': 500}
    """

    objective: Annotated[Goal, "what is minimized"] = "loss"
    amounts: Annotated[
        Mapping[str, float],
        "money per record for 'payout': the publisher's benefit and loss, the adversary's gain and cost",
    ] = field(default_factory=dict)
    seconds: Annotated[float | None, Positive(), "time budget"] = None
    nodes: Annotated[int | None, AtLeast(1), "budget of judged nodes, with the same result on every machine"] = None

    name: ClassVar[str] = "optimal"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.amounts and not self.objective.startswith("payout"):
            raise ParameterError(
                "The 'amounts' parameter of Optimal is for 'objective: payout'.",
                hint="Leave it out, or set the objective.",
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


def _search_large(judge: Judge, limit: Limit) -> tuple[Verdict | None, float]:
    """Search a lattice that cannot be enumerated: half of the nodes for a good one, the others for the bound."""
    # a module that few runs need
    from hushtable.algorithms.lattice.boxes import search_boxes

    best = climb(judge, replace(limit, nodes=(limit.nodes or MOST_JUDGED) // 2))
    return search_boxes(judge, best, limit)
