"""Zayatz's estimator of population uniqueness (the equivalence-class model).

By Bayes' rule the chance that a class with one person in the table has one in the population is

    P(F = 1 | f = 1) = p_1 P(f = 1 | F = 1) / sum_j p_j P(f = 1 | F = j),

where p_j, the share of the population's classes with j people, is taken from the table (s_j / u), and f given F = j is
hypergeometric: C(j, 1) C(N - j, n - 1) / C(N, n). Then S_1 = s_1 P(F = 1 | f = 1) N / n. Always defined. It tends to be
too high, for classes of the table are smaller than those of the population.

References
----------
L. Zayatz, "Estimation of the percent of unique population elements on a microdata file using the sample", 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.risk.frequencies import Frequencies
from hushtable.risk.uniqueness import UniquenessEstimator

__all__ = ["Zayatz", "once_given_size"]


@dataclass(frozen=True)
class Zayatz(UniquenessEstimator):
    """People unique in the population, by Bayes' rule from the class sizes of the table.

    Parameters
    ----------
    fraction : float, optional

    Examples
    --------
    >>> from hushtable.risk.base import Exposure
    >>> table = Exposure.of({"age": [30, 31, 31, 40]})
    >>> found = Zayatz(fraction=0.5).compute(table)
    >>> round(found.kept, 4), round(found.uniques, 3)
    (0.6364, 2.545)
    """

    name: ClassVar[str] = "zayatz"

    def estimate(self, table: Frequencies, population: int) -> float:
        """S_1."""
        weight = table.counts * once_given_size(table.sizes.astype(np.float64), table.people, population)
        chance = float(weight[table.sizes == 1].sum() / weight.sum())
        return table.of(1) * chance * population / table.people


def once_given_size(sizes: FloatArray, people: int, population: int) -> FloatArray:
    """P(f = 1 | F = j) / P(f = 1 | F = 1) for each j: j times the product of (N - n - i + 1) / (N - i), 0 < i < j.

    Examples
    --------
    >>> once_given_size(np.array([1.0, 2.0]), 4, 8).round(4).tolist()
    [1.0, 1.1429]
    """
    from scipy.special import gammaln

    # (N - j)! (N - n)! / ((N - 1)! (N - n - j + 1)!), and 0 where the table holds too many for such a class
    left = population - people - sizes + 1
    possible = left >= 0
    logs = gammaln(population - sizes[possible] + 1) - gammaln(population)
    logs += gammaln(population - people + 1) - gammaln(left[possible] + 1)
    out = np.zeros(len(sizes))
    out[possible] = sizes[possible] * np.exp(logs)
    return out
