"""p-sensitivity first (Domingo-Ferrer, Sebe, Solanas 2007, Algorithm 2), under any model.

As long as at least k records remain that together satisfy the models, start a group with the record farthest from the
centroid of the remaining ones. Add the contributing record nearest to it until the models hold, then the nearest of
all until the group has k records. Each leftover record joins the group with the nearest centroid, unless that
violates a model.

Details: the paper does not define what contributes. ``any``: the record has a value new to the group in any
confidential attribute, even one that is already satisfied; this reproduces the paper's table digit by digit.
``short``: only attributes that are not yet satisfied count, which is often better. For models other than
p-sensitivity, the model decides whether a value contributes (by default, if it improves the score); if none does, any
record counts. Secret lots break ties between equally near records.

An adversary who knows the algorithm can conclude that a skipped record did not contribute: the group already had its
value. Coins cannot hide that without giving up the nearest record, so the bias is stated and measured
(``disclosure``). The minimality guard, which forms groups without using sensitive values, avoids it.

When to use
-----------
For microaggregation with models of sensitive values: groups first take records that add the values they lack.

When not
--------
For k-anonymity alone: it is MDAV with more work.

Cost
----
Higher than MDAV's: every group searches among the contributing records.

References
----------
J. Domingo-Ferrer, F. Sebe, A. Solanas, "Microaggregation heuristics for p-sensitive k-anonymity", UNECE work session on
statistical data confidentiality, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hushtable.algorithms.base import Problem, Reads
from hushtable.algorithms.cluster.mdav import TURN
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.space import Space
from hushtable.algorithms.kinds import Kinds, add_groups
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import Infeasible
from hushtable.kernels.unassigned import Unassigned
from hushtable.models.base import SensitiveModel, Stat
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class PFirst(Microaggregation):
    """Groups take contributing records first, then near ones.

    Parameters
    ----------
    contributes : {"any", "short"}
        Whether a new value contributes in any confidential attribute, or only in those not yet satisfied.

    Examples
    --------
    >>> PFirst(contributes="short").values()
    {'contributes': 'short'}
    """

    contributes: Annotated[
        Literal["any", "short"], "attributes whose new values count: any, or those not yet satisfied"
    ] = "any"

    name: ClassVar[str] = "p-first"
    reads_sensitive: ClassVar[Reads] = Reads.CHOOSES
    disclosure: ClassVar[str] = (
        "A nearer record that a group skipped has a value that the group already had. Coins decide among equally "
        "near ones."
    )

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Form groups from the outside in, each until it is satisfied."""
        check_sensitivity(problem)
        growth = _Growth(problem, space, self.unassigned(space), self.contributes == "any")
        found: list[IntArray] = []
        while growth.possible():
            if len(found) % TURN == 0:
                problem.progress(1.0 - len(growth.left) / len(space), "grouping")
            group = growth.group()
            if group is None:
                break
            found.append(group)
        return found, {}


class _Growth:
    """Grows one group after another from the remaining records."""

    def __init__(self, problem: Problem, space: Space, left: Unassigned, every: bool) -> None:
        self._problem, self._space, self.left, self._every = problem, space, left, every
        self._model = problem.model.part(table_level=False)
        self._choosy = [m for m in self._model.members if isinstance(m, SensitiveModel)]
        self._kinds = Kinds.of(problem)
        left.kinds = self._kinds.of_row[space.rows]
        self._needed = needed_units(problem, space)
        rows, ends = space.rows, np.array([len(space)], dtype=np.int64)
        self._rest = problem.table.stats(rows, ends - len(space), ends, problem.model.histogram_keys())

    def possible(self) -> bool:
        """Whether the remaining records are enough for another group."""
        if not len(self.left) or self.left.units < self._needed:
            return False
        return bool(self._model.satisfied(self._rest, self._problem.reference)[0])

    def group(self) -> IntArray | None:
        """Return the next group; None if all remaining records together are not enough."""
        seed = self.left.farthest_from_centroid()
        members, chosen = [seed], seed
        stats = self._one(seed)
        self.left.remove(seed)
        while not self._done(stats):
            chosen = self._next(seed, stats)
            if chosen < 0:
                return None
            members.append(chosen)
            self.left.remove(chosen)
            stats = add_groups(stats, self._one(chosen))
        self._rest = add_groups(self._rest, stats, -1)
        return np.array(members, dtype=np.int64)

    def _one(self, point: int) -> GroupStats:
        return self._kinds.stats.take(self.left.kinds[[point]])

    def _done(self, stats: GroupStats) -> bool:
        if int(stats.units[0]) * self._space.unit < self._needed * stats.unit:
            return False
        return bool(self._model.satisfied(stats, self._problem.reference)[0])

    def _next(self, seed: int, stats: GroupStats) -> int:
        reference = self._problem.reference
        short = [m for m in self._choosy if not bool(m.satisfied(stats, reference)[0])]
        if short:
            helps: BoolArray = np.zeros(len(self._kinds.stats), dtype=np.bool_)
            for member in self._choosy if self._every else short:
                helps |= member.contributes(stats, reference)[0][self._kinds.values[member.key]]
            chosen, _ = self.left.nearest(seed, helps)
            if chosen >= 0:
                return chosen
        return self.left.nearest(seed)[0]


def check_sensitivity(problem: Problem) -> None:
    """Refuse p > k before any work, if the models have both; the models themselves refuse too few values.

    Raises
    ------
    Infeasible
        In the paper's words.
    """
    counting = [m for m in problem.model.members if Stat.HISTOGRAM not in m.stats_needed()]
    # a bound on risk requires sizes too, but is not a k that someone chose below p
    sizes = [m.min_group_size() for m in counting if isinstance(getattr(m, "k", None), int)]
    values = [p for m in problem.model.members if isinstance(p := getattr(m, "p", None), int)]
    if sizes and values and max(values) > max(sizes):
        raise Infeasible(
            f"p-sensitive k-anonymity infeasible: p={max(values)} distinct values in classes of k={max(sizes)}.",
            code="p-above-k",
            hint=f"Raise k to {max(values)} or lower p to {max(sizes)}.",
        )
