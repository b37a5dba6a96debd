"""Probabilistic l-diversity.

Symbol: l. In every class, no sensitive value has a share above 1/l, so nobody's value can be guessed with a higher
probability. Sun et al. (section 8) call it the most widely used interpretation of l-diversity. l may be any number of
at least 1, not only an integer.

With an entity column, one person may contribute several values. These do not hide that person, so the score is capped
at the number of whole people in the class.

When to use
-----------
To bound the probability of guessing any person's value by 1/l, a guarantee that everyone understands.

When not
--------
When one value makes up more than 1/l of the whole table: infeasible; use value-bounds or t-closeness.

Cost
----
Linear in the distinct values of the classes.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; Sun et al. 2011, section 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import TOLERANCE, Audited, Monotone, SensitiveModel
from hushtable.models.p_sensitive import too_few, whole_people
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class ProbabilisticL(SensitiveModel):
    """No value makes up more than 1/l of a class.

    Score: 1 / (share of the most frequent value), capped at the number of whole people. Satisfied when score >= l.

    Parameters
    ----------
    l : int or float
        Inverse of the maximum share of a value.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[3, 1, 0], [2, 1, 1]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "cancer", "flu"], [5, 2, 1]))
    >>> ProbabilisticL(l=2, on="disease").satisfied(groups, table).tolist()
    [False, True]
    """

    l: Annotated[int | float, AtLeast(1), "inverse of the maximum share of a value in a class"]

    name: ClassVar[str] = "probabilistic-l"
    bounded_by: ClassVar[str] = "l"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("probabilistic_l", "l", {"l": 2}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """One over the share of the most frequent value, capped at the number of whole people."""
        histogram = self.histogram(groups)
        top = histogram.max(histogram.units)
        total = histogram.sum(histogram.units)
        diversity = np.divide(total, top, out=np.zeros(len(histogram)), where=top > 0)
        return np.minimum(diversity, whole_people(groups))

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return 1 / l."""
        return np.full(self.attribute(table).n_values, 1 / self.l), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values for which (n + 1) / (new largest count) exceeds n / (current largest count)."""
        histogram = self.histogram(groups)
        count = histogram.as_matrix(self.attribute(table).n_values)
        top, total = count.max(axis=1, initial=0.0)[:, None], histogram.totals()[:, None]
        then = (total + 1) / np.maximum(top, count + 1)
        now = np.divide(total, top, out=np.zeros_like(total), where=top > 0)
        people = whole_people(groups)[:, None]
        return np.asarray(np.minimum(then, people + 1) > np.minimum(now, people) * (1 + TOLERANCE))

    def values_needed(self) -> int:
        """Return l, rounded up."""
        return whole_number(self.l)

    def min_group_size(self) -> int:
        """Return l, rounded up."""
        return whole_number(self.l)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """One value is too frequent in the whole table, or there are too few values or people."""
        attribute = self.attribute(table)
        share = float(attribute.distribution().max(initial=0.0))
        if attribute.n_present() < self.l or share <= (1 + TOLERANCE) / self.l:
            return too_few("l", self.l, attribute.n_present(), f"{attribute.name!r}", table)
        return Infeasible(
            f"l={self.l:g} but one value of {attribute.name!r} makes up {share:.6g} of the table, "
            f"more than 1/l = {1 / self.l:.6g}.",
            hint=f"Lower l to {math.floor(1e4 / share) / 1e4:g} or less.",
        )


def whole_number(l: float) -> int:
    """Number of whole people or values that a diversity of l needs.

    Examples
    --------
    >>> whole_number(2.5), whole_number(3.0000000001)
    (3, 3)
    """
    return math.ceil(l - TOLERANCE * max(1.0, l))
