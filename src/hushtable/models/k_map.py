"""k-map.

Symbol: k. Every class of the release covers at least k people of the population table, no matter how few of them are
in the release: an adversary who does not know who was sampled has k candidates.

Needs a population table with the same quasi-identifiers. Adding records and merging classes can only widen what a
class covers. Removing records is not declared safe: the published cells may shrink to the remaining records and cover
fewer people of the population.

When to use
-----------
When the table is a sample of a known population and the adversary does not know who was drawn.

When not
--------
When the adversary knows that a person is in the table (the prosecutor): then use k-anonymity.

Cost
----
Every class is matched with the population table, whose rows are kept in memory.

References
----------
L. Sweeney, "Computational disclosure control", 2001; K. El Emam, F. K. Dankar, "Protecting privacy using
k-anonymity", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import Infeasible, PolicyError, counted
from hushtable.models.base import Monotone, PrivacyModel, Stat
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every class covers at least k people of the population.

    Score: people in the population table whom the class covers. Satisfied when people >= k.

    Parameters
    ----------
    k : int
        Minimum number of people of the population in a class.

    Examples
    --------
    >>> groups = GroupStats(np.array([1, 2]), population=np.array([7, 3]))
    >>> KMap(k=5).satisfied(groups, Reference(3, population=10)).tolist()
    [True, False]
    """

    k: Annotated[int, AtLeast(2), "minimum number of people of the population in a class"]

    name: ClassVar[str] = "k-map"
    bounded_by: ClassVar[str] = "k"
    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE, Stat.POPULATION})
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People of the population per group."""
        return population_of(groups, self.name).astype(np.float64)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse if there is no population table; infeasible if it has fewer than k people."""
        population_of(table.whole(), self.name)
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The population has fewer than k people."""
        people = int(population_of(whole, self.name)[0])
        return Infeasible(
            f"k={self.k} but the population table has {counted(people, 'person', 'people')}.",
            hint=f"Lower k to {people} or less, or provide a larger population table."
            if people >= 2
            else "Provide a larger population table.",
        )


def population_of(groups: GroupStats, model: str) -> IntArray:
    """Return the population of each group, or raise an error if the policy has no population table.

    Examples
    --------
    >>> population_of(GroupStats.of(sizes=[3]), "k-map")
    Traceback (most recent call last):
    hushtable.errors.PolicyError: k-map needs a population table. Give `population:` in the policy.
    """
    if groups.population is None:
        raise PolicyError(
            f"{model} needs a population table.", code="no-population", hint="Give `population:` in the policy."
        )
    return groups.population
