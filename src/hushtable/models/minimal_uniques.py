"""Bounded minimal uniques.

A set of columns singles out a person if nobody else in the release has the same cells in them. At most a given share
of the people in the release are singled out by ``size`` columns or fewer. (A person who is unique on some columns is
also unique on any superset, so this is the share of people with a minimal unique of up to ``size`` columns, as in the
risk of the same name.) With ``share: 0``, it is k-anonymity with k = 2 and ``subsets`` = ``size``.

The model evaluates the published cells. People in a class of two are not unique on any columns, so algorithms that do
not expose their cells enforce ``sample-uniqueness`` instead, which implies this model. Making cells coarser never
singles anyone out.

When to use
-----------
For tables with many columns and adversaries who know a few of them: the special uniques of official statistics (SUDA).

When not
--------
When an adversary may know more columns than ``size``.

Cost
----
One count for each combination of columns.

References
----------
M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling the special uniques problem", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import Infeasible
from hushtable.models.base import TOLERANCE, Monotone, PrivacyModel, Quantity, Sense, Stat
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.sample_uniqueness import SampleUniques, share_of
from hushtable.params import AtLeast, Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class FewSingledOut(PrivacyModel):
    """At most a given share of people are singled out by a few columns.

    Score: the table's share, for all classes if the table meets the bound; otherwise only for the classes that are
    singled out, and 0 for the others. Satisfied when score <= share.

    Parameters
    ----------
    size : int
        Maximum number of columns known together.
    share : float
        Maximum share of people who are unique on up to ``size`` columns.

    Examples
    --------
    >>> import numpy as np
    >>> cells = {"age": np.array([30, 30, 40]), "city": np.array([1, 2, 1])}
    >>> groups = GroupStats(np.array([1, 1, 8]), cells=cells)
    >>> FewSingledOut(size=1, share=0.1).table_satisfied(groups, Reference.of(10)).tolist()
    [True]
    >>> FewSingledOut(size=2, share=0.1).satisfied(groups, Reference.of(10)).tolist()
    [False, False, True]
    """

    size: Annotated[int, AtLeast(1), "maximum number of columns known together"] = 3
    share: Annotated[float, Between(0, 1, closed="left"), "maximum share of people who are unique on these"] = 0.0

    name: ClassVar[str] = "minimal-uniques"
    bounded_by: ClassVar[str] = "share"
    needs: ClassVar[frozenset[Stat]] = frozenset({Stat.SIZE, Stat.CELLS})
    monotone: ClassVar[Monotone] = Monotone.COARSEN
    sense: ClassVar[Sense] = "<="
    table_level: ClassVar[bool] = True

    @property
    def _counted(self) -> KAnonymity:
        """The model that counts the people who share a combination."""
        return KAnonymity(k=2, subsets=self.size)

    def of_classes(self) -> SampleUniques:
        """Return the bound on people who are unique on all columns."""
        return SampleUniques(share=self.share)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """The table's share of people who are singled out; 0 for classes that do not cause a violation."""
        alone = self._counted.score(groups, table) <= 1 + TOLERANCE
        return share_of(groups, alone, self.share)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The share of people who are singled out."""
        return (Quantity("share", "<=", self.share, self.score(groups, table)),)

    def exposing(self, groups: GroupStats, table: Reference) -> IntArray:
        """Return how many rare combinations each group's cells take part in, column by column."""
        return self._counted.exposing(groups, table)

    def feasible(self, table: Reference) -> Infeasible | None:
        """Infeasible for a table of one person, who is always unique."""
        return self.of_classes().feasible(table)
