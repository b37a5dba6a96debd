"""Bounded journalist risk.

The adversary has a register of the population and does not know who is in the table. In a class that covers F people
of the population, the adversary picks the right one with probability 1 / F. This risk is bounded for everyone
(``maximum``).

F is counted in the policy's population table. Then each class is evaluated by itself, adding records and merging
classes can only widen what it covers, and the model is k-map with k = 1 / maximum. With a sampling ``fraction``
instead, 1 / F is replaced by its expectation given the number of people of the class in the table, by a law fitted to
the whole release (``hushtable.laws.joining``). Then the table is evaluated as a whole, and nothing is declared
monotone. Risks are not rounded: 1/11 = 0.0909 exceeds 0.09.

When to use
-----------
When a rule bounds the risk of a sample (0.09 for published clinical reports) and nobody knows who was sampled.

When not
--------
When an adversary can know that a person is in the table: ``average-risk`` with ``maximum`` bounds that risk.

Cost
----
With a population table, matches every class with it. With a fraction, fits a law for every candidate table.

References
----------
K. El Emam, "Guide to the de-identification of personal health information", 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible, counted
from hushtable.laws.joining import register_risk
from hushtable.models.base import Monotone, PrivacyModel, Sense, Stat
from hushtable.models.k_map import population_of
from hushtable.models.population_uniqueness import SampledFraction
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class JournalistRisk(PrivacyModel):
    """The probability of re-identifying any person through a population register is bounded.

    Score: 1 / (people of the population in the class), or its expectation. Satisfied when score <= maximum.

    Parameters
    ----------
    maximum : float
        Maximum risk of any person.
    fraction : float, optional
        Share of the population that is in the table, if there is no population table.

    Examples
    --------
    >>> groups = GroupStats(np.array([1, 2]), population=np.array([12, 11]))
    >>> JournalistRisk(maximum=0.09).satisfied(groups, Reference(3, population=23)).tolist()
    [True, False]
    """

    maximum: Annotated[float, Between(0, 1, closed="right"), "maximum risk of any person"]
    fraction: SampledFraction = None

    name: ClassVar[str] = "journalist"
    bounded_by: ClassVar[str] = "maximum"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fraction is not None:
            # an estimate depends on all classes, so the instance declares less than its class
            object.__setattr__(self, "table_level", True)
            object.__setattr__(self, "monotone", Monotone.NONE)

    def stats_needed(self) -> frozenset[Stat]:
        """Require the population, unless ``fraction`` is set."""
        return self.needs if self.fraction is not None else self.needs | {Stat.POPULATION}

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Each group's risk."""
        return found_in_register(groups, self.fraction, self.name)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse if there is neither a population table nor a fraction."""
        if self.fraction is None:
            population_of(table.whole(), self.name)
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The population has too few people."""
        people = max(int(population_of(whole, self.name)[0]), 1)
        return Infeasible(
            f"maximum={self.maximum:g} but the population table has {counted(people, 'person', 'people')}, and at "
            f"least {math.ceil(1 / self.maximum)} are needed.",
            hint=f"Raise maximum to {1 / people:.6g} or more, or provide a larger population table.",
        )


def found_in_register(groups: GroupStats, fraction: float | None, model: str) -> FloatArray:
    """Return the probability of a correct link in each group; infinite for groups without people.

    Examples
    --------
    >>> found_in_register(GroupStats(np.array([1, 2]), population=np.array([4, 1])), None, "journalist").tolist()
    [0.25, 0.5]
    """
    risk = np.full(len(groups), np.inf)
    population = population_of(groups, model) if fraction is None else None
    offsets = groups.table_offsets() if fraction is not None else np.array([0, len(groups)])
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        own = start + np.flatnonzero(groups.units[start:end] > 0)
        if len(own):
            counted = None if population is None else population[own]
            risk[own] = register_risk(groups.units[own], groups.unit, counted, fraction)
    return risk
