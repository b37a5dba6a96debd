"""The slide negative binomial (SNB) estimator of population uniqueness.

A class of the population has F = 1 + Y people, where Y is negative binomial with alpha > 0 and 0 < beta < 1, so
P(F = 1) = beta^alpha; everybody is in the table with probability pi. With q = (1 - beta)(1 - pi) and
B = beta / (1 - q), the generating function of a class's size f in the table gives

    P(f = 1) = pi B^alpha (1 + alpha q / (1 - q)),
    P(f = 2) = pi^2 alpha (1 - beta) B^alpha (2 - (1 - alpha) q) / (2 (1 - q)^2).

The number K of classes in the population is estimated first, by Shlosser's estimator as modified by Haas and Stokes;
alpha and beta solve K P(f = 1) = s_1 and K P(f = 2) = s_2, and S_1 = K beta^alpha. The ratio of the two equations is
quadratic in alpha, so one search over beta finds every solution; if there are several, the one that best matches the
number of classes in the table, K (1 - P(f = 0)) = u, is used. There is no answer (NaN) if no parameters solve them: for
instance, without classes of two, or if sizes vary less than a Poisson variable would.

References
----------
G. Chen, S. Keller-McNulty, "Estimation of identification disclosure risk in microdata", 1998; P. J. Haas, L. Stokes,
"Estimating the number of classes in a finite population", 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.risk.uniqueness import UniquenessEstimator


@dataclass(frozen=True)
class SlideNegativeBinomial(UniquenessEstimator):
    """People unique in the population, from a slide negative binomial law of class sizes; best for large samples.

    Parameters
    ----------
    fraction : float, optional

    Examples
    --------
    >>> from hushtable.risk.base import Exposure
    >>> table = Exposure.of({"age": [1] * 9 + [2] * 4 + [3, 3, 4, 4, 5, 6, 7]})
    >>> found = SlideNegativeBinomial(fraction=0.5).compute(table)
    >>> found.sample_uniques, round(found.uniques, 2)
    (3, 1.91)
    """

    name: ClassVar[str] = "snb"
