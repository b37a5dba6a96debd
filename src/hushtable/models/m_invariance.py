"""m-invariance, for tables that are republished while people join and leave.

Symbol: m. A class is m-unique if it has at least m records and no two of them share a sensitive value; its signature
is the set of those values. A sequence of releases is m-invariant if every class of each is m-unique, and everyone who
appears in two of them has the same signature in both. Then nobody's value can be guessed with more than 1/m
confidence, no matter how many releases are combined.

In a single release, the model checks m-uniqueness. The second condition concerns people, whom a published table does
not identify: the ledger of earlier releases checks it (``composed``), and the algorithm ``m-invariant`` takes the
signatures from there. Without an earlier release, the model is just m-uniqueness.

Our interpretation: in the papers, each record is a person. So with an entity column, a value belongs to at most one
person if its records add up to at most one person, and the score is capped at the number of whole people in the
class. People who leave and return keep their old signature, because an adversary does not forget. Counterfeits, which
``m-invariant`` adds to classes that lack records with the values needed, count as records here, but never as people.

Not monotone in any way: merging classes or adding a record may repeat values, and removing one may leave fewer than m.

When to use
-----------
When you publish data about the same people repeatedly while some join and leave.

When not
--------
For a single release: probabilistic-l bounds the same confidence and lets values repeat. If some value is frequent:
every class can take only one record with it.

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
from hushtable.errors import Infeasible, counted
from hushtable.models.base import Monotone, SensitiveModel
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class MInvariance(SensitiveModel):
    """Every class has at least m records with distinct values, and people keep the signature of their class.

    Score: distinct values, capped at the number of whole people, if no value occurs twice; otherwise one over the
    largest count. Satisfied when score >= m.

    Parameters
    ----------
    m : int
        Minimum number of distinct values in a class.
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

    m: Annotated[int, AtLeast(2), "minimum number of distinct values in a class"]

    name: ClassVar[str] = "m-invariance"
    bounded_by: ClassVar[str] = "m"
    monotone: ClassVar[Monotone] = Monotone.NONE
    # whichever class a person is in, no value has a probability above 1/m
    mixes: ClassVar[bool] = True

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Distinct values of each group, if none occurs twice."""
        histogram = self.histogram(groups)
        top = histogram.max(histogram.units)
        # counterfeits are records in the histogram but not people in the group
        records = np.floor_divide(histogram.sum(histogram.units), histogram.unit)
        often = np.divide(histogram.unit, top, out=np.zeros(len(groups)), where=top > 0)
        return np.where(top <= histogram.unit, np.minimum(histogram.distinct(), records), often)

    def composed(self, left: GroupStats, widest: IntArray, table: Reference) -> BoolArray:
        """Whether people have the same signature in all their classes, and no value has a probability above 1/m."""
        histogram = self.histogram(left)
        total, distinct = histogram.sum(histogram.units), histogram.distinct()
        even = self.m * histogram.max(histogram.units) <= total
        return np.asarray((distinct >= self.m) & (distinct == widest) & even)

    def min_group_size(self) -> int:
        """Return m."""
        return self.m

    def feasible(self, table: Reference) -> Infeasible | None:
        """Infeasible with fewer than m people, or if a value makes up more than 1/m of the table.

        Every class has at most one record with the value and at least m records: there are too few others.
        """
        attribute = self.attribute(table)
        if table.people < self.m or attribute.n_present() < self.m:
            most = min(attribute.n_present(), int(table.people))
            return Infeasible(
                f"m={self.m} but {attribute.name!r} has {attribute.n_present()} distinct values in a table of "
                f"{counted(round(table.people), 'person', 'people')}.",
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
