"""Journalist risk.

The adversary does not know who is in the table and links it with a register of the population. In a class of F people
of the population the right one is picked with probability 1 / F.

F comes from the policy's population table, if there is one. With a sampling ``fraction``, it is estimated: 1 / F is
replaced by its expectation given the class's size in the table, under a law fitted to all its class sizes (see
``laws/joining.py``). With neither, the table is treated as the whole population and the risk is the prosecutor's.

References
----------
K. El Emam, F. K. Dankar, "Protecting privacy using k-anonymity", 2008; N. Hoshino, "Applying Pitman's sampling
formula to microdata disclosure risk assessment", 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.arrays import FloatArray
from hushtable.laws.joining import register_risk
from hushtable.risk.base import Exposure, Risk
from hushtable.risk.linkage import Comparison, LinkageRisks, Threshold, summarise
from hushtable.risk.sampling import Fraction, Sampling


@dataclass(frozen=True)
class Journalist(Risk):
    """Probability of re-identifying a person through a register of the population: 1 / (people of it in the class).

    Parameters
    ----------
    threshold : float
    comparison : {">", ">="}
    fraction : float, optional
        If given, F is estimated from it even if there is a population table.

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 31]}, population={"age": [30, 30, 30, 30, 31, 31]})
    >>> found = Journalist().compute(table)
    >>> found.basis, found.highest, found.average
    ('population table', 0.5, 0.375)
    >>> Journalist(fraction=0.1).compute(table).basis
    'sampling fraction'
    """

    threshold: Threshold = 0.09
    comparison: Comparison = ">"
    fraction: Fraction = None

    name: ClassVar[str] = "journalist"

    def compute(self, exposure: Exposure) -> LinkageRisks:
        """Assess one table."""
        sampling = Sampling.of(exposure, self.fraction)
        return summarise(exposure, population_risk(exposure, sampling), sampling.basis, self.threshold, self.comparison)


def population_risk(exposure: Exposure, sampling: Sampling) -> FloatArray:
    """Return 1 / F of each class, or its expectation."""
    counted = exposure.population if sampling.basis == "population table" else None
    estimated = None if sampling.basis in ("population table", "table") else sampling.fraction
    return register_risk(exposure.units, exposure.unit, counted, estimated)
