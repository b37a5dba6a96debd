"""Pitman's estimator of population uniqueness.

The class sizes of the population are those of Pitman's random partition, and a sample of such a population has class
sizes of the same law, so its parameters can be fitted to the table (see ``laws/pitman.py``). The estimate is the
expected number of people alone in their class,

    S_1 = N Gamma(theta + alpha + N - 1) Gamma(theta + 1) / (Gamma(theta + alpha) Gamma(theta + N)),

which Hoshino writes in its limit of large N, Gamma(theta + 1) / Gamma(theta + alpha) N^alpha. If everybody in the table
is unique, the likelihood grows toward alpha = 1, and S_1 is N.

References
----------
N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.risk.uniqueness import UniquenessEstimator


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
