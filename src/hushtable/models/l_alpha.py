"""(l, alpha)-diversity.

Symbol: (l, alpha). Every class is l-diverse, and the weights of its records add up to at least alpha. Category i of m
has the weight (i - 1) / (m - 1); the most sensitive category has weight 0.

Interpretation: the papers we have say only "satisfying l-diversity and the weight of each equivalence class at least
alpha". By default, l-diversity is probabilistic (every frequency at most 1/l): Sun et al. call it the most widely
used, and Wang et al. use it to explain the model. Distinct and entropy l-diversity are available too. The weight is
that of (p, alpha)-sensitivity, by the same authors, counted per record.

When to use
-----------
When you want l-diversity, and classes should not consist of the most sensitive categories alone.

When not
--------
If there are no ordered categories. Large classes reach the weight alpha by size alone.

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

_DIVERSITIES: dict[str, type[DistinctL] | type[EntropyL] | type[ProbabilisticL]] = {
    "distinct": DistinctL,
    "entropy": EntropyL,
    "probabilistic": ProbabilisticL,
}


@dataclass(frozen=True)
class LAlpha(SensitiveModel):
    """Every class is l-diverse and has a total weight of at least alpha.

    Score: min(diversity / l, weight / alpha). Satisfied when score >= 1.

    Parameters
    ----------
    l : int
        Minimum diversity of a class.
    alpha : float
        Minimum total weight of a class.
    diversity : {"probabilistic", "distinct", "entropy"}
        Measure of diversity.
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

    l: Annotated[int, AtLeast(2), "minimum diversity of a class"]
    alpha: Annotated[float, Positive(), "minimum total weight of a class"]
    diversity: Annotated[Literal["probabilistic", "distinct", "entropy"], "measure of a class's diversity"] = (
        "probabilistic"
    )

    name: ClassVar[str] = "l-alpha"
    bounded_by: ClassVar[float] = 1.0  # both margins are normalized
    monotone: ClassVar[Monotone] = Monotone.MERGE

    @property
    def diverse(self) -> DistinctL | EntropyL | ProbabilisticL:
        """The l-diversity part of the model."""
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
        """Return the caps of the l-diversity part."""
        return self.diverse.share_caps(table)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that help a condition that still fails."""
        attribute = self.attribute(table)
        uniform = ~self.diverse.satisfied(groups, table)
        light = ~compare(total_weights(self.histogram(groups), attribute), ">=", self.alpha)
        helps = self.diverse.contributes(groups, table) & uniform[:, None]
        return helps | (light[:, None] & (attribute.category_weights() > 0))

    def min_group_size(self) -> int:
        """Return l, or alpha (rounded down) if larger: nobody weighs more than 1."""
        return max(self.l, math.floor(self.alpha))

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The whole table is not l-diverse, or its weight is too small."""
        reason = self.diverse.feasible(table) or too_light(self.alpha, whole, self.attribute(table))
        return reason or super().infeasible(whole, table)
