"""delta-presence.

Symbols: low, high (the paper's delta_min and delta_max). For every class, the share of its population that is in the
release lies in [low, high]. So an adversary who knows the population learns little about who is in the table and who
is not.

Needs a population table that contains the people of the release. The share of two merged classes lies between their
shares, so merging two satisfied classes keeps them satisfied (their populations add up). Adding a record raises a
share, removing one lowers it. A class that covers nobody in the population never satisfies the model. People in the
population whom no class covers are ignored.

When to use
-----------
When being in the table is itself the secret (patients of a clinic, members of a register).

When not
--------
If there is no population table that contains the people of the release.

Cost
----
Every class is matched with the population table, whose rows are kept in memory.

References
----------
M. E. Nergiz, M. Atzori, C. Clifton, "Hiding the presence of individuals from shared databases", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible, ParameterError
from hushtable.models.base import Monotone, PrivacyModel, Quantity, Sense, Stat
from hushtable.models.k_map import population_of
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """The share of each class's population that is in the release lies between two bounds.

    Score: how far the share lies outside [low, high]; negative inside. Satisfied when score <= 0.

    Parameters
    ----------
    low, high : float
        Minimum and maximum share.

    Examples
    --------
    >>> groups = GroupStats(np.array([1, 6]), population=np.array([4, 8]))
    >>> DeltaPresence(low=0.1, high=0.5).score(groups, Reference(7, population=12)).tolist()
    [-0.15, 0.25]
    """

    low: Annotated[float, Between(0, 1), "minimum share of a class's population that is in the release"]
    high: Annotated[float, Between(0, 1), "maximum share of a class's population that is in the release"]

    name: ClassVar[str] = "delta-presence"
    bounded_by: ClassVar[float] = 0.0  # the share must not lie outside the range
    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE, Stat.POPULATION})
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ParameterError(
                f"The 'low' parameter of DeltaPresence must not be above 'high'. Got {self.low:g} > {self.high:g}."
            )

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Distance of the share from [low, high], negative inside; infinite without a population."""
        share = _shares(groups)
        return np.maximum(self.low - share, share - self.high)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The share of each group's population that is in the release, once for each bound."""
        share = _shares(groups)
        return Quantity("low", ">=", self.low, share), Quantity("high", "<=", self.high, share)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse if there is no population table; infeasible if too much of the population is in the table.

        Some class's share is at least the overall share. The opposite need not hold: classes may leave people of the
        population uncovered, so nothing is proved about ``low``.
        """
        whole = table.whole()
        population = population_of(whole, self.name)
        if population[0] and float(_shares(whole)[0]) < self.low:
            return None
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The overall share is too large, so some class's share is too."""
        if not population_of(whole, self.name)[0]:
            return Infeasible("The population table has no people.", hint="Provide a larger population table.")
        share = float(_shares(whole)[0])
        return Infeasible(
            f"high={self.high:g} but the table holds {share:.6g} of the whole population, and some class at least as "
            "much.",
            hint=f"Raise high to at least {share:.6g}, or check that the population table is complete.",
        )


def _shares(groups: GroupStats) -> FloatArray:
    population = population_of(groups, DeltaPresence.name)
    share = np.full(len(groups), np.inf)
    np.divide(groups.sizes, population, out=share, where=population > 0)
    return share
