"""Zayatz's estimator of population uniqueness (the equivalence-class model).

By Bayes' rule, the probability that a class with one person in the table has one in the population is

    P(F = 1 | f = 1) = p_1 P(f = 1 | F = 1) / sum_j p_j P(f = 1 | F = j),

where p_j, the share of the population's classes with j people, is taken from the table (s_j / u), and f given F = j is
hypergeometric: C(j, 1) C(N - j, n - 1) / C(N, n). Then S_1 = s_1 P(F = 1 | f = 1) N / n. Always defined. It tends to be
too high, since classes of the table are smaller than those of the population.

References
----------
L. Zayatz, "Estimation of the percent of unique population elements on a microdata file using the sample", 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.risk.uniqueness import UniquenessEstimator


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
