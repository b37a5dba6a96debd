"""The relation of the table to the population it was drawn from; see ``laws/joining.py`` for its consequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.laws.frequencies import Frequencies
from hushtable.laws.joining import continued
from hushtable.params import Between
from hushtable.risk.base import Exposure

Fraction = Annotated[
    float | None,
    Between(0, 1, closed="right"),
    "share of the population that is in the table. Defaults to the population table's, the survey weights', or 1",
]


@dataclass(frozen=True)
class Sampling:
    """The population behind a table.

    Attributes
    ----------
    basis : str
        ``population table``: classes are counted in it. ``sampling fraction``, ``survey weights``: they are estimated.
        ``table``: the table is treated as the whole population, the worst case, because nothing else is known.
    fraction : float
        Share of the population that is in the table.
    population : int
        Number of people in the population.

    Examples
    --------
    >>> Sampling.of(Exposure.of({"age": [30, 31]}), 0.1)
    Sampling(basis='sampling fraction', fraction=0.1, population=20)
    >>> Sampling.of(Exposure.of({"age": [30, 31]}), None)
    Sampling(basis='table', fraction=1.0, population=2)
    """

    basis: str
    fraction: float
    population: int

    @classmethod
    def of(cls, exposure: Exposure, fraction: float | None) -> Sampling:
        """Take the given fraction, the population table, the survey weights or the table itself, in this order."""
        people = exposure.people
        if fraction is not None:
            return cls("sampling fraction", fraction, max(round(people / fraction), 1))
        size = exposure.population_size
        if exposure.population is not None and size:
            # everyone in the table is in the population, even if its table disagrees
            size = max(size, round(people))
            return cls("population table", min(people / size, 1.0), size)
        if exposure.weighted is not None:
            size = max(round(float(exposure.weighted.sum())), round(people), 1)
            return cls("survey weights", min(people / size, 1.0), size)
        return cls("table", 1.0, max(round(people), 1))

    def counted(self, exposure: Exposure) -> FloatArray | None:
        """Return F of each class if it is known: from the population table, or from the table itself."""
        if self.basis == "population table" and exposure.population is not None:
            return np.maximum(exposure.population.astype(np.float64), np.maximum(exposure.counts, 1.0))
        return np.maximum(exposure.counts, 1.0) if self.basis == "table" else None

    def law(self, exposure: Exposure) -> tuple[float, float]:
        """Return alpha and p of the law of F given f, fitted to the table."""
        return continued(Frequencies(*exposure.frequencies()), self.fraction)
