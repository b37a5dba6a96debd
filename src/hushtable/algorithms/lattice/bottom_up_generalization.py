"""Bottom-up generalization: from the leaves up, always the step that loses the least information per anonymity gained.

Every column starts with its leaves. A generalization replaces all children of a node by the node, everywhere in the
table. The one with the lowest I / P is applied, until the models hold:

    I = entropy of the class among the records under the node, minus the mean of its children's
    P = anonymity gained;  if nothing is gained, I alone counts

Details: Wang, Yu and Chakraborty measure anonymity by the smallest class, which most steps leave at 1. To support any
model, P is the decrease in the number of people in groups that violate a groupwise model. The class is the first
sensitive column, or the one that ``target`` names; without sensitive columns, I is the increase of the column's loss,
(leaves - 1) / (D - 1), times its weight. Ties in I / P go to the step that gains more, then to the column that the
policy names first, then to the first node. Nodes above the same leaves count as one, the lowest. Once the violating
records are within the suppression limit, they are suppressed.

When to use
-----------
For training a classifier: it keeps what predicts the target column, and needs few steps if little must be generalized.

When not
--------
If there is no target worth predicting, or much must be generalized: top-down starts closer.

Cost
----
One pass over the candidates per step; at most as many steps as the hierarchies have inner nodes.

References
----------
K. Wang, P. Yu, S. Chakraborty, "Bottom-up generalization: a data mining solution to privacy protection", ICDM 2004.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.cuts import CutAlgorithm, CutGroups, CutTable
from hushtable.arrays import IntArray


@dataclass(frozen=True)
class BottomUpGeneralization(CutAlgorithm):
    """Greedy generalization of cuts through the hierarchies.

    Parameters
    ----------
    target : str, optional
        The sensitive column whose values are the classes. Defaults to the first.

    Examples
    --------
    >>> BottomUpGeneralization(target="disease").values()
    {'target': 'disease'}
    """

    name: ClassVar[str] = "bottom-up-generalization"

    def run(self, problem: Problem) -> Partition:
        """Generalize from the leaves; see the module's docstring."""
        table = CutTable(problem, self.target)
        cut = [tree.paths[-1] for tree in table.trees]
        groups = table.group(cut)
        most = max(int(groups.sizes[groups.lost].sum()), 1)
        steps = 0
        while not table.fits(groups):
            problem.progress(1 - min(int(groups.sizes[groups.lost].sum()) / most, 1), "generalizing")
            candidates = [c for j in range(len(cut)) for c in _candidates(table, cut, groups, j)]
            if not candidates:
                raise self.not_found(problem)
            _, _, j, node = min(candidates)
            above = table.trees[j].above(cut[j])
            cut = table.with_column(cut, j, np.where(above == node, node, cut[j]))
            groups = table.group(cut)
            steps += 1
        return table.partition(cut, steps=steps)


def _candidates(
    table: CutTable, cut: Sequence[IntArray], groups: CutGroups, j: int
) -> Iterator[tuple[float, int, int, int]]:
    """The generalizations of one column, as (I / P, -P, column, node)."""
    tree = table.trees[j]
    above = tree.above(cut[j])
    rising = np.bincount(above[above != cut[j]], minlength=tree.size) == tree.leaves
    if not rising.any():
        return
    owner = np.where(rising[above], above, cut[j])
    trial = table.group(table.with_column(cut, j, owner))
    before = table.lost_by(groups, table.owners(groups, j, owner), tree.size)
    gained = before - table.lost_by(trial, table.owners(trial, j, owner), tree.size)
    for node in np.flatnonzero(rising).tolist():
        people = int(gained[node]) / table.problem.table.unit
        loss = float(table.gain[j][node])
        # rounded, so that equal prices are ties regardless of summation order
        yield round(loss / people if people > 0 else loss, 12), -int(gained[node]), j, node
