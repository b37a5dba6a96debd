"""delta-disclosure privacy.

Symbol: delta. For every sensitive value of the table, with share p there and q in the class, |ln(q / p)| < delta,
strictly. If a value of the table is absent from a class, the distance is infinite. So every class must contain every
value: a strong model, best for columns with few values.

Both inequalities are linear in q, so merging two satisfied classes keeps them satisfied; adding or removing single
records may not. With the whole table as one class, the distance is 0.

When to use
-----------
For columns with few values, if both rising and falling shares must be bounded.

When not
--------
For columns with many values: every class must contain every value, which costs nearly all utility.

Cost
----
Linear in the number of the table's values, for every class.

References
----------
J. Brickell, V. Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data publishing",
2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.models.base import Audited, Monotone, Sense, SensitiveModel
from hushtable.params import Positive
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """Every value's share in a class is within a factor exp(delta) of its share in the table.

    Score: the largest |ln(q / p)|. Satisfied when score < delta.

    Parameters
    ----------
    delta : float
        Upper limit for the absolute logarithm of the ratio (exclusive).
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[2, 2], [0, 4]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))
    >>> DeltaDisclosure(delta=0.7, on="disease").score(groups, table).round(3).tolist()
    [0.693, inf]
    """

    delta: Annotated[float, Positive(), "upper limit for |ln(share in the class / share in the table)| (exclusive)"]

    name: ClassVar[str] = "delta-disclosure"
    bounded_by: ClassVar[str] = "delta"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("delta", "delta", {"delta": 1.0}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<"

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest |ln(q / p)| over the table's values; infinite if one is absent or not in the table."""
        histogram, share = self.histogram(groups), self.attribute(table).distribution()
        theirs = share[histogram.values]
        known = theirs > 0
        gap = np.full(len(theirs), np.inf)
        gap[known] = np.abs(np.log(histogram.shares()[known] / theirs[known]))
        complete = histogram.lengths >= np.count_nonzero(share)
        return np.where(complete, histogram.max(gap, empty=np.inf), np.inf)

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return exp(delta) times the table's shares."""
        return self.attribute(table).distribution() * np.exp(self.delta), 0.0

    def share_floors(self, table: Reference) -> FloatArray:
        """Return exp(-delta) times the table's shares."""
        return np.asarray(self.attribute(table).distribution() * np.exp(-self.delta))

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values absent from the group, and those that improve a complete group.

        The score alone gives no direction: it stays infinite until the last missing value is added.
        """
        attribute, histogram = self.attribute(table), self.histogram(groups)
        lacks = np.broadcast_to(attribute.units > 0, (len(histogram), attribute.n_values)).copy()
        lacks[histogram.groups, histogram.values] = False
        return lacks | super().contributes(groups, table)
