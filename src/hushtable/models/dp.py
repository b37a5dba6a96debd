"""Differential privacy of a table that is published record by record.

Symbols: epsilon, delta. Whatever the release may be, it is published with nearly the same probability whether somebody
is in the table or not: P(release with her) <= e^epsilon P(release without her) + delta, and the other way round. delta
is the chance that the release tells more about somebody than e^epsilon allows. A delta of 1 / n would allow publishing
one person of n as she is, so it has to be well below that. Other models bound what an adversary learns who knows this
or that; this one holds whatever she knows. Several releases add up: their epsilons and deltas are summed.

It is kept without noise, so every published record is true. Three things are needed, and the algorithm ``safe-pub``
does them: each record is drawn with probability beta = 1 - e^-e, with e = (1 - search) epsilon; the recoding does not
depend on the records, except through an exponential mechanism that spends ``search`` of epsilon; and a combination of
published cells, of all columns, is published only if k drawn records have it. k is the least for which

    max over n of P(Binomial(n, beta) >= max(k, gamma n)) <= delta,  gamma = 1 - (1 - beta) e^-e,

the exact tail. (n records have the same cells. Of j drawn ones, P with her / P without her is n (1 - beta) / (n - j),
which exceeds e^e if j > gamma n; the other way round it is never above 1 / (1 - beta) = e^e.) A release shows k in
its classes; that the records were drawn, it cannot show.

Adding records and merging classes keeps classes of k.

When to use
-----------
Where a promise has to hold against adversaries nobody can describe, and the table is large: hundreds of records for
each combination that is to be published.

When not
--------
For small tables, or many columns: hardly a combination has k records. Where a run must be repeatable: the draws are
the operating system's, and nobody can make them again.

Cost
----
Every node of the lattice is counted once.

References
----------
R. Bild, K. A. Kuhn, F. Prasser, "SafePub: A truthful data anonymization algorithm with strong privacy guarantees",
2018; N. Li, W. Qardaji, D. Su, "On sampling, anonymization, and differential privacy", 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Drawing, Monotone, PrivacyModel
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["DifferentialPrivacy", "chance_of_excess", "least_k"]

_CAREFUL = 1 - 1e-6
"""What is spent of epsilon and delta: the rest covers the rounding of floating-point numbers."""


@dataclass(frozen=True)
class DifferentialPrivacy(PrivacyModel):
    """The release is nearly as likely without any single person: (epsilon, delta)-differential privacy.

    Score: people in the class. Satisfied when people >= k, which follows from epsilon and delta.

    Parameters
    ----------
    epsilon : float
        Bound on ln of how much likelier any release is with somebody than without.
    delta : float
        Chance that this bound fails.
    search : float
        Share of epsilon for choosing the recoding.

    Examples
    --------
    >>> model = DifferentialPrivacy(epsilon=1, delta=1e-6)
    >>> model.k, round(model.rate, 3)
    (73, 0.593)
    """

    epsilon: Annotated[float, Between(0.01, 5), "bound on ln of how much likelier a release is with somebody"]
    delta: Annotated[float, Between(1e-15, 1e-2), "chance that this bound fails; below 1 / people"]
    search: Annotated[float, Between(0.01, 0.5), "share of epsilon for choosing the recoding"] = 0.1

    name: ClassVar[str] = "dp"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    @property
    def bound(self) -> float:
        """Return k."""
        return self.k

    @property
    def for_sampling(self) -> float:
        """The part of epsilon that drawing records spends."""
        return (1 - self.search) * self.epsilon * _CAREFUL

    @property
    def rate(self) -> float:
        """beta: the chance that a record is drawn, rounded down to a multiple of 2^-64."""
        return math.floor(-math.expm1(-self.for_sampling) * 2.0**53) / 2.0**53

    @property
    def k(self) -> int:
        """The least number of drawn records of a published combination."""
        return least_k(self.for_sampling, self.delta * _CAREFUL, self.rate)

    def drawing(self) -> Drawing:
        """Return beta, and the part of epsilon that choosing the recoding spends."""
        return Drawing(self.rate, self.search * self.epsilon * _CAREFUL)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People per group."""
        return groups.sizes

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse a delta that a whole person fits into."""
        if self.delta * table.people >= 1:
            return Infeasible(
                f"delta={self.delta:g} is too large: one person in 1 / delta may be published as she is, and the table "
                "has more people than that.",
                hint="Set delta well below 1 / (number of people).",
            )
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has too few people."""
        return Infeasible(
            f"epsilon={self.epsilon:g} and delta={self.delta:g} need classes of {self.k} people, and the table has "
            "fewer.",
            hint="Raise epsilon or delta, or add records.",
        )


def chance_of_excess(k: int, epsilon: float, rate: float) -> float:
    """Return delta: the greatest chance that at least k of n equal records are drawn, and so many that it tells.

    Examples
    --------
    >>> chance_of_excess(3, 1.0, 0.5)  # all of three are drawn
    0.125
    """
    from scipy.special import betainc

    gamma = 1 - (1 - rate) * math.exp(-epsilon)
    # Chernoff: beyond k / gamma records the chance falls faster than e^(-n divergence)
    divergence = gamma * math.log(gamma / rate)
    divergence += (1 - gamma) * math.log((1 - gamma) / (1 - rate)) if gamma < 1 else 0.0
    most, start = 0.0, k
    while True:
        n = np.arange(start, start + 4096)
        least = np.maximum(k, np.ceil(gamma * n - 1e-9))
        chance = np.where(least <= n, betainc(least, np.maximum(n - least + 1, 1), rate), 0.0)
        most = max(most, float(chance.max()))
        start += 4096
        if start > k / gamma + 1 and -start * divergence < math.log(most) - 1:
            return most


@lru_cache(maxsize=64)
def least_k(epsilon: float, delta: float, rate: float) -> int:
    """Return the least k with ``chance_of_excess`` of at most delta.

    Examples
    --------
    >>> least_k(1.0, 1e-6, 0.5) < least_k(1.0, 1e-9, 0.5)
    True
    """
    high = 2
    while chance_of_excess(high, epsilon, rate) > delta:
        high *= 2
    low = 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance_of_excess(middle, epsilon, rate) <= delta else (middle, high)
    return high
