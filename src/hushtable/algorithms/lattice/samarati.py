"""Samarati: binary search for the lowest height at which some node satisfies the models, with suppression.

The height of a node is the sum of its levels. If some node of a height satisfies a monotone model, so does some node
of every greater height, so binary search finds the lowest height. Among the satisfying nodes of that height, the one
that suppresses least is published. Ties go to the lowest objective, then to the first in lexicographic order of
levels.

For models that are not monotone in the lattice, the search is the same, but the height it finds is not necessarily
the lowest: see ``least_height_proven`` in the notes. Nodes ruled out by the projections on pairs of columns are not
evaluated.

When to use
-----------
When you want the lowest total height, as in the first k-anonymity papers.

When not
--------
When loss matters: the lowest height does not mean the least loss.

Cost
----
Evaluates all nodes of about log2(height) heights.

References
----------
P. Samarati, "Protecting respondents' identities in microdata release", 2001.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.full_domain import FullDomain, Goal
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.verdict import NodeVerdict


@dataclass(frozen=True)
class Samarati(FullDomain):
    """Full-domain generalization with the lowest height.

    Parameters
    ----------
    objective : str
        Objective that breaks ties between nodes of that height with equal suppression.

    Examples
    --------
    >>> Samarati(objective="prec").values()
    {'objective': 'prec'}
    """

    objective: Annotated[Goal, "objective that breaks ties between nodes with equal suppression"] = "loss"

    name: ClassVar[str] = "samarati"

    def run(self, problem: Problem) -> Partition:
        """Run a binary search over heights; see the module's docstring."""
        judge = Judge(problem, self.objective, self.fixed)
        self.enumerable(judge)
        heights = _Heights(judge)
        low, high = int(judge.space.low.sum()), int(judge.space.high.sum())
        while low < high:
            middle = (low + high) // 2
            if any(v.fits for v in heights.at(middle)):
                high = middle
            else:
                low = middle + 1
        fitting = [v for v in heights.at(low) if v.fits]
        if not fitting:
            raise self.not_found(problem)
        best = min(fitting, key=lambda v: (v.lost, v.value, tuple(v.node)))
        return self.finish(
            judge,
            best,
            height=low,
            least_height_proven=judge.monotone,
            objective=self.objective,
            value=best.value,
        )


class _Heights:
    """The nodes of each height that the projections do not rule out."""

    def __init__(self, judge: Judge) -> None:
        space = judge.space
        self._judge = judge
        none = np.zeros(space.n_nodes, dtype=np.int64)
        self._forced = project(space, judge.minimum, min(2, space.d), space.nodes, none)
        self._height = space.nodes.sum(axis=1, dtype=np.int64)

    def at(self, height: int) -> Iterator[NodeVerdict]:
        """Evaluate the nodes of one height, those with the least forced suppression first."""
        judge = self._judge
        here = np.flatnonzero((self._height == height) & (self._forced <= judge.budget))
        for count, place in enumerate(here[np.argsort(self._forced[here], kind="stable")].tolist()):
            if count % 32 == 0:
                judge.problem.progress(count / len(here), f"searching height {height}")
            yield judge.again(judge.space.nodes[place].astype(np.int64))
