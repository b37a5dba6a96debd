"""(p, alpha)-sensitivity: the second half of (p, alpha)-sensitive k-anonymity.

Symbol: (p, alpha). Category i of m has the weight (i - 1) / (m - 1): 0 for the most sensitive, 1 for the last. Every
class contains at least p distinct sensitive values, and the weights of its records add up to at least alpha. A value
that occurs in several records counts each time (Table 7 of the paper: cancer, flu, flu, indigestion weighs 3). For
the k, add ``k-anonymity``.

As with p-sensitivity, the number of values in a class is capped at its number of whole people.

When to use
-----------
When categories are ordered by sensitivity and a class should not consist of the worst ones alone.

When not
--------
When you expect large classes: weights are summed over records, so a large class reaches alpha easily.

Cost
----
Linear in the distinct values of the classes; needs ``categories``.

References
----------
Sun et al. 2011, equation 1, Definition 4 and Table 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, Quantity, SensitiveModel, compare
from hushtable.models.p_sensitive import absent, too_few, whole_people
from hushtable.params import AtLeast, Positive
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class PAlphaSensitive(SensitiveModel):
    """Every class contains at least p distinct values and has a total weight of at least alpha.

    Score: min(values / p, weight / alpha), where the values are capped at the number of whole people. Satisfied when
    score >= 1.

    Parameters
    ----------
    p : int
        Minimum number of distinct values in a class.
    alpha : float
        Minimum total weight of a class.
    on : str or list of str, optional
        The sensitive column; it needs declared categories.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[3, 3], disease=[[2, 1, 0], [1, 1, 1]])
    >>> disease = Attribute.of("disease", ["HIV", "cancer", "flu"], [3, 2, 1], categories=[0, 0, 1])
    >>> PAlphaSensitive(p=2, alpha=1, on="disease").satisfied(groups, Reference.of(6, disease)).tolist()
    [False, True]
    """

    p: Annotated[int, AtLeast(1), "minimum number of distinct sensitive values in a class"]
    alpha: Annotated[float, Positive(), "minimum total weight of a class"]

    name: ClassVar[str] = "p-alpha-sensitive"
    bounded_by: ClassVar[float] = 1.0  # both margins are normalized
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(values / p, weight / alpha) per group."""
        values, weight = self.quantities(groups, table)
        return np.minimum(values.values / self.p, weight.values / self.alpha)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The number of distinct values, and the total weight."""
        histogram = self.histogram(groups)
        values = np.minimum(histogram.distinct(), whole_people(groups)).astype(np.float64)
        weight = total_weights(histogram, self.attribute(table))
        return Quantity("p", ">=", self.p, values), Quantity("alpha", ">=", self.alpha, weight)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that help a condition that still fails.

        The default would mark nothing if both margins are equal and a value raises only one.
        """
        histogram, attribute = self.histogram(groups), self.attribute(table)
        few_values = histogram.distinct() < self.p
        light = ~compare(total_weights(histogram, attribute), ">=", self.alpha)
        few_people = (whole_people(groups) < self.p) & ~few_values & ~light
        new = absent(histogram, attribute.n_values) & few_values[:, None]
        return new | (light[:, None] & (attribute.category_weights() > 0)) | few_people[:, None]

    def values_needed(self) -> int:
        """Return p."""
        return self.p

    def min_group_size(self) -> int:
        """Return p, or alpha (rounded down) if larger: nobody weighs more than 1."""
        return max(self.p, math.floor(self.alpha))

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The column has fewer than p values, or the table has too little weight or fewer than p people."""
        attribute = self.attribute(table)
        if attribute.n_present() >= self.p and (reason := too_light(self.alpha, whole, attribute)):
            return reason
        return too_few("p", self.p, attribute.n_present(), f"{attribute.name!r}", table)


def total_weights(histogram: Histogram, attribute: Attribute) -> FloatArray:
    """Sum of the category weights of each group's people.

    Examples
    --------
    >>> disease = Attribute.of("disease", ["HIV", "asthma", "flu"], [1, 1, 2], categories=[0, 1, 2])
    >>> total_weights(Histogram.dense([[1, 1, 2]]), disease).tolist()
    [2.5]
    """
    return histogram.sum(histogram.counts * attribute.category_weights()[histogram.values])


def too_light(alpha: float, whole: GroupStats, attribute: Attribute) -> Infeasible | None:
    """Return an error if the weight of the whole table is below alpha."""
    weight = total_weights(whole.histogram(attribute.key), attribute)
    if compare(weight, ">=", alpha)[0]:
        return None
    got = float(weight[0])
    hint = f"Lower alpha to {got:.6g} or less." if got > 0 else "Only the most sensitive category occurs."
    return Infeasible(f"alpha={alpha:g} but the whole of {attribute.name!r} weighs {got:.6g}.", hint=hint)
