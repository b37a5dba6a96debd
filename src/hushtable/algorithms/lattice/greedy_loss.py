"""Greedy minimum-loss generalization with attribute weights, the algorithm of (alp, dif)-anonymity.

Step 1: raise the column whose next level costs least until at most v records violate k-anonymity; then suppress those
records. Step 2: continue in the same way until all models hold.

The cost of raising column i is its weight times the sum, over the records, of equation 9 at the next level, (leaves
of the node - 1) / D. Equation 10 as printed has 1 - W instead of W, which raises the *most* important column first
and contradicts the text ("previously generalize the smaller weight attribute"); ``as_printed`` selects it.

Details: weights are scaled to [0, 1] as shares of their sum; without ``as_printed``, the scale does not matter. "n is
a gross number": the sum runs over the records that are not suppressed. Step 1 uses all models that evaluate single
groups and survive adding any record, such as k-anonymity: only for these is a suppression final, and step 2 cannot
undo the result of step 1. v is the suppression limit. The first check comes before the first step. Step 2 suppresses
nothing. Ties go to the column that the policy names first.

When to use
-----------
For (alp, dif)-anonymity as published, or if column weights should decide.

When not
--------
When you can afford the best node: optimal finds it, with proof.

Cost
----
One grouping per step and column; at most the sum of the heights.

References
----------
Wang et al., "(alp, dif)-anonymity", 2011, section III-C, equations 9 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.full_domain import FullDomain, named_levels
from hushtable.algorithms.lattice.space import Grouping, SearchSpace
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.table.losses import wang_loss


@dataclass(frozen=True)
class GreedyLoss(FullDomain):
    """Raises the column that loses least, first until k-anonymity holds, then until every model does.

    Parameters
    ----------
    as_printed : bool
        Weigh by 1 - W, as equation 10 is printed, instead of W.

    Examples
    --------
    >>> GreedyLoss(as_printed=True).values()
    {'as_printed': True}
    """

    as_printed: Annotated[bool, "weigh the loss by 1 - W, as equation 10 is printed"] = False

    name: ClassVar[str] = "greedy-loss"

    def run(self, problem: Problem) -> Partition:
        """Two greedy climbs; see the module's docstring."""
        problem = problem.collapsed(f"{self.name} remembers which combinations it suppresses")
        climb = _Climb(problem, self)
        lost = climb.until(_first(problem.model), problem.budget)
        first = climb.node.copy()
        climb.suppress(lost)
        climb.until(problem.model, 0)
        return climb.partition(step_1=named_levels(problem, first))


def _first(model: AllOf) -> AllOf:
    """The models of step 1: those that evaluate single groups and survive adding any record."""
    return AllOf(tuple(m for m in model.members if Monotone.ADD in m.monotone and not m.table_level))


class _Climb:
    """The current node and the suppressed tuples."""

    def __init__(self, problem: Problem, algorithm: GreedyLoss) -> None:
        self.problem = problem
        self.algorithm = algorithm
        self.space = SearchSpace(problem.table, problem.model.histogram_keys(), algorithm.fixed)
        self.node = self.space.low.copy()
        self.kept: BoolArray = np.ones(len(self.space.base), dtype=np.bool_)
        weights = np.array([c.weight for c in problem.table.quasi])
        share = weights / weights.sum()
        self.factor: FloatArray = 1 - share if algorithm.as_printed else share
        self.steps = 0

    def until(self, model: AllOf, budget: int) -> BoolArray:
        """Raise columns until the violating units fit the budget; return the violating tuples."""
        while True:
            grouping = self.space.group(self.node, self.space.base)
            violating = self._violating(grouping, model)
            if violating is not None:
                lost, left = (int(self.space.base.units[m].sum()) for m in (violating, self.kept & ~violating))
                if lost <= budget and left > 0:
                    return violating
            self._raise()

    def _violating(self, grouping: Grouping, model: AllOf) -> BoolArray | None:
        """Kept tuples in violating groups; None if the whole table violates and no group is to blame."""
        stats = self.space.stats_of(grouping.group, len(grouping.sizes), self.kept)
        index = np.flatnonzero(stats.units > 0)
        there = stats.take(index)
        bad = np.zeros(len(stats), dtype=np.bool_)
        bad[index] = ~model.satisfied(there, self.problem.reference)
        if not bad.any() and not bool(model.table_satisfied(there, self.problem.reference)[0]):
            return None
        return np.asarray(self.kept & bad[grouping.group])

    def _raise(self) -> None:
        """Raise the column whose next level costs least."""
        losses = np.array([self._loss(j) for j in range(self.space.d)])
        losses[self.node >= self.space.high] = np.inf
        chosen = int(np.argmin(losses))
        if np.isinf(losses[chosen]):
            raise self.algorithm.not_found(self.problem)
        self.problem.progress(float(self.node.sum() / max(self.space.high.sum(), 1)), "generalizing")
        self.node[chosen] += 1
        self.steps += 1

    def _loss(self, j: int) -> float:
        """Equation 10 for one column: its factor times the sum of equation 9 over the kept records."""
        if self.node[j] >= self.space.high[j]:
            return float("inf")
        coded = self.problem.table.quasi[j].coded
        level = int(self.node[j]) + 1
        leaves = coded.leaves(level)[coded.levels[level]]
        units: IntArray = np.zeros(coded.size, dtype=np.int64)
        base = self.space.base
        np.add.at(units, base.columns[j, self.kept], base.units[self.kept])
        return wang_loss(coded, leaves, units, float(self.factor[j]))

    def suppress(self, lost: BoolArray) -> None:
        """Suppress tuples permanently."""
        self.kept &= ~lost

    def partition(self, **notes: object) -> Partition:
        """Return the partition at the current node."""
        grouping = self.space.group(self.node, self.space.base)
        labels = self.space.rows_of(grouping.group, self.kept)
        said = {**notes, "steps": self.steps, "levels": named_levels(self.problem, self.node)}
        levels = tuple(int(level) for level in self.node)
        return Partition(labels, len(grouping.sizes), levels=levels, notes=said)
