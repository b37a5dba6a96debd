"""beta-likeness.

Symbol: beta. Bounds how much a class reveals about each sensitive value, relative to its share in the whole table.
With share p in the table and q in the class, if q > p,

basic
    (q - p) / p <= beta;
enhanced
    (q - p) / p <= min(beta, -ln p), which also protects frequent values, whose relative gain is always small.

Shares that fall are not bounded. Each bound is a linear bound on q, so merging two satisfied classes keeps them
satisfied; adding or removing single records may not. With the whole table as one class, the gain is 0.

When to use
-----------
When rare values need relative protection: a disease with a share of 0.1% must not reach 5% in a class.

When not
--------
When learning that someone does *not* have a value is harmful: falling shares are not bounded.

Cost
----
Linear in the distinct values of the classes.

References
----------
J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.models.base import Audited, Monotone, Sense, SensitiveModel
from hushtable.params import Positive
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """No value is more than 1 + beta times as frequent in a class as in the whole table.

    Score: the largest relative gain. The enhanced variant multiplies each value's gain by beta / min(beta, -ln p), so
    that one bound applies to all values. Satisfied when score <= beta. The gain of a value that is not in the table
    is infinite.

    Parameters
    ----------
    beta : float
        Maximum relative gain of a value's share.
    variant : {"basic", "enhanced"}
        ``enhanced`` applies the tighter bound -ln p to frequent values.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[2, 2], [0, 4]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))
    >>> BetaLikeness(beta=0.5, variant="basic", on="disease").score(groups, table).round(3).tolist()
    [1.0, 0.333]
    >>> BetaLikeness(beta=0.5, variant="enhanced", on="disease").satisfied(groups, table).tolist()
    [False, False]
    """

    beta: Annotated[float, Positive(), "maximum relative gain of a value's share in a class"]
    variant: Annotated[
        Literal["basic", "enhanced"], "enhanced also bounds the gain of a value with share p by -ln p"
    ] = "basic"

    name: ClassVar[str] = "beta-likeness"
    bounded_by: ClassVar[str] = "beta"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("beta", "beta", {"beta": 1.0}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest gain of a value; 0 if every share equals the table's."""
        histogram = self.histogram(groups)
        gain = np.maximum(histogram.shares() - self._shares(table)[histogram.values], 0.0)
        gain[gain > 0] *= self._stretch(table)[histogram.values][gain > 0]
        return histogram.max(gain, empty=np.inf)

    def _shares(self, table: Reference) -> FloatArray:
        return self.attribute(table).distribution()

    def _stretch(self, table: Reference) -> FloatArray:
        """Factor for each value's surplus: 1 / p, times beta over the value's own bound."""
        share = self._shares(table)
        present = share > 0
        stretch = np.full(len(share), np.inf)
        stretch[present] = 1.0 / share[present]
        if self.variant == "enhanced":
            # the only value of a table (p = 1) cannot gain, so its bound of 0 is never used
            bounded = present & (share < 1)
            stretch[bounded] *= self.beta / np.minimum(self.beta, -np.log(share[bounded]))
        return stretch

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return the maximum shares: each value may gain beta / stretch."""
        return self._shares(table) + self.beta / self._stretch(table), 0.0
