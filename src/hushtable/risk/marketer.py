"""Marketer risk.

The adversary links everybody and accepts mistakes: what counts is the number of correct links. A class with
f people in the table and F in the population gives f / F correct links, so the share is

    (1 / n) sum over classes of f / F.

F comes from the population table, is estimated with a sampling ``fraction``, or is f if neither is known; then the
share is (number of classes) / n. F is at least f, and at least one person.

References
----------
F. K. Dankar, K. El Emam, "A method for evaluating marketer re-identification risk", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.journalist import population_risk
from hushtable.risk.sampling import Fraction, Sampling


@dataclass(frozen=True)
class MarketerFinding(Finding):
    """Correct links of an adversary who links every record.

    Attributes
    ----------
    basis : str
        ``table``, ``population table`` or ``sampling fraction``.
    people : float
    expected : float
        Expected number of correct links.
    share : float
    """

    basis: str
    people: float
    expected: float
    share: float


@dataclass(frozen=True)
class Marketer(Risk):
    """Share of correct links when an adversary links every record.

    Parameters
    ----------
    fraction : float, optional

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 31, 31]}, population={"age": [30, 30, 31, 31, 31, 31]})
    >>> Marketer().compute(table).expected
    1.0
    >>> Marketer(fraction=1).compute(table).expected
    2.0
    """

    fraction: Fraction = None

    name: ClassVar[str] = "marketer"

    def compute(self, exposure: Exposure) -> MarketerFinding:
        """Assess one table."""
        sampling = Sampling.of(exposure, self.fraction)
        share = exposure.mean(population_risk(exposure, sampling))
        return MarketerFinding(sampling.basis, exposure.people, share * exposure.people, share)
