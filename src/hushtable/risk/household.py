"""Household risk: a household is found if one of its members is.

Members of a household are published as separate records, but finding one of them means finding the others: they are
known to live together. If r_i is the risk of member i, independent of the others, the household's risk is

1 - (1 - r_1)(1 - r_2) ... (1 - r_m),

which applies to every member. r_i is the individual risk by survey weights (see ``risk/individual.py``), or with a
sampling ``fraction``; with neither, that of a prosecutor, 1 / (people in the class). Only members in the table count:
in a release, those who are published.

References
----------
A. Hundepool et al., "Statistical Disclosure Control", 2012 (its section on household risk); M. Templ, A. Kowarik,
B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.errors import UsageError
from hushtable.laws.joining import any_member_found
from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.individual import individual_risk
from hushtable.risk.linkage import Comparison, Threshold, above
from hushtable.risk.sampling import Fraction


@dataclass(frozen=True)
class HouseholdFinding(Finding):
    """Risks of the households of a table.

    Attributes
    ----------
    basis : str
        Source of a member's risk: ``survey weights``, ``sampling fraction`` or ``table``.
    households : int
    largest : int
        Members of the largest household.
    highest, average : float
        Over people: a person has the household's risk.
    expected : float
        Expected number of people found, by themselves or through their household.
    expected_households : float
    threshold : float
    comparison : str
    at_risk : float
        People whose household is at risk.
    share_at_risk : float
    """

    basis: str
    households: int
    largest: int
    highest: float
    average: float
    expected: float
    expected_households: float
    threshold: float
    comparison: str
    at_risk: float
    share_at_risk: float


@dataclass(frozen=True)
class Household(Risk):
    """Probability that a member of a household is re-identified, and thereby all its members.

    Parameters
    ----------
    threshold : float
    comparison : {">", ">="}
    fraction : float, optional

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 30, 31, 31]}, households=[0, 0, 1, 2])
    >>> found = Household().compute(table)
    >>> found.highest, found.expected_households
    (0.75, 1.75)
    """

    threshold: Threshold = 0.09
    comparison: Comparison = ">"
    fraction: Fraction = None

    name: ClassVar[str] = "household"

    def applies(self, exposure: Exposure) -> bool:
        """Whether the policy says who lives together."""
        members = exposure.members
        return members is not None and members.table.survey is not None and len(members.table.survey.households) > 0

    def compute(self, exposure: Exposure) -> HouseholdFinding:
        """Assess one table."""
        members = exposure.members
        if members is None or members.table.survey is None or not self.applies(exposure):
            exposure.detailed()  # says where nothing is known of records
            raise UsageError(
                "Household risk needs a column of households.",
                code="no-cluster",
                hint="Give the role 'cluster' to the column that identifies each record's household.",
            )
        risk, basis = exposure.risks, "table"
        if self.fraction is not None or exposure.weighted is not None:
            risk, basis, _ = individual_risk(exposure, self.fraction)
        _, home = np.unique(members.table.survey.households[members.rows], return_inverse=True)
        found = any_member_found(risk[members.classes], home)
        size = np.bincount(home)
        exposed = above(found, self.comparison, self.threshold)
        people = len(home)
        return HouseholdFinding(
            basis=basis,
            households=len(found),
            largest=int(size.max()),
            highest=float(found.max()),
            average=float((found * size).sum() / people),
            expected=float((found * size).sum()),
            expected_households=float(found.sum()),
            threshold=self.threshold,
            comparison=self.comparison,
            at_risk=float(size[exposed].sum()),
            share_at_risk=float(size[exposed].sum() / people),
        )
