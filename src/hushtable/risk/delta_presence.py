"""delta-presence, estimated.

Symbol: delta = f / F, the probability that a person of the population who matches a class is in the table. An
adversary learns most about presence if delta is far from its average.

With a population table, delta is counted; people in it whom no class covers are known to be absent (delta = 0).
With a sampling ``fraction``, delta is replaced by its expectation f E(1 / F | f) (see ``laws/joining.py``). With
neither, the table is the whole population and delta is 1.

References
----------
M. E. Nergiz, M. Atzori, C. Clifton, "Hiding the presence of individuals from shared databases", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.journalist import population_risk
from hushtable.risk.sampling import Fraction, Sampling


@dataclass(frozen=True)
class PresenceFinding(Finding):
    """How much the classes reveal about who is in the table.

    Attributes
    ----------
    basis : str
    fraction : float
        The probability without considering the classes.
    highest, average, lowest : float
        delta of the classes; the average is over the people of the table.
    known_present : float
        People of the table in classes with delta = 1: every match is in it.
    known_absent : float
        People of the population whom no class covers; NaN without a population table.
    """

    basis: str
    fraction: float
    highest: float
    average: float
    lowest: float
    known_present: float
    known_absent: float


@dataclass(frozen=True)
class DeltaPresenceEstimate(Risk):
    """Probability that a person of the population who matches a class is in the table.

    Parameters
    ----------
    fraction : float, optional

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 31, 31]}, population={"age": [30, 30, 31, 31, 40]})
    >>> found = DeltaPresenceEstimate().compute(table)
    >>> found.highest, found.lowest, found.known_present, found.known_absent
    (1.0, 0.5, 2.0, 1.0)
    """

    fraction: Fraction = None

    name: ClassVar[str] = "delta-presence"

    def compute(self, exposure: Exposure) -> PresenceFinding:
        """Assess one table."""
        sampling = Sampling.of(exposure, self.fraction)
        delta = np.minimum(exposure.counts * population_risk(exposure, sampling), 1.0)
        present = delta >= 1.0 - 1e-9
        absent = float("nan")
        if sampling.basis == "population table" and exposure.population is not None:
            absent = float((exposure.population_size or 0) - int(exposure.population.sum()))
        return PresenceFinding(
            basis=sampling.basis,
            fraction=sampling.fraction,
            highest=float(delta.max()),
            average=exposure.mean(delta),
            lowest=float(delta.min()),
            known_present=float(int(exposure.units[present].sum()) / exposure.unit),
            known_absent=absent,
        )
