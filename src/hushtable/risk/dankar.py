"""Dankar's decision rule between estimators of population uniqueness.

If at most a tenth of the population is in the table, the rule uses Pitman's estimate; otherwise, the smaller of the
slide negative binomial's and Zayatz's. If the chosen estimate does not exist, it uses Zayatz's, which always does. The
rule comes from a simulation with clinical data sets, in which no single estimator did well everywhere.

References
----------
F. K. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data sets", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.laws.frequencies import Frequencies
from hushtable.laws.uniqueness import by_rule
from hushtable.risk.uniqueness import UniquenessEstimator


@dataclass(frozen=True)
class Dankar(UniquenessEstimator):
    """People unique in the population, by the estimator that suits the sampling fraction.

    Parameters
    ----------
    fraction : float, optional

    Examples
    --------
    >>> from hushtable.risk.base import Exposure
    >>> table = Exposure.of({"age": [1] * 9 + [2] * 4 + [3, 3, 4, 4, 5, 6, 7]})
    >>> Dankar(fraction=0.1).compute(table).estimator, Dankar(fraction=0.5).compute(table).estimator
    ('pitman', 'snb')
    """

    name: ClassVar[str] = "dankar"

    def choose(self, table: Frequencies, population: int) -> tuple[str, float]:
        """Return the estimator that the rule chose, and its S_1."""
        return by_rule(table, population)
