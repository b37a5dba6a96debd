"""Samarati: binary search for the least height at which some node satisfies the models, with suppression.

The height of a node is the sum of its levels. If some node of a height satisfies a monotone model, some node of every
greater height does, so halving the range of heights finds the least one. Of the satisfying nodes of that height the
one that suppresses least is published, of equals the one with the least objective, of equals the first in
lexicographic order of levels.

For models that are not monotone in the lattice the search is the same, and what it finds is a height at which a
node satisfies them, not necessarily the least one: ``least_height_proven`` in the notes tells. Nodes that the
projections on pairs of columns already rule out are not judged.

When to use
-----------
When the least total height is wanted, as in the first k-anonymity papers.

When not
--------
When loss matters: least height is not least loss.

Cost
----
Judges all nodes of about log2(height) heights.

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
from hushtable.algorithms.lattice.verdict import Verdict

__all__ = ["Samarati"]


@dataclass(frozen=True)
class Samarati(FullDomain):
    """Full-domain generalization of the least height.

    Parameters
    ----------
    objective : str
        What decides between nodes of that height that suppress equally many.

    Examples
    --------
    >>> Samarati(objective="prec").values()
    {'objective': 'prec'}
    """

    objective: Annotated[Goal, "what decides between nodes that suppress equally many"] = "loss"

    name: ClassVar[str] = "samarati"

    def run(self, problem: Problem) -> Partition:
        """Halve the range of heights; see the module's docstring."""
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
    """The nodes of each height that the projections leave."""

    def __init__(self, judge: Judge) -> None:
        space = judge.space
        self._judge = judge
        none = np.zeros(space.n_nodes, dtype=np.int64)
        self._forced = project(space, judge.minimum, min(2, space.d), space.nodes, none)
        self._height = space.nodes.sum(axis=1, dtype=np.int64)

    def at(self, height: int) -> Iterator[Verdict]:
        """Judge the nodes of one height, those that are forced to suppress least first."""
        judge = self._judge
        here = np.flatnonzero((self._height == height) & (self._forced <= judge.budget))
        for count, place in enumerate(here[np.argsort(self._forced[here], kind="stable")].tolist()):
            if count % 32 == 0:
                judge.problem.progress(count / len(here), f"searching height {height}")
            yield judge.again(judge.space.nodes[place].astype(np.int64))
