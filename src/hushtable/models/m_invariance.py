"""m-invariance, for tables that are published again and again while people come and go.

Symbol: m. A class is m-unique when it has at least m records and no two of them share a sensitive value; its signature
is the set of those values. A sequence of releases is m-invariant when every class of each is m-unique, and everybody
who is in two of them has the same signature in both. Then nobody's value can be guessed with more than 1/m confidence,
however many of the releases are put together.

Of one release the model judges the first half: m-uniqueness. The second half concerns people, whom a published table
does not name: the ledger of earlier releases judges it (``composed``), and the algorithm ``m-invariant`` takes the
signatures from there. Where there is no earlier release, m-uniqueness is all of it.

Readings. The papers' records are people, so with an entity column a value is held by at most one person where its
records weigh at most one person together, and a class counts for no more than its whole people. Somebody who has gone
and comes back still has the old signature: an adversary does not forget. Counterfeits, which ``m-invariant`` adds to
classes whose values nobody else has, count as records here and as people nowhere.

Consequences: not monotone in any way. Merging two classes repeats values, so does adding a record, and removing one
may leave fewer than m.

When to use
-----------
Where the same people are published again and again while some come and go.

When not
--------
For a single release, where it asks for more than its purpose needs: probabilistic-l gives the same confidence and lets
values repeat. Where some value is frequent: every class takes one record of it.

Cost
----
Linear in the distinct values of the classes; signatures are compared in the ledger.

References
----------
X. Xiao, Y. Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, SensitiveModel
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["MInvariance"]


@dataclass(frozen=True)
class MInvariance(SensitiveModel):
    """Every class has m records or more, all with different values, and people keep the values of their class.

    Score: different values, but no more than whole people, where no value occurs twice; else one over the greatest
    count. Satisfied when score >= m.

    Parameters
    ----------
    m : int
        Smallest number of different values of a class.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[2, 3, 3], disease=[[1, 1, 0], [1, 1, 1], [2, 0, 1]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "cancer", "flu"], [4, 2, 2]))
    >>> MInvariance(m=2, on="disease").score(groups, table).tolist()
    [2.0, 3.0, 0.5]
    """

    m: Annotated[int, AtLeast(2), "smallest number of different values of a class"]

    name: ClassVar[str] = "m-invariance"
    monotone: ClassVar[Monotone] = Monotone.NONE
    # in whichever of the classes somebody is, no value is likelier than 1/m
    mixes: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        """Return m."""
        return self.m

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Different values of each group, where none occurs twice."""
        histogram = self.histogram(groups)
        top = histogram.max(histogram.units)
        # counterfeits are records of the histogram but no people of the group
        records = np.floor_divide(histogram.sum(histogram.units), histogram.unit)
        often = np.divide(histogram.unit, top, out=np.zeros(len(groups)), where=top > 0)
        return np.where(top <= histogram.unit, np.minimum(histogram.distinct(), records), often)

    def composed(self, left: GroupStats, widest: IntArray, table: Reference) -> BoolArray:
        """Whether people have the same signature in all their classes, and no value is likelier than 1/m."""
        histogram = self.histogram(left)
        total, distinct = histogram.sum(histogram.units), histogram.distinct()
        even = self.m * histogram.max(histogram.units) <= total
        return np.asarray((distinct >= self.m) & (distinct == widest) & even)

    def min_group_size(self) -> int:
        """Return m."""
        return self.m

    def feasible(self, table: Reference) -> Infeasible | None:
        """Infeasible with fewer than m people, or where a value occurs in more than 1/m of the table.

        Every class takes one record of the value at most, and m records or more: there are too few others.
        """
        attribute = self.attribute(table)
        if table.people < self.m or attribute.n_present() < self.m:
            most = min(attribute.n_present(), int(table.people))
            return Infeasible(
                f"m={self.m} but {attribute.name!r} has {attribute.n_present()} distinct values in a table of "
                f"{table.people:g} people.",
                hint=f"Lower m to {most} or less." if most >= 2 else "No m above 1 can hold.",
            )
        top, total = int(attribute.whole_units.max(initial=0)), int(attribute.whole_units.sum())
        if top * self.m <= total:
            return None
        return Infeasible(
            f"m={self.m} but one value of {attribute.name!r} makes up {top / total:.6g} of the table, more than "
            f"1/m = {1 / self.m:.6g}.",
            hint=f"Lower m to {total // top} or less." if total >= 2 * top else "No m above 1 can hold.",
        )
