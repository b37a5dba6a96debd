"""Sample uniqueness: people whom nobody else in the table matches.

References
----------
C. J. Skinner, M. J. Elliot, "A measure of disclosure risk for microdata", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.risk.base import Exposure, Finding, Risk


@dataclass(frozen=True)
class Uniques(Finding):
    """How small the classes of a table are.

    Attributes
    ----------
    people : float
    classes : int
    uniques, share : float
        People alone in their class, and their share.
    pairs, share_pairs : float
        People in classes of more than one and at most two.
    smallest : float
        People in the smallest class.
    in_population : float
        Uniques who are alone in the population table too; NaN without one.
    """

    people: float
    classes: int
    uniques: float
    share: float
    pairs: float
    share_pairs: float
    smallest: float
    in_population: float


@dataclass(frozen=True)
class SampleUniqueness(Risk):
    """People whom nobody else in the table matches, and people in classes of two.

    Examples
    --------
    >>> found = SampleUniqueness().compute(Exposure.of({"age": [30, 31, 31, 40]}))
    >>> found.uniques, found.share, found.share_pairs
    (2.0, 0.5, 0.5)
    """

    name: ClassVar[str] = "sample-uniqueness"

    def compute(self, exposure: Exposure) -> Uniques:
        """Assess one table."""
        alone = float("nan")
        if exposure.population is not None:
            also = exposure.unique & (exposure.population <= 1)
            alone = float(int(exposure.units[also].sum()) / exposure.unit)
        pairs = ~exposure.unique & (exposure.units <= 2 * exposure.unit)
        return Uniques(
            people=exposure.people,
            classes=len(exposure),
            uniques=float(int(exposure.units[exposure.unique].sum()) / exposure.unit),
            share=exposure.share(exposure.unique),
            pairs=float(int(exposure.units[pairs].sum()) / exposure.unit),
            share_pairs=exposure.share(pairs),
            smallest=float(exposure.counts.min()),
            in_population=alone,
        )
