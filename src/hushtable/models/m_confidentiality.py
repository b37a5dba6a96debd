"""m-confidentiality.

Symbols: m, k. The adversary knows the algorithm, who is in each class, and that the algorithm generalises no more
than needed. So a class that was left whole tells something: some block of it, had it been published on its own, would
have broken the requirement. Wong et al. call the chance of a person's value, given all this, its credibility, and a
release m-confidential where no credibility exceeds 1/m.

Reading taken. The requirement that algorithms enforce is: every class has at least k people, and no value has more
than the share alpha of it. A block of fewer than k people is refused whoever has which value, which tells nothing. In a
block of b >= k people, X of whom have the value, the adversary learns at worst that it was refused for this value: X >
alpha b. The greatest credibility is E[X | X > alpha b] / b, where X is hypergeometric, since the members of a class are
alike to who does not know their values. ``allowed_share`` takes the greatest alpha for which that is at most 1/m for
every b >= k and every class: it is never above the same expectation of a binomial X with chance alpha (the ratio of the
two distributions falls above alpha b, as long as the value's share in the class is at most alpha). m must be below k:
a block of m people with one person of the value in it makes it credible with 1/m at least, and mostly with more.

So the stricter requirement buys what minimality gives away: for m = 2 and k = 6 the share is bounded by 0.322 instead
of 0.5. It survives merging, and every algorithm reaches it. What is bounded is one refused block inside one class. An
adversary who replays the whole run may know several at once, in several classes: the ``minimality`` guard, which hides
sensitive values from the algorithm, answers that. Wong et al. change sensitive values instead, which hushtable never
does.

When to use
-----------
Where the algorithm is public and minimal, so that what it did *not* do tells something.

When not
--------
Where one value is more frequent than the allowed share in the whole table: infeasible.

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

__all__ = ["MConfidentiality", "allowed_share", "credibility"]

_MARGIN = 1e-6
"""Kept below the limit: comparisons have a tolerance, and at the limit itself credibility may jump."""


def credibility(block: int, share: float) -> float:
    """Return the greatest credibility of a value in a block known to hold more than ``share`` of it.

    Examples
    --------
    A pair that breaks a share of 1/2 has the value twice:

    >>> credibility(2, 0.5)
    1.0
    >>> round(credibility(6, 0.3), 3)
    0.43
    """
    more = math.floor(share * block * (1 + 1e-12)) + 1
    if more >= block:
        return 1.0
    # chances relative to that of ``more``, so that none is too small to tell from 0
    count = np.arange(more, block)
    ratio = (block - count) / (count + 1) * (share / (1 - share))
    chance = np.append(1.0, np.cumprod(ratio))
    return float((chance * np.arange(more, block + 1)).sum() / chance.sum() / block)


@cache
def allowed_share(m: int, k: int) -> float:
    """Return the greatest share of a value in a class that keeps it within 1/m in every block of k people or more.

    Examples
    --------
    >>> round(allowed_share(2, 6), 3), round(allowed_share(2, 100), 3)
    (0.322, 0.459)
    """
    share, block = 1.0 / m, k
    # a binomial exceeds its mean with a chance of 1/4 or more, and by half a standard deviation on average over all
    # outcomes: in blocks beyond these two sizes credibility is below share + 2 sqrt(share (1 - share) / block)
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
    """Nobody's value is credible beyond 1/m, even in a block that the algorithm is known to have refused.

    Score: min(people / k, allowed share / greatest share). Satisfied when score >= 1.

    Parameters
    ----------
    m : int
        One over the greatest credibility.
    k : int
        Smallest number of people in a class, and so in a block that may be refused for its values; above m.
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

    m: Annotated[int, AtLeast(2), "one over the greatest credibility of a sensitive value"]
    k: Annotated[int, AtLeast(3), "smallest number of people in a class"]

    name: ClassVar[str] = "m-confidentiality"
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
    def bound(self) -> float:
        """Return 1: both margins are normalised."""
        return 1.0

    @property
    def threats(self) -> frozenset[Threat]:
        """Both: k people, and bounded values."""
        return frozenset(Threat)

    @property
    def enforced(self) -> AlphaK:
        """The requirement that keeps credibility within 1/m."""
        return AlphaK(allowed_share(self.m, self.k), self.k, on=self.on)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(people / k, allowed share / greatest share) per group."""
        return self.enforced.score(groups, table)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The greatest share of a value, and the people."""
        share, people = self.enforced.quantities(groups, table)
        return share._replace(symbol="share"), people

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return the allowed share."""
        return self.enforced.share_caps(table)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Tell the values that still have room in a class of the size that it is heading for."""
        return self.enforced.contributes(groups, table)

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people, or one value is too frequent in the whole of it."""
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
