"""The contribution of each quasi-identifier to the risk.

For each column: the share of people who are unique by it alone, the share who would still be unique if it were not
published, and the same for the average risk (a prosecutor's expected share of correct guesses). A column's contribution
is the difference between all columns and all but this one. A column that adds nothing may still be dangerous if
another one is equivalent: consider its effect alone, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.arrays import IntArray
from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.projection import coarser_units


@dataclass(frozen=True)
class ColumnContribution(Finding):
    """Contribution of one column.

    Attributes
    ----------
    column : str
    distinct : int
        Number of different cells.
    unique_alone : float
        Share of people unique by this column alone.
    unique_without : float
        Share of people unique by the other columns.
    adds_unique : float
        Contribution to the share of uniques.
    risk_alone, risk_without, adds_risk : float
        The same for the average risk.
    """

    column: str
    distinct: int
    unique_alone: float
    unique_without: float
    adds_unique: float
    risk_alone: float
    risk_without: float
    adds_risk: float


@dataclass(frozen=True)
class Contributions(Finding):
    """Contributions of the columns, the largest first.

    Attributes
    ----------
    unique : float
        Share of people unique by all columns.
    risk : float
        Average risk by all columns.
    columns : tuple of ColumnContribution
    """

    unique: float
    risk: float
    columns: tuple[ColumnContribution, ...]


@dataclass(frozen=True)
class AttributeContribution(Risk):
    """Contribution of each quasi-identifier to uniqueness and average risk.

    Examples
    --------
    >>> found = AttributeContribution().compute(Exposure.of({"age": [30, 31, 32, 32], "sex": ["f", "f", "f", "m"]}))
    >>> [(c.column, c.adds_unique, c.unique_alone) for c in found.columns]
    [('age', 0.75, 0.5), ('sex', 0.5, 0.25)]
    """

    name: ClassVar[str] = "attribute-contribution"

    def compute(self, exposure: Exposure) -> Contributions:
        """Assess one table."""
        unique, risk = _shares(exposure.units, exposure.unit)
        found = []
        for j, name in enumerate(exposure.columns):
            own = coarser_units(exposure.codes[j : j + 1], exposure.sizes[j : j + 1], exposure.units)
            rest = coarser_units(
                [*exposure.codes[:j], *exposure.codes[j + 1 :]],
                [*exposure.sizes[:j], *exposure.sizes[j + 1 :]],
                exposure.units,
            )
            unique_alone, risk_alone = _shares(own, exposure.unit)
            unique_without, risk_without = _shares(rest, exposure.unit)
            found.append(
                ColumnContribution(
                    column=name,
                    distinct=len(own),
                    unique_alone=unique_alone,
                    unique_without=unique_without,
                    adds_unique=unique - unique_without,
                    risk_alone=risk_alone,
                    risk_without=risk_without,
                    adds_risk=risk - risk_without,
                )
            )
        # sorting is stable: of equals the one that stands first in the policy
        ranked = sorted(found, key=lambda c: (-c.adds_unique, -c.adds_risk))
        return Contributions(unique, risk, tuple(ranked))


def _shares(units: IntArray, unit: int) -> tuple[float, float]:
    """Return the share of people who are unique, and the average risk."""
    total = int(units.sum())
    unique = int(units[units <= unit].sum())
    return unique / total, float(int(np.minimum(units, unit).sum()) / total)
