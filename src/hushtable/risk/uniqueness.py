"""Shared parts of the estimators of population uniqueness.

Symbols: N and n people in the population and in the table, pi = n / N, u classes in the table, s_j of them with j
people, S_1 people who are alone in their class in the population: what is estimated.

Estimators need whole people. With an entity column, a class may contain a fraction of a person: its size is rounded
down, but at least to one, n is the sum of these sizes, and N = n / pi. So a person whose rows differ may count
several times, and N may differ from the number of people in a population table.

In edge cases all agree: without sample uniques, the estimate is 0, and a table that is the whole population has its own
uniques. An estimate that does not exist (a model that cannot be fitted, a number outside [0, N]) is NaN and never 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hushtable.laws.frequencies import Frequencies
from hushtable.laws.uniqueness import LAWS, population_uniques
from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.sampling import Fraction, Sampling


@dataclass(frozen=True)
class PopulationUniques(Finding):
    """An estimate of the number of people who are unique in the population.

    Attributes
    ----------
    estimator : str
        The one that was used; for a decision rule, the one it chose.
    basis : str
        Source of the population size.
    fraction : float
        Share of the population that is in the table.
    population : int
        People in the population: n / pi.
    sample_uniques : int
        People who are alone in their class in the table: classes of one.
    uniques : float
        People who are alone in their class in the population; NaN if the estimator has no answer.
    share : float
        Their share of the population.
    kept : float
        Probability that a person who is unique in the table is also unique in the population: fraction * uniques /
        sample_uniques, at most 1; 0 without sample uniques.
    """

    estimator: str
    basis: str
    fraction: float
    population: int
    sample_uniques: int
    uniques: float
    share: float
    kept: float


@dataclass(frozen=True)
class UniquenessEstimator(Risk):
    """Base of the estimators of population uniqueness.

    Parameters
    ----------
    fraction : float, optional
        Share of the population that is in the table. Defaults to that of the population table; without one, the
        table is treated as the whole population.
    """

    fraction: Fraction = None

    def estimate(self, table: Frequencies, population: int) -> float:
        """S_1, for a table with sample uniques that is smaller than its population; NaN if there is no answer.

        By default, that of the law with the estimator's name.
        """
        return LAWS[self.name](table, population)

    def choose(self, table: Frequencies, population: int) -> tuple[str, float]:
        """Return the name of the estimator that was used, and S_1."""
        return self.name, self.estimate(table, population)

    def compute(self, exposure: Exposure) -> PopulationUniques:
        """Assess one table."""
        sampling = Sampling.of(exposure, self.fraction)
        table = Frequencies(*exposure.frequencies())
        n, alone = table.people, table.of(1)
        used, population, uniques = population_uniques(table, sampling.fraction, self.choose, self.name)
        kept = min(n / population * uniques / alone, 1.0) if alone and not math.isnan(uniques) else uniques
        return PopulationUniques(
            estimator=used,
            basis=sampling.basis,
            fraction=n / population,
            population=population,
            sample_uniques=alone,
            uniques=uniques,
            share=uniques / population,
            kept=kept,
        )
