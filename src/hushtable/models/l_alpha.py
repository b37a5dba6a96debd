"""(l, alpha)-diversity.

Symbol: (l, alpha). Every class is l-diverse, and the weights of its records (category i of m weighs
(i - 1) / (m - 1), the most sensitive 0) add up to at least alpha.

Reading: the papers at hand say only "satisfying l-diversity and the weight of each equivalence class at least
alpha". l-diversity is taken as probabilistic (every frequency at most 1/l), which Sun et al. call the most used
and by which Wang et al. explain it; distinct and entropy l-diversity can be chosen. The weight is that of (p,
alpha)-sensitivity: by the same authors, and per record.

When to use
-----------
Where l-diversity is wanted and classes should not consist of the most sensitive categories alone.

When not
--------
Without ordered categories; for large classes the weight alpha is reached by size alone.

Cost
----
Linear in the distinct values of the classes; needs ``categories``.

References
----------
X. Sun, M. Li, H. Wang, "A family of enhanced (L, alpha)-diversity models for privacy preserving data
publishing", 2011, as cited in Wang et al. 2011, section I.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, Quantity, SensitiveModel, compare
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.p_alpha_sensitive import too_light, total_weights
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.params import AtLeast, Positive
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["LAlpha"]

_DIVERSITIES: dict[str, type[DistinctL] | type[EntropyL] | type[ProbabilisticL]] = {
    "distinct": DistinctL,
    "entropy": EntropyL,
    "probabilistic": ProbabilisticL,
}


@dataclass(frozen=True)
class LAlpha(SensitiveModel):
    """Every class is l-diverse and weighs at least alpha.

    Score: min(diversity / l, weight / alpha). Satisfied when score >= 1.

    Parameters
    ----------
    l : int
        Smallest diversity of a class.
    alpha : float
        Smallest total weight of a class.
    diversity : {"probabilistic", "distinct", "entropy"}
        How diversity is measured.
    on : str or list of str, optional
        The sensitive column; it needs declared categories.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[2, 4, 2], disease=[[1, 1, 0], [1, 0, 3], [1, 0, 1]])
    >>> disease = Attribute.of("disease", ["HIV", "cancer", "flu"], [3, 1, 4], categories=[0, 0, 1])
    >>> LAlpha(l=2, alpha=1, on="disease").satisfied(groups, Reference.of(8, disease)).tolist()
    [False, False, True]
    """

    l: Annotated[int, AtLeast(2), "smallest diversity of a class"]
    alpha: Annotated[float, Positive(), "smallest total weight of a class"]
    diversity: Annotated[
        Literal["probabilistic", "distinct", "entropy"], "how the diversity of a class is measured"
    ] = "probabilistic"

    name: ClassVar[str] = "l-alpha"
    monotone: ClassVar[Monotone] = Monotone.MERGE

    @property
    def bound(self) -> float:
        """Return 1: both margins are normalised."""
        return 1.0

    @property
    def diverse(self) -> DistinctL | EntropyL | ProbabilisticL:
        """The l-diversity half."""
        return _DIVERSITIES[self.diversity](self.l, on=self.on)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(diversity / l, weight / alpha) per group."""
        diversity, weight = self.quantities(groups, table)
        return np.minimum(diversity.values / self.l, weight.values / self.alpha)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The diversity, and the total weight."""
        weight = total_weights(self.histogram(groups), self.attribute(table))
        diversity = self.diverse.score(groups, table)
        return Quantity("l", ">=", self.l, diversity), Quantity("alpha", ">=", self.alpha, weight)

    def share_caps(self, table: Reference) -> tuple[FloatArray, float] | None:
        """Return those of the l-diversity half."""
        return self.diverse.share_caps(table)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Tell the values that bring a condition which still fails closer."""
        attribute = self.attribute(table)
        uniform = ~self.diverse.satisfied(groups, table)
        light = ~compare(total_weights(self.histogram(groups), attribute), ">=", self.alpha)
        helps = self.diverse.contributes(groups, table) & uniform[:, None]
        return helps | (light[:, None] & (attribute.category_weights() > 0))

    def min_group_size(self) -> int:
        """Return l, or alpha (rounded down) where it is greater: nobody weighs more than 1."""
        return max(self.l, math.floor(self.alpha))

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The whole table is not l-diverse, or weighs too little."""
        reason = self.diverse.feasible(table) or too_light(self.alpha, whole, self.attribute(table))
        return reason or super().infeasible(whole, table)
