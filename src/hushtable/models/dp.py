"""Differential privacy for a table of published records.

Symbols: epsilon, delta. Every release has nearly the same probability whether a person is in the table or not:
P(release with her) <= e^epsilon P(release without her) + delta, and vice versa. delta is the probability that the
release reveals more about a person than e^epsilon allows. A delta of 1 / n would allow publishing one of n people
unchanged, so it must be well below that. Other models make assumptions about the adversary's knowledge; this one does
not. For several releases, the epsilons and deltas add up.

The guarantee needs no noise, so every published record is truthful. The algorithm ``safe-pub`` meets its three
requirements: each record is drawn with probability beta = 1 - e^-e, with e = (1 - search) epsilon; the recoding does
not depend on the records, except through an exponential mechanism that spends the share ``search`` of epsilon; and a
combination of cells, over all columns, is published only if k drawn records have it. k is the smallest number for
which

    max over n of P(Binomial(n, beta) >= max(k, gamma n)) <= delta,  gamma = 1 - (1 - beta) e^-e,

the exact tail. (n records have the same cells. If j of them are drawn, P with her / P without her is n (1 - beta) /
(n - j), which exceeds e^e if j > gamma n; the inverse is never above 1 / (1 - beta) = e^e.) A release shows k in its
classes, but cannot show that records were drawn at random.

Classes keep at least k records when records are added or classes are merged.

When to use
-----------
When a guarantee must hold against unknown adversaries, and the table is large: hundreds of records for each published
combination.

When not
--------
For small tables or many columns: hardly any combination has k records. If a run must be repeatable: the random
numbers come from the operating system and cannot be reproduced.

Cost
----
Evaluates every node of the lattice once.

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

_CAREFUL = 1 - 1e-6
"""Share of epsilon and delta to spend: the rest covers floating-point rounding."""


@dataclass(frozen=True)
class DifferentialPrivacy(PrivacyModel):
    """(epsilon, delta)-differential privacy: no single person changes the release's probability much.

    Score: people in the class. Satisfied when people >= k; k follows from epsilon and delta.

    Parameters
    ----------
    epsilon : float
        Bound on the log ratio of a release's probabilities with and without a person.
    delta : float
        Probability that this bound fails.
    search : float
        Share of epsilon spent on choosing the recoding.

    Examples
    --------
    >>> model = DifferentialPrivacy(epsilon=1, delta=1e-6)
    >>> model.k, round(model.rate, 3)
    (73, 0.593)
    """

    epsilon: Annotated[float, Between(0.01, 5), "bound on the log probability ratio with and without a person"]
    delta: Annotated[float, Between(1e-15, 1e-2), "probability that this bound fails; below 1 / people"]
    search: Annotated[float, Between(0.01, 0.5), "share of epsilon spent on choosing the recoding"] = 0.1

    name: ClassVar[str] = "dp"
    bounded_by: ClassVar[str] = "k"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    @property
    def for_sampling(self) -> float:
        """The part of epsilon spent on drawing records."""
        return (1 - self.search) * self.epsilon * _CAREFUL

    @property
    def rate(self) -> float:
        """beta: the probability of drawing a record, rounded down to a multiple of 2^-53."""
        return math.floor(-math.expm1(-self.for_sampling) * 2.0**53) / 2.0**53

    @property
    def k(self) -> int:
        """The minimum number of drawn records with a published combination."""
        return least_k(self.for_sampling, self.delta * _CAREFUL, self.rate)

    def drawing(self) -> Drawing:
        """Return beta and the part of epsilon spent on choosing the recoding."""
        return Drawing(self.rate, self.search * self.epsilon * _CAREFUL)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People per group."""
        return groups.sizes

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse a delta of 1 / people or more."""
        if self.delta * table.people >= 1:
            return Infeasible(
                f"delta={self.delta:g} is too large: it allows publishing one in 1 / delta people unchanged, and the "
                "table has more people than that.",
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
    """Return delta: the largest probability, over all n, of drawing at least max(k, gamma n) of n equal records.

    Examples
    --------
    >>> chance_of_excess(3, 1.0, 0.5)  # all of three are drawn
    0.125
    """
    from scipy.special import betainc

    gamma = 1 - (1 - rate) * math.exp(-epsilon)
    # Chernoff: beyond k / gamma records the probability falls faster than e^(-n divergence)
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
    """Return the smallest k for which ``chance_of_excess`` is at most delta.

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
