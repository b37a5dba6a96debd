"""m-confidentiality.

Symbols: m, k. The papers at hand only name the model and the minimality attack behind it: an adversary who knows
the algorithm, and that it generalises no more than needed, may find out which k or more records of a class were
one block before the last generalisation. Reading taken: whichever block of at least k records inside a class the
adversary rebuilds, nobody's value may be guessed with more than 1/m confidence. In the worst case all records
with a value sit in one block of k, so for every value of every class

    (records with the value) <= min(k, size of the class) / m,

where a class of fewer than k is a block of its own. m must not exceed k.

Consequences: not monotone in any way. Merging two satisfied classes adds up their counts while k stays, so it can
violate; so can adding a record with a frequent value, and removing records from a class of k or fewer. A class
holds each value at most k/m times, so this model asks for many values, or for small classes.

With an entity column one person may bring several values. They do not hide that person, so a class counts for no
more than its whole people.

When to use
-----------
Where the algorithm is public and minimal, so that what it did *not* do tells something.

When not
--------
For large classes: the bound is on counts, and bites harder the larger a class is. It is not monotone.

Cost
----
Linear in the distinct values of the classes.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007;
Allard 2023, "Weaknesses".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible, ParameterError
from hushtable.models.base import TOLERANCE, Monotone, Sense, SensitiveModel
from hushtable.models.p_sensitive import alone
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["MConfidentiality"]


@dataclass(frozen=True)
class MConfidentiality(SensitiveModel):
    """Even in a rebuilt block of k records no value is certain beyond 1/m.

    Score: (count of the most frequent value) / min(k, size), the worst confidence, but no less than 1 / (whole
    people). Satisfied when score <= 1/m.

    Parameters
    ----------
    m : int
        One over the greatest confidence.
    k : int
        Smallest block that an adversary may rebuild; at least m.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 6], disease=[[2, 1, 1], [3, 2, 1]])
    >>> table = Reference.of(10, Attribute.of("disease", ["HIV", "cancer", "flu"], [5, 3, 2]))
    >>> MConfidentiality(m=2, k=4, on="disease").score(groups, table).tolist()
    [0.5, 0.75]
    """

    m: Annotated[int, AtLeast(2), "one over the greatest confidence in a sensitive value"]
    k: Annotated[int, AtLeast(2), "smallest block of records that an adversary may rebuild"]

    name: ClassVar[str] = "m-confidentiality"
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = "<="

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m > self.k:
            raise ParameterError(
                f"The 'm' parameter of MConfidentiality must not be above 'k': in a block of {self.k} the "
                f"confidence is at least 1/{self.k}. Got {self.m} instead."
            )

    @property
    def bound(self) -> float:
        """Return 1/m."""
        return 1.0 / self.m

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Worst confidence per group."""
        histogram = self.histogram(groups)
        top, total = histogram.max(histogram.units), histogram.sum(histogram.units)
        block = np.minimum(total, self.k * histogram.unit)
        share = np.divide(top, block, out=np.full(len(groups), np.inf), where=block > 0)
        return np.asarray(np.maximum(share, alone(groups)))

    def min_group_size(self) -> int:
        """Return m."""
        return self.m

    def feasible(self, table: Reference) -> Infeasible | None:
        """Infeasible with fewer than m people, or where one value is more than 1/m of the table.

        Were every class satisfied, the value would make up at most 1/m of each, and so of the table.
        """
        attribute = self.attribute(table)
        if table.people < self.m:
            return Infeasible(
                f"m={self.m} but the table has {table.people:g} people.",
                hint=f"Lower m to {int(table.people)} or less." if table.people >= 3 else "Add records.",
            )
        share = float(attribute.distribution().max(initial=0.0))
        if share <= self.bound + TOLERANCE:
            return None
        return Infeasible(
            f"m={self.m} but one value of {attribute.name!r} makes up {share:.6g} of the table, more than "
            f"1/m = {self.bound:.6g}.",
            hint=f"Lower m to {int(1 / share + TOLERANCE)} or less." if share <= 0.5 else "No m above 1 can hold.",
        )
