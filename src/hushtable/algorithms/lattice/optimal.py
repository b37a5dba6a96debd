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
kept there satisfy it together, and caps and floors of the shares of values bound how much of the group can be kept.
The same limits tell in one pass over the tuples that most nodes are no better than the best one, so that the models
themselves are evaluated at few nodes.

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

import heapq
import itertools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.bounds import forced_units, projectable
from hushtable.algorithms.lattice.branch_and_bound import branch_and_bound
from hushtable.algorithms.lattice.climb import Limit, climb
from hushtable.algorithms.lattice.full_domain import MOST_NODES, FullDomain, Goal
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import AMOUNTS, CellObjective
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import ParameterError, did_you_mean
from hushtable.params import AtLeast, Positive

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

    best = climb(judge, replace(limit, nodes=(limit.nodes or MOST_JUDGED) // 2))
    return search_boxes(judge, best, limit)


# Branch and bound without enumerating the lattice: boxes of levels, the most promising first.
#
# A box is a range of levels for every column. Four facts give a lower bound on the cost of its nodes:
#
# * Every node is coarser than the lower corner, whose levels are the cheapest of the box.
# * Every node is finer than the upper corner, so it has to suppress at least as much (``NodeVerdict.small``).
# * The projection on two columns forces some suppression on nodes with their levels. Levels that occur in no allowed
#   combination are removed from the box; objectives that charge cells are a rising function of a sum of terms, one per
#   column, so over pairs that share no column the smallest sums of the allowed combinations add up.
# * Groups only grow from the lower corner on (``Objective.floor``).
#
# The box with the lowest bound comes next: its corners are evaluated, and it is divided. No node of a discarded box
# can be better than the best known node, so the lowest bound of the remaining boxes is a bound on the optimum.


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
