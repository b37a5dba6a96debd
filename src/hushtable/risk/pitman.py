"""Pitman's estimator of population uniqueness.

The class sizes of the population are those of Pitman's random partition with parameters 0 < alpha < 1 and theta >
-alpha, and a sample of such a population has class sizes of the same law. The parameters maximise the likelihood of
the table:

    sum_{i=1}^{u-1} ln(theta + i alpha) - sum_{i=1}^{n-1} ln(theta + i) + sum_j s_j sum_{i=1}^{j-1} ln(i - alpha),

found by solving for theta given alpha, then for alpha on that profile. The estimate is the expected number of people
alone in their class,

    S_1 = N Gamma(theta + alpha + N - 1) Gamma(theta + 1) / (Gamma(theta + alpha) Gamma(theta + N)),

which Hoshino writes in its limit of large N, Gamma(theta + 1) / Gamma(theta + alpha) N^alpha. Where everybody in the
table is unique the likelihood grows towards alpha = 1, and S_1 is N.

References
----------
N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", 2001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.risk.uniqueness import Frequencies, UniquenessEstimator

__all__ = ["Pitman", "expected_uniques", "fit", "log_likelihood"]

# between these alphas digamma differences keep their digits
_ALPHAS = 1 / (1 + np.exp(-np.linspace(-7, 9, 65)))


@dataclass(frozen=True)
class Pitman(UniquenessEstimator):
    """People unique in the population, from Pitman's random partition fitted to the table; best for small samples.

    Parameters
    ----------
    fraction : float, optional

    Examples
    --------
    >>> from hushtable.risk.base import Exposure
    >>> table = Exposure.of({"age": [1] * 9 + [2] * 4 + [3, 3, 4, 4, 5, 6, 7]})
    >>> found = Pitman(fraction=0.1).compute(table)
    >>> found.population, round(found.uniques, 1)
    (200, 3.4)
    """

    name: ClassVar[str] = "pitman"

    def estimate(self, table: Frequencies, population: int) -> float:
        """S_1."""
        if table.classes == table.people:
            return float(population)
        return expected_uniques(*fit(table), population)


def expected_uniques(theta: float, alpha: float, population: int) -> float:
    """S_1 for given parameters.

    Examples
    --------
    >>> round(expected_uniques(1.0, 0.5, 2), 6)  # the second person joins the first with chance (1 - 1/2) / 2
    1.5
    """
    return population * math.exp(
        math.lgamma(theta + alpha + population - 1)
        - math.lgamma(theta + population)
        + math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
    )


def log_likelihood(table: Frequencies, theta: float, alpha: float) -> float:
    """The logarithm of the table's likelihood, without the terms that do not depend on the parameters."""
    from scipy.special import gammaln

    n, u = table.people, table.classes
    ratio = theta / alpha
    within = table.counts * (gammaln(table.sizes - alpha) - gammaln(1 - alpha))
    return float(
        (u - 1) * math.log(alpha)
        + (gammaln(ratio + u) - gammaln(ratio + 1))
        - (gammaln(theta + n) - gammaln(theta + 1))
        + within.sum()
    )


def fit(table: Frequencies) -> tuple[float, float]:
    """Return theta and alpha of the greatest likelihood; the table has classes of several people."""
    from scipy.optimize import brentq

    slopes = [_slope(table, alpha) for alpha in _ALPHAS]
    peaks = [float(_ALPHAS[0])] if slopes[0] <= 0 else []
    for left, right, before, after in zip(_ALPHAS, _ALPHAS[1:], slopes, slopes[1:], strict=False):
        if before > 0 >= after:
            peaks.append(float(brentq(lambda alpha: _slope(table, alpha), left, right, xtol=1e-12)))
    if slopes[-1] > 0:
        peaks.append(float(_ALPHAS[-1]))
    candidates = [(_theta(table, alpha), alpha) for alpha in peaks]
    return max(candidates, key=lambda found: log_likelihood(table, *found))


def _theta(table: Frequencies, alpha: float) -> float:
    """The theta of greatest likelihood for a given alpha."""
    from scipy.optimize import brentq
    from scipy.special import psi

    n, u = table.people, table.classes

    def slope(x: float) -> float:
        theta = math.exp(x) - alpha
        ratio = theta / alpha
        return float((psi(ratio + u) - psi(ratio + 1)) / alpha - (psi(theta + n) - psi(theta + 1)))

    low, high = -25.0, math.log(1e9)
    if slope(low) <= 0:
        return math.exp(low) - alpha
    if slope(high) >= 0:
        return math.exp(high) - alpha
    return math.exp(float(brentq(slope, low, high, xtol=1e-12))) - alpha


def _slope(table: Frequencies, alpha: float) -> float:
    """How the likelihood changes with alpha where theta is the best for it."""
    from scipy.special import psi

    theta = _theta(table, alpha)
    ratio = theta / alpha
    u = table.classes
    between = ((u - 1) - ratio * (psi(ratio + u) - psi(ratio + 1))) / alpha
    within = table.counts * (psi(table.sizes - alpha) - psi(1 - alpha))
    return float(between - within.sum())
