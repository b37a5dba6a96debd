"""Pitman's random partition, fitted to the class sizes of a table.

With parameters 0 < alpha < 1 and theta > -alpha, person i + 1 founds a new class with probability
(theta + c alpha) / (theta + i), where c is the number of classes so far, and joins a class of f people with probability
(f - alpha) / (theta + i). A sample of such a population has class sizes of the same law. Except for terms without the
parameters, the logarithm of a table's likelihood is

    sum_{i=1}^{u-1} ln(theta + i alpha) - sum_{i=1}^{n-1} ln(theta + i) + sum_j s_j sum_{i=1}^{j-1} ln(i - alpha).

It is maximized by solving for theta given alpha, then for alpha on that profile.

References
----------
J. Pitman, "Exchangeable and partially exchangeable random partitions", 1995; N. Hoshino, "Applying Pitman's sampling
formula to microdata disclosure risk assessment", 2001.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from hushtable.laws.frequencies import Frequencies

# between these alphas digamma differences keep their digits
_ALPHAS = 1 / (1 + np.exp(-np.linspace(-7, 9, 65)))


def log_likelihood(table: Frequencies, theta: float, alpha: float) -> float:
    """Return the logarithm of the table's likelihood, without terms that do not depend on the parameters."""
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
    """Return the maximum-likelihood theta and alpha; the table has classes of several people."""
    return _fitted(tuple(table.sizes.tolist()), tuple(table.counts.tolist()))


# enforcing, verifying and reporting ask about the same tables again and again
@lru_cache(maxsize=256)
def _fitted(sizes: tuple[int, ...], counts: tuple[int, ...]) -> tuple[float, float]:
    from scipy.optimize import brentq

    table = Frequencies(np.array(sizes), np.array(counts))

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
    """Return the maximum-likelihood theta for a given alpha."""
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
    """Return the derivative of the likelihood by alpha, with the best theta for it."""
    from scipy.special import psi

    theta = _theta(table, alpha)
    ratio = theta / alpha
    u = table.classes
    between = ((u - 1) - ratio * (psi(ratio + u) - psi(ratio + 1))) / alpha
    within = table.counts * (psi(table.sizes - alpha) - psi(1 - alpha))
    return float(between - within.sum())


def estimate(table: Frequencies, population: int) -> float:
    """Return S_1, the number of people unique in the population; everybody, if everybody is unique in the table."""
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
