"""Bounded marketer risk.

The adversary links everyone through a population register and accepts mistakes. In a class with f people in the table
and F in the population, f / F people are expected to be linked correctly. The share of all people,

    (1 / n) sum over classes of f / F,

is bounded. F is counted in the policy's population table, or estimated from a sampling ``fraction`` as for
``journalist``.

The share depends on all classes together, so this is a table-level model. With a population table, merging classes
never raises it: (f + g) / (F + G) is at most the larger of f / F and g / G, so at most their sum. With a fraction,
the law of F is fitted to all classes, and nothing is declared monotone.

When to use
-----------
When a rule bounds the expected share of correct links, as for data that is sold or widely shared.

When not
--------
When individual people matter: a few may be identified with certainty as long as the average is low. Add ``journalist``.

Cost
----
As for ``journalist``, but evaluated over the whole table at every step.

References
----------
F. K. Dankar, K. El Emam, "A method for evaluating marketer re-identification risk", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, PrivacyModel, Quantity, Sense, Stat, compare
from hushtable.models.journalist import found_in_register
from hushtable.models.k_map import population_of
from hushtable.models.population_uniqueness import SampledFraction
from hushtable.models.sample_uniqueness import per_table
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class MarketerRisk(PrivacyModel):
    """The share of correct links when an adversary links every record is bounded.

    Score: the table's share for all classes if the table meets the bound; otherwise the risk of each class, so that
    the classes that cause the violation stand out. Satisfied when score <= share.

    Parameters
    ----------
    share : float
        Maximum share of correct links.
    fraction : float, optional
        Share of the population that is in the table, if there is no population table.

    Examples
    --------
    >>> groups = GroupStats(np.array([1, 2]), population=np.array([2, 4]))
    >>> MarketerRisk(share=0.34).satisfied(groups, Reference(3, population=6)).tolist()
    [True, True]
    >>> MarketerRisk(share=0.3).satisfied(groups, Reference(3, population=6)).tolist()
    [False, True]
    """

    share: Annotated[float, Between(0, 1, closed="right"), "maximum share of correct links"]
    fraction: SampledFraction = None

    name: ClassVar[str] = "marketer"
    bounded_by: ClassVar[str] = "share"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="
    table_level: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fraction is not None:
            # an estimate depends on all classes, so the instance declares less than its class
            object.__setattr__(self, "monotone", Monotone.NONE)

    def stats_needed(self) -> frozenset[Stat]:
        """Require the population, unless ``fraction`` is set."""
        return self.needs if self.fraction is not None else self.needs | {Stat.POPULATION}

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """The table's share of correct links, or the risk of each group if that share is too large."""
        risk = found_in_register(groups, self.fraction, self.name)
        known = np.where(np.isfinite(risk), risk, 1.0)
        people = per_table(groups, groups.units.astype(np.float64))
        linked = per_table(groups, known * groups.units)
        share = np.divide(linked, people, out=np.full(len(groups), np.inf), where=people > 0)
        return np.where(compare(share, "<=", self.share) & np.isfinite(risk), share, np.maximum(risk, 0.0))

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The share of correct links."""
        return (Quantity("share", "<=", self.share, self.score(groups, table)),)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse if there is neither a population table nor a fraction."""
        if self.fraction is None:
            population_of(table.whole(), self.name)
        return super().feasible(table)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The population has too few people."""
        got = float(found_in_register(whole, self.fraction, self.name)[0])
        return Infeasible(
            f"share={self.share:g} but even with the whole table as one class, the share is {got:.6g}.",
            hint=f"Raise share to {got:.6g} or more, or provide a larger population table.",
        )
