"""Bounded sample uniqueness.

At most a given share of the people of the release are alone in their class. The share depends on all classes
together, so this is a table-level model. Merging classes never raises it. Adding a record may, if one person's
records are in several classes (``entity``): the fraction of a person that is alone in a class may grow.

When to use
-----------
When a rule limits how many people may be unique ("fewer than 5% sample uniques") and k-anonymity would cost too much.

When not
--------
As the only protection of unique people: anyone who knows that they are in the table can identify them.

Cost
----
One number per class, but evaluated over the whole table at every step.

References
----------
C. J. Skinner, M. J. Elliot, "A measure of disclosure risk for microdata", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, PrivacyModel, Quantity, Sense, compare
from hushtable.params import Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class SampleUniques(PrivacyModel):
    """At most a given share of people are alone in their class.

    Score: the table's share, for all classes if the table meets the bound; otherwise only for the classes of one
    person, which cause the violation, and 0 for the others. Satisfied when score <= share.

    Parameters
    ----------
    share : float
        Maximum share of people who are alone in their class.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[1, 9])
    >>> SampleUniques(share=0.1).satisfied(groups, Reference.of(10)).tolist()
    [True, True]
    >>> SampleUniques(share=0.05).satisfied(groups, Reference.of(10)).tolist()
    [False, True]
    """

    share: Annotated[float, Between(0, 1, closed="left"), "maximum share of people who are alone in their class"]

    name: ClassVar[str] = "sample-uniqueness"
    bounded_by: ClassVar[str] = "share"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="
    table_level: ClassVar[bool] = True

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """The table's share of uniques; 0 for classes that do not cause a violation."""
        return share_of(groups, groups.units <= groups.unit, self.share)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The share of uniques."""
        return (Quantity("share", "<=", self.share, self.score(groups, table)),)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has one person."""
        return Infeasible(
            f"share={self.share:g} but the table has one person, who is always unique.",
            hint="Add records.",
        )


def per_table(groups: GroupStats, values: FloatArray) -> FloatArray:
    """Sum over the candidate table that each group belongs to, one number per group.

    Examples
    --------
    >>> per_table(GroupStats.of(sizes=[1, 2]), np.array([1.0, 2.0])).tolist()
    [3.0, 3.0]
    """
    offsets = groups.table_offsets()
    running = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(np.repeat(running[offsets[1:]] - running[offsets[:-1]], np.diff(offsets)))


def share_of(groups: GroupStats, exposed: BoolArray, bound: float) -> FloatArray:
    """Return each table's share of people in exposed groups; if it is too large, 0 for the other groups.

    Examples
    --------
    >>> share_of(GroupStats.of(sizes=[1, 3]), np.array([True, False]), 0.1).tolist()
    [0.25, 0.0]
    """
    people = per_table(groups, groups.units.astype(np.float64))
    found = per_table(groups, np.where(exposed, groups.units, 0).astype(np.float64))
    share = np.divide(found, people, out=np.full(len(groups), np.inf), where=people > 0)
    return those_to_blame(share, exposed, bound)


def those_to_blame(share: FloatArray, blamed: BoolArray, bound: float) -> FloatArray:
    """Keep a table's score for all groups if it meets the bound, otherwise only for the groups to blame.

    Examples
    --------
    >>> those_to_blame(np.array([0.4, 0.4]), np.array([True, False]), 0.1).tolist()
    [0.4, 0.0]
    """
    return np.where(blamed | compare(share, "<=", bound), share, 0.0)
