"""(alpha, beta, k)-anonymity.

Symbol: (alpha, beta, k). Every class has at least k people and at least beta distinct sensitive values, and its
dissimilar values outnumber its similar values by at least alpha.

Interpretation: the papers we have devote one sentence to it ("the number of no similar sensitive attribute values
must be alpha bigger than the number of similar sensitive attribute values"). Two values are similar when they belong
to the same sensitivity category. For every category, the people outside it must outnumber those in it by alpha:
people - 2 x (people in the largest category) >= alpha. The condition counts people, not distinct values, so that it
bounds an adversary's confidence and survives merging. As with p-sensitivity, the number of values in a class is
capped at its number of whole people.

When to use
-----------
When no category of similar values may come close to a majority in a class.

When not
--------
If there are no categories. The source defines the model in one sentence, so other tools may define it differently.

Cost
----
Linear in the distinct values of the classes; needs ``categories``.

References
----------
Y. Zhao, J. Wang, Y. Luo, "(alpha, beta, k)-anonymity: an effective privacy preserving model for databases",
2009, as cited in Wang et al. 2011, section I.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import TOLERANCE, Monotone, Quantity, SensitiveModel, Threat, compare
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_plus_sensitive import by_category
from hushtable.models.p_sensitive import absent, too_few, whole_people
from hushtable.params import AtLeast
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class AlphaBetaK(SensitiveModel):
    """Every class has k people and beta values, and no category comes within alpha of half of it.

    Score: min(people / k, values / beta, lead / alpha), where lead = people - 2 x people in the largest category.
    Satisfied when score >= 1.

    Parameters
    ----------
    alpha : int
        Minimum lead of the people outside any category over those in it.
    beta : int
        Smallest number of distinct values in a class.
    k : int
        Smallest number of people in a class.
    on : str or list of str, optional
        The sensitive column; it needs declared categories.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[2, 1, 1, 0], [1, 0, 1, 2]])
    >>> disease = Attribute.of("disease", ["HIV", "cancer", "cold", "flu"], [3, 1, 2, 2], categories=[0, 0, 1, 2])
    >>> AlphaBetaK(alpha=1, beta=2, k=3, on="disease").score(groups, Reference.of(8, disease)).tolist()
    [-2.0, 0.0]
    """

    alpha: Annotated[int, AtLeast(1), "minimum lead of the people outside any category over those in it"]
    beta: Annotated[int, AtLeast(2), "smallest number of distinct sensitive values in a class"]
    k: Annotated[int, AtLeast(2), "smallest number of people in a class"]

    name: ClassVar[str] = "alpha-beta-k"
    bounded_by: ClassVar[float] = 1.0  # all margins are normalized
    monotone: ClassVar[Monotone] = Monotone.MERGE

    @property
    def threats(self) -> frozenset[Threat]:
        """Both: k people, and bounded values."""
        return frozenset(Threat)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(people / k, values / beta, lead / alpha) per group."""
        lead, values, people = self.quantities(groups, table)
        least = np.minimum(people.values / self.k, values.values / self.beta)
        return np.minimum(least, lead.values / self.alpha)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The lead over the largest category, the distinct values and the people."""
        histogram = self.histogram(groups)
        values = np.minimum(histogram.distinct(), whole_people(groups)).astype(np.float64)
        return (
            Quantity("alpha", ">=", self.alpha, _lead(histogram, self.attribute(table))),
            Quantity("beta", ">=", self.beta, values),
            Quantity("k", ">=", self.k, groups.sizes),
        )

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark values that help a condition that still fails, without reducing the lead.

        If all categories are equally large, no value raises or keeps the lead at first; those that reduce it least
        help later.
        """
        histogram, attribute = self.histogram(groups), self.attribute(table)
        categories = attribute.category_codes()
        in_category = by_category(histogram, attribute).as_matrix(attribute.n_categories)
        top = in_category.max(axis=1, initial=0.0)[:, None]
        then = groups.sizes[:, None] + 1 - 2 * np.maximum(top, in_category[:, categories] + 1)
        lead = _lead(histogram, attribute)
        short = ~compare(lead, ">=", self.alpha)
        few = histogram.distinct() < self.beta
        helps = absent(histogram, attribute.n_values) & few[:, None]
        wanted = np.where(short, lead + TOLERANCE, self.alpha)[:, None]
        wanted = np.minimum(wanted, then.max(axis=1, initial=-np.inf, keepdims=True))
        return np.asarray(helps | ((then >= wanted) & (short | ~few)[:, None]))

    def min_group_size(self) -> int:
        """Return the largest parameter: each requires that many people."""
        return max(self.alpha, self.beta, self.k)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The whole table has too few people or values, or a category with too many people."""
        attribute = self.attribute(table)
        if reason := KAnonymity(self.k).feasible(table):
            return reason
        lead = _lead(self.histogram(whole), attribute)
        if attribute.n_present() < self.beta or compare(lead, ">=", self.alpha)[0]:
            return too_few("beta", self.beta, attribute.n_present(), f"{attribute.name!r}", table)
        got = float(lead[0])
        return Infeasible(
            f"alpha={self.alpha} but in the whole table the people outside the largest category of "
            f"{attribute.name!r} outnumber those in it by {got:g}.",
            hint=f"Lower alpha to {int(got)} or less." if got >= 1 else "Divide the values into more categories.",
        )


def _lead(histogram: Histogram, attribute: Attribute) -> FloatArray:
    categories = by_category(histogram, attribute)
    return categories.totals() - 2 * categories.max(categories.counts)
