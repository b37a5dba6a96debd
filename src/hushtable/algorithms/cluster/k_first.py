"""k-anonymity first (Domingo-Ferrer, Sebe, Solanas 2007, Algorithm 1), under any model.

MDAV runs with the models' smallest group size k; as long as some group violates a model, it runs again from the start
with k + 1, k + 2, ... The notes report the final size as ``k_hat``.

Details: p-sensitivity is not monotone in that size (on the Census data, it fails again at 144, 427 and 488), so every
size is tried in turn. A run stops as soon as one of its groups fails, which only saves time. Two groups need 2k
records: beyond half of the table, the only group is the whole table.

When to use
-----------
For models that larger groups satisfy, with equal sizes, as published by Domingo-Ferrer et al.

When not
--------
When the models need groups much larger than k: all sizes are tried, and all groups grow together. p-first loses less.

Cost
----
One MDAV run for every size tried.

References
----------
J. Domingo-Ferrer, F. Sebe, A. Solanas, "Microaggregation heuristics for p-sensitive k-anonymity", UNECE work session on
statistical data confidentiality, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.groups import labels_of, stats_of
from hushtable.algorithms.cluster.mdav import mdav_groups
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.p_first import check_sensitivity
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray
from hushtable.kernels.unassigned import Unassigned

BATCH = 16
"""Number of groups of a run to evaluate at a time."""


@dataclass(frozen=True)
class KFirst(Microaggregation):
    """MDAV with growing group sizes until the models hold.

    Examples
    --------
    >>> KFirst().values()
    {}
    """

    name: ClassVar[str] = "k-first"

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Try one size after the other."""
        check_sensitivity(problem)
        size = needed_units(problem, space) // space.unit
        everybody = self.unassigned(space)
        while 2 * size * space.unit <= space.total:
            problem.progress(2 * size * space.unit / space.total, "trying group sizes")
            found = self._attempt(problem, space, everybody.again(), size)
            if found is not None:
                return found, {"k_hat": size}
            size += 1
        return [np.arange(len(space))], {"k_hat": int(space.total // space.unit)}

    def _attempt(self, problem: Problem, space: Space, left: Unassigned, size: int) -> list[IntArray] | None:
        """MDAV's groups of this size, or None as soon as one of them fails."""
        found: list[IntArray] = []
        groupwise, together = problem.model.part(table_level=False), problem.model.part(table_level=True)
        judged = 0
        groups = mdav_groups(problem, left, size * space.unit)
        for group in groups:
            found.append(group)
            if len(found) - judged >= BATCH:
                if not self._good(problem, space, found[judged:], groupwise):
                    return None
                judged = len(found)
        if not self._good(problem, space, found[judged:], groupwise):
            return None
        stats = stats_of(problem, space, labels_of(found, len(space)), len(found))
        return found if bool(together.table_satisfied(stats, problem.reference)[0]) else None

    @staticmethod
    def _good(problem: Problem, space: Space, groups: list[IntArray], model: Any) -> bool:
        if not groups:
            return True
        rows = space.rows[np.concatenate(groups)]
        ends = np.cumsum([len(g) for g in groups])
        stats = problem.table.stats(rows, ends - [len(g) for g in groups], ends, problem.model.histogram_keys())
        return bool(model.satisfied(stats, problem.reference).all())
