"""beta-likeness.

Symbol: beta. What a class tells about each sensitive value is bounded relative to its share in the whole table:
with share p in the table and q in the class, wherever q > p,

basic
    (q - p) / p <= beta;
enhanced
    (q - p) / p <= min(beta, -ln p), which also protects frequent values, whose relative gain is small by nature.

Shares that fall are not bounded. Each bound is a linear bound on q, so merging two satisfied classes keeps them
satisfied; adding or removing single records may not. The whole table as one class has no gain at all.

When to use
-----------
Where rare values need relative protection: a disease of 0.1% may not become one of 5%.

When not
--------
Where learning that somebody does *not* have a value is a harm: falling shares are not bounded.

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
from hushtable.errors import Infeasible
from hushtable.models.base import Audited, Monotone, Sense, SensitiveModel
from hushtable.params import Positive
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["BetaLikeness"]


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """No value's share in a class exceeds its share in the table by more than the factor beta.

    Score: the greatest relative gain; the enhanced variant stretches each value's gain by beta / min(beta, -ln
    p), so that one bound serves all values. Satisfied when score <= beta. A value foreign to the table gains
    infinitely.

    Parameters
    ----------
    beta : float
        Greatest relative gain of a value's share.
    variant : {"basic", "enhanced"}
        Whether frequent values have the tighter bound -ln p.
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

    beta: Annotated[float, Positive(), "greatest relative gain of a value's share in a class"]
    variant: Annotated[
        Literal["basic", "enhanced"], "enhanced also bounds the gain of a value with share p by -ln p"
    ] = "basic"

    name: ClassVar[str] = "beta-likeness"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("beta", "beta", {"beta": 1.0}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    @property
    def bound(self) -> float:
        """Return beta."""
        return self.beta

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Greatest gain of a value, 0 where every share is the table's."""
        histogram = self.histogram(groups)
        gain = np.maximum(histogram.shares() - self._shares(table)[histogram.values], 0.0)
        gain[gain > 0] *= self._stretch(table)[histogram.values][gain > 0]
        return histogram.max(gain, empty=np.inf)

    def _shares(self, table: Reference) -> FloatArray:
        return self.attribute(table).distribution()

    def _stretch(self, table: Reference) -> FloatArray:
        """What a surplus of 1 counts for, value by value: 1 / p, times beta over the value's own bound."""
        share = self._shares(table)
        present = share > 0
        stretch = np.full(len(share), np.inf)
        stretch[present] = 1.0 / share[present]
        if self.variant == "enhanced":
            # a value that is the whole table (p = 1) cannot gain, so its bound of 0 is never used
            bounded = present & (share < 1)
            stretch[bounded] *= self.beta / np.minimum(self.beta, -np.log(share[bounded]))
        return stretch

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return the greatest shares: each value may gain beta, over its stretch."""
        return self._shares(table) + self.beta / self._stretch(table), 0.0

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table is empty."""
        return Infeasible(
            f"beta={self.beta:g} but column {self.attribute(table).name!r} has no values at all.",
            hint="Add records.",
        )
