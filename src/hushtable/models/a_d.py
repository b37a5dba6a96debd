"""(a, d)-diversity.

Symbol: (a, d). The sensitive values are divided into groups with similar meaning. Each class must contain values from
at least d groups, and no group may make up more than the share a of it.

Interpretation: the papers we have say only that the model "takes the semantic meaning of the sensitive attributes
into consideration" and divides the values into groups first. Here, the groups are the column's ``categories``, d is
the minimum number of groups and a the maximum share of one, following the (alpha, k) and l-diversity models that it
extends. As with p-sensitivity, the number of groups in a class is capped at its number of whole people.

When to use
-----------
When values fall into groups with similar meaning, and both the number of groups and their shares should be bounded.

When not
--------
If there are no such groups. The source only sketches the model, so other tools may define it differently.

Cost
----
Linear in the distinct values of the classes; needs ``categories``.

References
----------
Q. Wang, X. Shi, "(a, d)-diversity: privacy protection based on l-diversity", 2009, as cited in Wang et al. 2011,
section I.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.alpha_k import inverse_share, room
from hushtable.models.base import Monotone, Quantity, SensitiveModel, compare
from hushtable.models.p_plus_sensitive import by_category
from hushtable.models.p_sensitive import absent, too_few, whole_people
from hushtable.params import AtLeast, Between
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class AD(SensitiveModel):
    """Every class contains at least d categories, and none makes up more than the share a of it.

    Score: min(categories / d, a / largest share of a category), where the categories are capped at the number of
    whole people. Satisfied when score >= 1.

    Parameters
    ----------
    a : float
        Largest share of a category in a class.
    d : int
        Smallest number of categories in a class.
    on : str or list of str, optional
        The sensitive column; it needs declared categories.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[2, 1, 1], [1, 1, 2]])
    >>> disease = Attribute.of("disease", ["HIV", "cancer", "flu"], [3, 2, 3], categories=[0, 0, 1])
    >>> AD(a=0.5, d=2, on="disease").satisfied(groups, Reference.of(8, disease)).tolist()
    [False, True]
    """

    a: Annotated[float, Between(0, 1, closed="right"), "largest share of a category in a class"]
    d: Annotated[int, AtLeast(2), "smallest number of categories in a class"]

    name: ClassVar[str] = "a-d"
    bounded_by: ClassVar[float] = 1.0  # both margins are normalized
    monotone: ClassVar[Monotone] = Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(categories / d, a / largest share) per group."""
        present, inverse = self._parts(groups, table)
        return np.minimum(present / self.d, self.a * inverse)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The largest share of a category, and the categories."""
        present, inverse = self._parts(groups, table)
        return Quantity("a", "<=", self.a, 1 / inverse), Quantity("d", ">=", self.d, present)

    def _parts(self, groups: GroupStats, table: Reference) -> tuple[FloatArray, FloatArray]:
        """Number of categories, and 1 / (largest share of a category)."""
        categories = by_category(self.histogram(groups), self.attribute(table))
        present = np.minimum(categories.distinct(), whole_people(groups))
        return np.asarray(present, dtype=np.float64), inverse_share(categories)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark values of missing categories and, if a category's share is too large, of those with room."""
        attribute = self.attribute(table)
        code = attribute.category_codes()
        categories = by_category(self.histogram(groups), attribute)
        few = categories.distinct() < self.d
        crowded = ~compare(self.a * inverse_share(categories), ">=", 1.0)
        fits = room(categories.as_matrix(attribute.n_categories), groups.sizes, self.a, self.d)
        helps = absent(categories, attribute.n_categories) & few[:, None]
        return (helps | (fits & (crowded | ~few)[:, None]))[:, code]

    def min_group_size(self) -> int:
        """Return d."""
        return self.d

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """Fewer than d categories occur, one is too frequent in the whole table, or there are too few people."""
        attribute = self.attribute(table)
        present, share = _occurring(whole, attribute)
        if present < self.d or compare(np.array([share]), "<=", self.a)[0]:
            return too_few(
                "d", self.d, present, f"{attribute.name!r}", table, ("category that occurs", "categories that occur")
            )
        return Infeasible(
            f"a={self.a:g} but one category of {attribute.name!r} makes up {share:.6g} of the table.",
            hint=f"Raise a to {math.ceil(share * 1e4) / 1e4:g} or more.",
        )


def _occurring(whole: GroupStats, attribute: Attribute) -> tuple[int, float]:
    """Number of categories in the only group, and the largest share."""
    categories = by_category(whole.histogram(attribute.key), attribute)
    return int(categories.distinct()[0]), float(1 / inverse_share(categories)[0])
