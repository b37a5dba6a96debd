"""k-map, estimated.

Symbol: k. The number of people of the population that each class describes, and the number of people of the table in
classes that describe fewer than k. With a population table, they are counted. With a sampling ``fraction``, F given the
class's f people is estimated (see ``laws/joining.py``): the smallest class is the one with the smallest expected F, and
people below k are those of all classes times the probability that F < k.

References
----------
K. El Emam, F. K. Dankar, "Protecting privacy using k-anonymity", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.laws.joining import fewer_than
from hushtable.params import AtLeast
from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.sampling import Fraction, Sampling


@dataclass(frozen=True)
class KMapFinding(Finding):
    """Number of people of the population that the classes describe.

    Attributes
    ----------
    basis : str
    fraction : float
    k : int
    smallest : float
        People of the population in the class with the fewest, counted or expected.
    below : float
        People of the table in classes with fewer than k, counted or expected.
    share_below : float
    """

    basis: str
    fraction: float
    k: int
    smallest: float
    below: float
    share_below: float


@dataclass(frozen=True)
class KMapEstimate(Risk):
    """People in classes that describe fewer than k people of the population.

    Parameters
    ----------
    k : int
    fraction : float, optional

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 31, 31]}, population={"age": [30, 30, 31, 31, 31, 31]})
    >>> found = KMapEstimate(k=3).compute(table)
    >>> found.smallest, found.below
    (2.0, 1.0)
    >>> found = KMapEstimate(k=3, fraction=0.25).compute(table)
    >>> found.basis, round(found.below, 2)
    ('sampling fraction', 0.77)
    """

    k: Annotated[int, AtLeast(2), "people of the population that a class should describe"] = 5
    fraction: Fraction = None

    name: ClassVar[str] = "k-map"

    def compute(self, exposure: Exposure) -> KMapFinding:
        """Assess one table."""
        sampling = Sampling.of(exposure, self.fraction)
        counted = sampling.counted(exposure)
        if counted is not None:
            smallest, chance = float(counted.min()), (counted < self.k - 1e-9).astype(np.float64)
        else:
            whole = np.maximum(exposure.units // exposure.unit, 1)
            alpha, p = sampling.law(exposure)
            least = float(whole.min())
            smallest = least + (least - alpha) * (1 - p) / p
            chance = fewer_than(self.k, whole, alpha, p)
        share = exposure.mean(chance)
        return KMapFinding(sampling.basis, sampling.fraction, self.k, smallest, share * exposure.people, share)
