"""m-confidentiality.

Symbols: m, k. The adversary knows the algorithm, knows who is in each class, and knows that the algorithm generalizes
no more than needed. So a class that was not split reveals something: publishing some block of it separately would
have violated the requirement. Wong et al. call the probability of a person's value, given all this, its credibility.
A release is m-confidential if no credibility exceeds 1/m.

Our interpretation: algorithms enforce that every class has at least k people and that no value makes up more than the
share alpha of it. A block of fewer than k people is refused regardless of its values, which reveals nothing. In a
block of b >= k people, X of whom have the value, the adversary learns at worst that the block was refused because of
this value: X > alpha b. The largest credibility is E[X | X > alpha b] / b, where X is hypergeometric, since the
members of a class are interchangeable to anyone who does not know their values. ``allowed_share`` takes the largest
alpha for which that is at most 1/m for every b >= k and every class. The credibility never exceeds the same
expectation of a binomial X with probability alpha (the ratio of the two distributions falls above alpha b, as long as
the value's share in the class is at most alpha). m must be below k: in a block of m people, one of whom has the
value, its credibility is at least 1/m, and usually more.

So a stricter requirement compensates for what minimality reveals: for m = 2 and k = 6, the share is bounded by 0.322
instead of 0.5. It survives merging, and every algorithm can enforce it. The bound covers one refused block inside one
class. An adversary who replays the whole run may know several at once, in several classes. The ``minimality`` guard,
which hides sensitive values from the algorithm, protects against that. Wong et al. change sensitive values instead,
which hushtable never does.

When to use
-----------
When the algorithm is public and minimal, so that what it did *not* do reveals something.

When not
--------
When one value's share of the whole table exceeds the allowed share: infeasible.

Cost
----
Linear in the distinct values of the classes.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007;
Allard 2023, "Weaknesses".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible, ParameterError
from hushtable.models.alpha_k import AlphaK
from hushtable.models.base import Monotone, Quantity, SensitiveModel, Threat
from hushtable.models.k_anonymity import KAnonymity
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

_MARGIN = 1e-6
"""Distance kept from the limit: comparisons have a tolerance, and credibility may jump at the limit itself."""


def credibility(block: int, share: float) -> float:
    """Return the largest credibility of a value whose share of a block is known to exceed ``share``.

    Examples
    --------
    In a pair that violates a share of 1/2, both people have the value:

    >>> credibility(2, 0.5)
    1.0
    >>> round(credibility(6, 0.3), 3)
    0.43
    """
    more = math.floor(share * block * (1 + 1e-12)) + 1
    if more >= block:
        return 1.0
    # probabilities relative to that of ``more``, so that none underflows to 0
    count = np.arange(more, block)
    ratio = (block - count) / (count + 1) * (share / (1 - share))
    chance = np.append(1.0, np.cumprod(ratio))
    return float((chance * np.arange(more, block + 1)).sum() / chance.sum() / block)


@cache
def allowed_share(m: int, k: int) -> float:
    """Return the largest share in a class that keeps a value's credibility within 1/m in all blocks of k or more.

    Examples
    --------
    >>> round(allowed_share(2, 6), 3), round(allowed_share(2, 100), 3)
    (0.322, 0.459)
    """
    share, block = 1.0 / m, k
    # a binomial exceeds its mean with a probability of 1/4 or more, and by half a standard deviation on average over
    # all outcomes: in blocks beyond these two sizes, credibility is below share + 2 sqrt(share (1 - share) / block)
    while block < max(1 / share, 4 * share * (1 - share) / max(1 / m - share, 1e-9) ** 2, k + 1):
        if credibility(block, share) > 1 / m:
            low, high = 0.0, share
            while high - low > _MARGIN / 4:
                middle = (low + high) / 2
                low, high = (middle, high) if credibility(block, middle) <= 1 / m else (low, middle)
            share = max(low - _MARGIN, _MARGIN)
        block += 1
    return share


@dataclass(frozen=True)
class MConfidentiality(SensitiveModel):
    """No value's credibility exceeds 1/m, even in a block that the algorithm is known to have refused.

    Score: min(people / k, allowed share / largest share). Satisfied when score >= 1.

    Parameters
    ----------
    m : int
        Inverse of the maximum credibility.
    k : int
        Minimum number of people in a class, and so in a block refused because of its values. Must exceed m.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[8, 8], disease=[[2, 2, 2, 2], [4, 2, 1, 1]])
    >>> table = Reference.of(16, Attribute.of("disease", ["HIV", "cancer", "flu", "cold"], [6, 4, 3, 3]))
    >>> MConfidentiality(m=2, k=6, on="disease").satisfied(groups, table).tolist()
    [True, False]
    """

    m: Annotated[int, AtLeast(2), "inverse of the maximum credibility of a sensitive value"]
    k: Annotated[int, AtLeast(3), "minimum number of people in a class; above m"]

    name: ClassVar[str] = "m-confidentiality"
    bounded_by: ClassVar[float] = 1.0  # both margins are normalized
    monotone: ClassVar[Monotone] = Monotone.MERGE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m >= self.k:
            raise ParameterError(
                f"The 'm' parameter of MConfidentiality must be below 'k': in a block of {self.k} that was refused "
                "for a "
                f"value, its credibility is above 1/{self.k}. Got {self.m} instead."
            )

    @property
    def threats(self) -> frozenset[Threat]:
        """Both: k people, and bounded values."""
        return frozenset(Threat)

    @property
    def enforced(self) -> AlphaK:
        """The requirement that keeps credibility at or below 1/m."""
        return AlphaK(allowed_share(self.m, self.k), self.k, on=self.on)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(people / k, allowed share / largest share) per group."""
        return self.enforced.score(groups, table)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The largest share of a value, and the number of people."""
        share, people = self.enforced.quantities(groups, table)
        return share._replace(symbol="share"), people

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return the allowed share."""
        return self.enforced.share_caps(table)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that still have room in a class of its target size."""
        return self.enforced.contributes(groups, table)

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people, or one value is too frequent in the whole table."""
        if reason := KAnonymity(self.k).feasible(table):
            return reason
        attribute, share = self.attribute(table), allowed_share(self.m, self.k)
        most = float(attribute.distribution().max(initial=0.0))
        return Infeasible(
            f"m={self.m} and k={self.k} allow a value a share of {share:.6g}, but one value of {attribute.name!r} "
            "makes up "
            f"{most:.6g} of the table.",
            hint="Lower m or raise k."
            if most < 0.5
            else "No m above 1 can hold: use value-bounds on the other values.",
        )
