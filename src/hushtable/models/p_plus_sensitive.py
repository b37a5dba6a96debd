"""p+-sensitivity: the p+ condition of p+-sensitive k-anonymity.

Symbol: p+. The values of the sensitive column are divided into categories by how sensitive they are (``categories``
in the policy); every class contains values of at least p distinct categories. This prevents the similarity attack, in
which all values of a class differ but reveal the same secret. For the k, add ``k-anonymity``.

As with p-sensitivity, the number of categories in a class is capped at its number of whole people.

When to use
-----------
When different values reveal the same secret (similarity attack) and can be sorted into categories by sensitivity.

When not
--------
If there are no meaningful categories, or if shares matter: it counts categories, not people.

Cost
----
Linear in the distinct values of the classes; needs ``categories``.

References
----------
Sun et al. 2011, Definition 3 and Tables 4-6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, SensitiveModel
from hushtable.models.p_sensitive import absent, too_few, whole_people
from hushtable.params import AtLeast
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class PPlusSensitive(SensitiveModel):
    """Every class contains values of at least p distinct sensitivity categories.

    Score: number of distinct categories, capped at the number of whole people. Satisfied when score >= p.

    Parameters
    ----------
    p : int
        Minimum number of distinct categories in a class.
    on : str or list of str, optional
        The sensitive column; it needs declared categories.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 2], disease=[[1, 1, 0], [1, 0, 1]])
    >>> disease = Attribute.of("disease", ["HIV", "cancer", "flu"], [2, 1, 1], categories=[0, 0, 1])
    >>> PPlusSensitive(p=2, on="disease").satisfied(groups, Reference.of(4, disease)).tolist()
    [False, True]
    """

    p: Annotated[int, AtLeast(2), "minimum number of distinct sensitivity categories in a class"]

    name: ClassVar[str] = "p-plus-sensitive"
    bounded_by: ClassVar[str] = "p"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Distinct categories per group, capped at its number of whole people."""
        categories = by_category(self.histogram(groups), self.attribute(table))
        return np.minimum(categories.distinct(), whole_people(groups)).astype(np.float64)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark values of categories new to the group; all values if it has fewer people than categories."""
        attribute = self.attribute(table)
        categories = by_category(self.histogram(groups), attribute)
        new = absent(categories, attribute.n_categories)[:, attribute.category_codes()]
        return new | (categories.distinct() > whole_people(groups))[:, None]

    def min_group_size(self) -> int:
        """Return p."""
        return self.p

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """Fewer than p categories occur in the column, or the table has fewer than p people."""
        attribute = self.attribute(table)
        present = int(by_category(self.histogram(whole), attribute).distinct()[0])
        return too_few(
            "p", self.p, present, f"{attribute.name!r}", table, ("category that occurs", "categories that occur")
        )


def by_category(histogram: Histogram, attribute: Attribute) -> Histogram:
    """Return the groups' histogram over sensitivity categories.

    Examples
    --------
    >>> disease = Attribute.of("disease", ["HIV", "cancer", "flu"], [2, 1, 1], categories=[0, 0, 1])
    >>> by_category(Histogram.dense([[2, 1, 1]]), disease).counts.tolist()
    [3.0, 1.0]
    """
    return histogram.relabel(attribute.category_codes())
