"""(a, d)-diversity.

Symbol: (a, d). The sensitive values are divided into groups of like meaning, and the groups, not the values,
have to be diverse: every class holds values of at least d groups, and no group has more than the share a of it.

Reading: the papers at hand say only that the model "takes the semantic meaning of the sensitive attributes into
consideration", dividing the values into groups first. The groups are the column's ``categories``; d is the
least number of groups and a the greatest share of one, after the (alpha, k) and l-diversity models that it
extends. As for p-sensitivity, a class counts for no more groups than it has whole people.

When to use
-----------
Where values fall into groups of like meaning, and both the number of groups and their shares should be bounded.

When not
--------
Without such groups; its source only sketches it, so other tools may mean something else.

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

__all__ = ["AD"]


@dataclass(frozen=True)
class AD(SensitiveModel):
    """Every class holds at least d categories, none of which has more than the share a of it.

    Score: min(categories / d, a / greatest share of a category), categories being no more than whole people.
    Satisfied when score >= 1.

    Parameters
    ----------
    a : float
        Greatest share of a category in a class.
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

    a: Annotated[float, Between(0, 1, closed="right"), "greatest share of a category in a class"]
    d: Annotated[int, AtLeast(2), "smallest number of categories in a class"]

    name: ClassVar[str] = "a-d"
    monotone: ClassVar[Monotone] = Monotone.MERGE

    @property
    def bound(self) -> float:
        """Return 1: both margins are normalised."""
        return 1.0

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(categories / d, a / greatest share) per group."""
        present, inverse = self._parts(groups, table)
        return np.minimum(present / self.d, self.a * inverse)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The greatest share of a category, and the categories."""
        present, inverse = self._parts(groups, table)
        return Quantity("a", "<=", self.a, 1 / inverse), Quantity("d", ">=", self.d, present)

    def _parts(self, groups: GroupStats, table: Reference) -> tuple[FloatArray, FloatArray]:
        """Categories, and one over the greatest share of one."""
        categories = by_category(self.histogram(groups), self.attribute(table))
        present = np.minimum(categories.distinct(), whole_people(groups))
        return np.asarray(present, dtype=np.float64), inverse_share(categories)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Tell the values of missing categories, and where one has too great a share, of those with room."""
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
        """Fewer than d categories occur, or one is too frequent in the whole table, or people are too few."""
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
    """How many categories the one group has, and the greatest share."""
    categories = by_category(whole.histogram(attribute.key), attribute)
    return int(categories.distinct()[0]), float(1 / inverse_share(categories)[0])
