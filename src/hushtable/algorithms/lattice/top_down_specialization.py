"""Top-down specialization: from the roots down, always the step with the most information per anonymity lost.

Every column starts at its root. A specialization replaces one node of a column's cut by its children, everywhere in
the table. Among those that keep the table valid, the one with the highest score is applied, until none is left:

    Score(v) = InfoGain(v) / (AnonyLoss(v) + 1)

InfoGain(v) is the entropy of the class among the records under v, minus the mean of its children's; AnonyLoss(v) is
the decrease in the size of the smallest class of the release.

Details: the class is the first sensitive column, or the one that ``target`` names; without sensitive columns, the
gain is the decrease of the column's loss, (leaves - 1) / (D - 1), times its weight. A table is valid if all models
hold after the violating groups are suppressed, within the suppression limit. A specialization is beneficial if the
records under v have more than one class; with ``beneficial`` (Fung's rule), others are skipped. Nodes above the same
leaves count as one, the lowest. Ties go to the column that the policy names first, then to the first node.
Table-level models are evaluated for one candidate at a time, the best first.

When to use
-----------
For training a classifier: each step separates the target's classes most per anonymity lost.

When not
--------
If there is no target worth predicting. Local recoding loses less.

Cost
----
One pass over the candidates per step; few steps if much must be generalized.

References
----------
B. Fung, K. Wang, P. Yu, "Top-down specialization for information and privacy preservation", ICDE 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.cuts import CutAlgorithm, CutGroups, CutTable
from hushtable.algorithms.lattice.monotone import not_monotone
from hushtable.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class TopDownSpecialization(CutAlgorithm):
    """Greedy specialization of cuts through the hierarchies.

    Parameters
    ----------
    target : str, optional
        The sensitive column whose values are the classes. Defaults to the first.
    beneficial : bool
        Whether to skip nodes whose records all have the same class.

    Examples
    --------
    >>> TopDownSpecialization(beneficial=False).values()
    {'beneficial': False}
    """

    beneficial: Annotated[bool, "skip nodes whose records all have the same class"] = True

    name: ClassVar[str] = "top-down-specialization"

    def run(self, problem: Problem) -> Partition:
        """Specialize from the roots; see the module's docstring."""
        table = CutTable(problem, self.target)
        search = _CutSearch(table, beneficial=self.beneficial)
        if not table.fits(search.groups):
            raise self.not_found(problem)
        steps = 0
        while search.step():
            steps += 1
            problem.progress(search.share_done(), "specializing")
        return table.partition(search.cut, steps=steps)


class _CutSearch:
    """The current cut."""

    def __init__(self, table: CutTable, *, beneficial: bool) -> None:
        self.table = table
        problem = table.problem
        self.cut = [tree.paths[0] for tree in table.trees]
        self.groups = table.group(self.cut)
        leaf = [tree.leaves == 1 for tree in table.trees]
        self._open = [~a & (m | (not beneficial)) for a, m in zip(leaf, table.mixed, strict=True)]
        # finer tables only get worse, so a refusal is final
        self._final = not not_monotone(problem.model, suppression=problem.budget > 0)

    def share_done(self) -> float:
        """Share of all specializations that have been applied or refused."""
        inner = sum(int((tree.leaves > 1).sum()) for tree in self.table.trees)
        left = sum(int(open_.sum()) for open_ in self._open)
        return 1 - left / max(inner, 1)

    def step(self) -> bool:
        """Apply the best valid specialization; return False if there is none."""
        for _, j, node in sorted(c for column in range(len(self.cut)) for c in self._candidates(column)):
            tree = self.table.trees[j]
            nodes = np.where(self.cut[j] == node, tree.below(self.cut[j]), self.cut[j])
            cut = self.table.with_column(self.cut, j, nodes)
            groups = self.table.group(cut)
            if self.table.fits(groups):
                self.cut, self.groups = cut, groups
                self._open[j][node] = False
                return True
            if self._final:
                self._open[j][node] = False
        return False

    def _candidates(self, j: int) -> Iterator[tuple[float, int, int]]:
        """The specializations of one column that the groupwise models accept, with their scores."""
        table, cut = self.table, self.cut[j]
        tree = table.trees[j]
        active = np.zeros(tree.size, dtype=np.bool_)
        active[cut] = self._open[j][cut]
        if not active.any():
            return
        trial = table.group(table.with_column(self.cut, j, np.where(active[cut], tree.below(cut), cut)))
        before, after = table.owners(self.groups, j, cut), table.owners(trial, j, cut)
        spared = int(self.groups.sizes[self.groups.lost].sum()) - table.lost_by(self.groups, before, tree.size)
        lost = spared + table.lost_by(trial, after, tree.size)
        valid: BoolArray = active & (lost <= table.problem.budget) & (lost < table.space.units)
        if self._final:
            self._open[j] &= valid | ~active
        smallest = _smallest(self.groups, before, tree.size)
        others = _least_of_others(smallest)
        now = int(smallest.min())
        shrunk = now - np.minimum(others, _smallest(trial, after, tree.size))
        for node in np.flatnonzero(valid).tolist():
            price = max(int(shrunk[node]), 0) / table.problem.table.unit + 1
            # rounded, so that equal scores are ties regardless of summation order
            yield -round(float(table.gain[j][node]) / price, 12), j, node


def _smallest(groups: CutGroups, owner: IntArray, n: int) -> IntArray:
    """Return the size of the smallest published group of each owner."""
    out = np.full(n, np.iinfo(np.int64).max)
    kept = ~groups.lost & (groups.sizes > 0)
    np.minimum.at(out, owner[kept], groups.sizes[kept])
    return out


def _least_of_others(values: IntArray) -> IntArray:
    """Return, for each position, the smallest value at all other positions."""
    if len(values) == 1:
        return np.full(1, np.iinfo(np.int64).max)
    first, second = np.partition(values, 1)[:2]
    out = np.full(len(values), first)
    out[np.argmin(values)] = second
    return out
