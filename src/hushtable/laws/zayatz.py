"""Zayatz's law: a population whose classes have the sizes of the table's; see ``risk/zayatz.py``."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.laws.frequencies import Frequencies


def estimate(table: Frequencies, population: int) -> float:
    """Return S_1, the number of people unique in the population."""
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
