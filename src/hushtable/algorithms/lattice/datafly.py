"""Datafly: generalize the column with the most distinct values until few records violate the models; suppress those.

Details: distinct values are counted in the table as generalized so far; ties go to the column that the policy names
first. "Few" means within the suppression limit (Sweeney allows k records). A group that fails any model violates; for
table-level models, the worst groups do.

When to use
-----------
As a quick baseline, and to compare with the literature.

When not
--------
When utility matters: it generalizes whole columns based only on their number of values, and often too far.

Cost
----
One grouping per step; at most the sum of the hierarchies' heights.

References
----------
L. Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.full_domain import FullDomain
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.space import SearchSpace
from hushtable.arrays import IntArray


@dataclass(frozen=True)
class Datafly(FullDomain):
    """Greedy full-domain generalization of the column with the most distinct values.

    Examples
    --------
    >>> Datafly().recoding.value
    'global'
    """

    name: ClassVar[str] = "datafly"

    def run(self, problem: Problem) -> Partition:
        """Climb from the bottom; see the module's docstring."""
        judge = Judge(problem, fixed=self.fixed)
        space = judge.space
        distinct = distinct_values(space)
        node = space.low.copy()
        verdict = judge(node)
        while not verdict.fits:
            problem.progress(float(node.sum() / max(space.high.sum(), 1)), "generalizing")
            count = np.where(node < space.high, distinct[np.arange(space.d), node], -1)
            if count.max() < 0:
                raise self.not_found(problem)
            node[np.argmax(count)] += 1
            verdict = judge(node.copy())
        return self.finish(judge, verdict, value=verdict.value)


def distinct_values(space: SearchSpace) -> IntArray:
    """Return the number of nodes of each column (row) and level that occur in the sample's records."""
    out = np.zeros(space.starts.shape, dtype=np.int64)
    for j, (column, units) in enumerate(zip(space.table.quasi, space.column_units(), strict=True)):
        present = np.flatnonzero(units)
        for level, nodes in enumerate(column.coded.levels):
            out[j, level] = len(np.unique(nodes[present]))
    return out
