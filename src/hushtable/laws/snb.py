"""The slide negative binomial law of class sizes, solved for its parameters; see ``risk/snb.py``."""

from __future__ import annotations

import math

import numpy as np

from hushtable.laws.frequencies import Frequencies

_BETAS = 1 / (1 + np.exp(-np.linspace(-14, 14, 281)))


def estimate(table: Frequencies, population: int) -> float:
    """Return S_1, the number of people unique in the population; NaN if no parameters solve the equations."""
    from scipy.optimize import brentq

    once, twice = table.of(1), table.of(2)
    if not twice:
        return math.nan
    pi = table.people / population
    classes = population_classes(table, pi)

    def gap(beta: float) -> float:
        return classes * seen_once_twice(_alpha(beta, pi, twice / once), beta, pi)[0] - once

    gaps = [gap(beta) for beta in _BETAS]
    found = []
    for left, right, before, after in zip(_BETAS, _BETAS[1:], gaps, gaps[1:], strict=False):
        if (before > 0) != (after > 0):
            beta = float(brentq(gap, left, right, xtol=1e-14))
            alpha = _alpha(beta, pi, twice / once)
            unseen = (1 - pi) * (beta / (1 - (1 - beta) * (1 - pi))) ** alpha
            found.append((abs(classes * (1 - unseen) - table.classes), classes * beta**alpha))
    return min(found)[1] if found else math.nan


def population_classes(table: Frequencies, pi: float) -> float:
    """Estimate K, the number of classes in the population, from the table.

    Examples
    --------
    >>> population_classes(Frequencies(np.array([5]), np.array([3])), 0.5)
    3.0
    """
    i, s = table.sizes.astype(np.float64), table.counts.astype(np.float64)
    once = table.of(1)
    if not once:
        return float(table.classes)
    top = (i * pi**2 * (1 - pi**2) ** (i - 1) * s).sum()
    bottom = ((1 - pi) ** i * np.expm1(i * np.log1p(pi)) * s).sum()
    ratio = ((1 - pi) ** i * s).sum() / (i * pi * (1 - pi) ** (i - 1) * s).sum()
    return float(table.classes + once * top / bottom * ratio**2)


def seen_once_twice(alpha: float, beta: float, pi: float) -> tuple[float, float]:
    """P(f = 1) and P(f = 2): the chances that a class of the population has one or two people in the table."""
    q = (1 - beta) * (1 - pi)
    common = (beta / (1 - q)) ** alpha
    once = pi * common * (1 + alpha * q / (1 - q))
    twice = pi**2 * alpha * (1 - beta) * common * (2 - (1 - alpha) * q) / (2 * (1 - q) ** 2)
    return once, twice


def _alpha(beta: float, pi: float, ratio: float) -> float:
    """The alpha for which P(f = 2) / P(f = 1) is ``ratio``: the positive root of a quadratic."""
    q = (1 - beta) * (1 - pi)
    scale = pi * (1 - beta) / (2 * (1 - q))
    a, b, c = scale * q, scale * (2 - q) - ratio * q, -ratio * (1 - q)
    # of the two forms of the root, the one that subtracts nothing
    root = math.sqrt(b * b - 4 * a * c)
    return -2 * c / (b + root) if b >= 0 else (root - b) / (2 * a)
