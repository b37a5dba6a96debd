"""Bounded household risk.

Anyone who identifies one member of a household identifies all. With m members in classes of n_1, ..., n_m people, a
household is identified with probability 1 - (1 - 1 / n_1) ... (1 - 1 / n_m). The release does not show who lives
together, so the guarantee covers every possible household: a class is satisfied if a household of ``size`` members,
all of them in classes as small as this one, meets the bound,

    1 - (1 - 1 / n)^size <= maximum.

Then so does every household of up to ``size`` members, in whichever classes its members are. This can be verified
from the published classes alone. If the policy has a column with the role ``cluster``, its largest household must not
be larger than ``size``. The risk ``household`` applies the same formula to the real households and never exceeds this
bound.

When to use
-----------
For household surveys, or tables with families, if each member is a separate record.

When not
--------
When the release shows who lives together (a household number): then protect the household as a unit.

Cost
----
Negligible.

References
----------
A. Hundepool et al., "Statistical Disclosure Control", 2012 (its section on household risk).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible, counted
from hushtable.laws.joining import any_member_found
from hushtable.models.base import TOLERANCE, Monotone, PrivacyModel, Sense
from hushtable.params import AtLeast, Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class HouseholdRisk(PrivacyModel):
    """The probability that any member of a household is re-identified is bounded.

    Score: 1 - (1 - 1 / people)^size. Satisfied when score <= maximum.

    Parameters
    ----------
    maximum : float
        Maximum risk of a household.
    size : int
        Number of members of the largest household.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[10, 20])
    >>> HouseholdRisk(maximum=0.2, size=4).satisfied(groups, Reference.of(30)).tolist()
    [False, True]
    """

    maximum: Annotated[float, Between(0, 1, closed="neither"), "maximum risk of a household"]
    size: Annotated[int, AtLeast(2), "number of members of the largest household"]

    name: ClassVar[str] = "household"
    bounded_by: ClassVar[str] = "maximum"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """The risk of a household with all its members in classes of each group's size."""
        risk = groups.unit / np.maximum(groups.units, groups.unit)
        found = any_member_found(np.repeat(risk, self.size), np.repeat(np.arange(len(groups)), self.size))
        return np.where(groups.units > 0, found, np.inf)

    def min_group_size(self) -> int:
        """Return the smallest class for which the risk is low enough, rounded down."""
        return max(1, math.floor((1 - TOLERANCE) / -math.expm1(math.log1p(-self.maximum) / self.size)))

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse households larger than the policy's ``size``."""
        if table.household > self.size:
            return Infeasible(
                f"size={self.size} but the largest household of the table has {table.household} members.",
                hint=f"Raise size to {table.household}.",
            )
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has too few people."""
        got = float(self.score(whole, table)[0])
        return Infeasible(
            f"maximum={self.maximum:g} but the table has {counted(round(table.people), 'person', 'people')}: even as "
            f"one class, a household of size={self.size} has risk {got:.6g}.",
            hint=f"Raise maximum to {got:.6g} or more, or add records.",
        )
