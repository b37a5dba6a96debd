"""k-anonymity.

A table is k-anonymous when each combination of quasi-identifier values that occurs in it occurs for at least k
people.

When to use
-----------
As the floor of every release: nobody can be picked out of fewer than k people by the quasi-identifiers.

When not
--------
On its own where a sensitive column is published: a class whose people all have the same value discloses it. It does
not survive a second release of the same people.

Cost
----
One comparison per class; the cheapest model.

References
----------
L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; Sun et al. 2011, Definition 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Audited, Monotone, PrivacyModel
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["KAnonymity"]


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least k people.

    Score: the class's size in people. Satisfied when size >= k.

    Parameters
    ----------
    k : int
        Smallest number of people in a class.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 5])
    >>> KAnonymity(k=3).satisfied(groups, Reference.of(7)).tolist()
    [False, True]
    """

    k: Annotated[int, AtLeast(2), "smallest number of people in a class"]

    name: ClassVar[str] = "k-anonymity"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("k", "k", {"k": 2}),)
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    @property
    def bound(self) -> float:
        """Return k."""
        return self.k

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People per group."""
        return groups.sizes

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people."""
        people = table.people
        return Infeasible(
            f"k={self.k} but the table has {people:g} people.",
            hint=f"Lower k to {int(people)} or less, or add records." if people >= 2 else "Add records.",
        )
