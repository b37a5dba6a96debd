"""Bounded population uniqueness.

At most a given share of the population is unique, as estimated from the release with one of four laws of class sizes:
``pitman`` (for small sampling fractions), ``snb`` (for large ones), ``zayatz`` (always defined, often too high) and
``dankar``, a rule that chooses among them. The risks of the same names use the same estimates (``hushtable.laws``).

The size of the population comes from the sampling ``fraction``, or from the policy's population table. A release
without sample uniques has no population uniques. If no estimate exists (``snb`` often has none), the model is
violated.

The laws are fitted to all classes together, so this is a table-level model, and nothing is declared monotone: merging
two large classes changes the fit and may raise the estimate for the remaining uniques.

When to use
-----------
When a regulator limits how many people of a sample may be unique in the population.

When not
--------
When an adversary can know who is in the table: then anyone unique in the table is identified, whether unique in the
population or not.

Cost
----
One fit for every candidate table: a few milliseconds each.

References
----------
F. K. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data sets", 2012;
and those of the laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import PolicyError
from hushtable.laws.frequencies import Frequencies
from hushtable.laws.uniqueness import LAWS, Law, by_rule, population_uniques
from hushtable.models.base import PrivacyModel, Quantity, Sense, Stat
from hushtable.models.sample_uniqueness import those_to_blame
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

SampledFraction = Annotated[
    float | None,
    Between(0, 1, closed="right"),
    "share of the population that is in the table. Defaults to the population table's",
]


@dataclass(frozen=True)
class PopulationUniqueness(PrivacyModel):
    """At most a given share of the population is unique, as estimated from the release.

    Score: the estimated share, for all classes if the table meets the bound; otherwise only for the classes of one
    person, which cause the violation, and 0 for the others. Satisfied when score <= share.

    Parameters
    ----------
    share : float
        Maximum share of the population that is unique.
    law : {"dankar", "pitman", "zayatz", "snb"}
    fraction : float, optional
        Share of the population that is in the table.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[1, 1, 2])
    >>> PopulationUniqueness(share=0.4, law="zayatz", fraction=0.5).satisfied(groups, Reference.of(4)).tolist()
    [True, True, True]
    >>> PopulationUniqueness(share=0.3, law="zayatz", fraction=0.5).satisfied(groups, Reference.of(4)).tolist()
    [False, False, True]
    """

    share: Annotated[float, Between(0, 1, closed="left"), "maximum share of the population that is unique"]
    law: Annotated[Law, "law of class sizes for the estimate; dankar chooses one"] = "dankar"
    fraction: SampledFraction = None

    name: ClassVar[str] = "population-uniqueness"
    bounded_by: ClassVar[str] = "share"
    sense: ClassVar[Sense] = "<="
    table_level: ClassVar[bool] = True

    def stats_needed(self) -> frozenset[Stat]:
        """Require the population, unless ``fraction`` is set."""
        return self.needs if self.fraction is not None else self.needs | {Stat.POPULATION}

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """The estimated share of the table; 0 for classes that do not cause a violation."""
        offsets = groups.table_offsets()
        share = np.zeros(len(groups))
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            if end > start:
                share[start:end] = self._share(groups, slice(start, end), table)
        return those_to_blame(share, groups.units <= groups.unit, self.share)

    def _share(self, groups: GroupStats, own: slice, table: Reference) -> float:
        """The estimate for one candidate table; infinite if there is none."""
        units = groups.units[own]
        found = Frequencies.of_units(units[units > 0], groups.unit)
        if not found.people:
            return math.inf
        fraction = sampled(self.fraction, int(units.sum()) / groups.unit, table, self.name)
        choose = by_rule if self.law == "dankar" else lambda t, n: (self.law, LAWS[self.law](t, n))
        _, population, uniques = population_uniques(found, fraction, choose, self.law)
        return math.inf if math.isnan(uniques) else uniques / population

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The estimated share of the population that is unique."""
        return (Quantity("share", "<=", self.share, self.score(groups, table)),)


def sampled(fraction: float | None, people: float, table: Reference, model: str) -> float:
    """Return the share of the population that is in a table of ``people``, or raise an error if it is unknown.

    Examples
    --------
    >>> sampled(None, 3, Reference(3, population=12), "")
    0.25
    >>> sampled(None, 3, Reference(3), "population-uniqueness")
    Traceback (most recent call last):
    hushtable.errors.PolicyError: population-uniqueness needs to know the population. Give 'fraction', or `population:`
    in the policy.
    """
    if fraction is not None:
        return fraction
    if table.population is None:
        raise PolicyError(
            f"{model} needs to know the population.",
            code="no-population",
            hint="Give 'fraction', or `population:` in the policy.",
        )
    return people / max(table.population, people)
