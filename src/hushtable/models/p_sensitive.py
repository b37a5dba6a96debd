"""p-sensitivity: the p condition of p-sensitive k-anonymity.

Symbol: p. In every class, the sensitive column has at least p distinct values. For the k of p-sensitive k-anonymity,
add ``k-anonymity``. If p > k, the effective k is p, since p distinct values need p people.

With an entity column, one person may contribute several values. These do not hide that person, so the score is capped
at the number of whole people in the class.

When to use
-----------
With k-anonymity, to prevent classes with a single sensitive value. The weakest protection of values, with the least
loss.

When not
--------
When values are skewed (99 of one and one of another satisfy p = 2) or have nearly the same meaning.

Cost
----
Linear in the distinct values of the classes.

References
----------
T. M. Truta, B. Vinay, "Privacy protection: p-sensitive k-anonymity property", 2006; Sun et al. 2011, Definition 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, SensitiveModel
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class DistinctValues(SensitiveModel):
    """Every class contains at least as many distinct sensitive values as the bound, capped at its whole people."""

    by_support: ClassVar[bool] = True
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Distinct values per group, capped at its number of whole people."""
        return np.minimum(self.histogram(groups).distinct(), whole_people(groups)).astype(np.float64)

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values new to the group; all values if it has fewer people than values."""
        histogram = self.histogram(groups)
        new = absent(histogram, self.attribute(table).n_values)
        return new | (histogram.distinct() > whole_people(groups))[:, None]

    def values_needed(self) -> int:
        """Return the bound."""
        return int(self.bound)

    def min_group_size(self) -> int:
        """Return the bound."""
        return int(self.bound)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The column has fewer values than the bound, or the table fewer people."""
        attribute = self.attribute(table)
        return too_few(str(self.bounded_by), self.bound, attribute.n_present(), f"{attribute.name!r}", table)


@dataclass(frozen=True)
class PSensitive(DistinctValues):
    """Every class contains at least p distinct sensitive values.

    Score: number of distinct values, capped at the number of whole people. Satisfied when score >= p.

    Parameters
    ----------
    p : int
        Minimum number of distinct values in a class.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[4, 0, 0], [2, 1, 1]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "cancer", "flu"], [6, 1, 1]))
    >>> PSensitive(p=2, on="disease").satisfied(groups, table).tolist()
    [False, True]
    """

    p: Annotated[int, AtLeast(2), "minimum number of distinct sensitive values in a class"]

    name: ClassVar[str] = "p-sensitive"
    bounded_by: ClassVar[str] = "p"


def whole_people(groups: GroupStats) -> IntArray:
    """People per group, rounded down.

    Examples
    --------
    >>> whole_people(GroupStats(np.array([7, 12]), unit=6)).tolist()
    [1, 2]
    """
    return groups.units // groups.unit


def alone(groups: GroupStats) -> FloatArray:
    """One over each group's number of whole people: an adversary's minimum confidence, regardless of shares.

    Examples
    --------
    >>> alone(GroupStats(np.array([5, 12]), unit=6)).tolist()
    [inf, 0.5]
    """
    people = whole_people(groups)
    return np.asarray(np.divide(1.0, people, out=np.full(len(groups), np.inf), where=people > 0))


def absent(histogram: Histogram, n_values: int) -> BoolArray:
    """(group x value): the value is absent from the group.

    Examples
    --------
    >>> absent(Histogram.dense([[2, 0, 1]]), 3).tolist()
    [[False, True, False]]
    """
    out = np.ones((len(histogram), n_values), dtype=np.bool_)
    out[histogram.groups, histogram.values] = False
    return out


def too_few(
    symbol: str,
    needed: float,
    got: int,
    where: str,
    table: Reference,
    nouns: tuple[str, str] = ("distinct value", "distinct values"),
) -> Infeasible:
    """Return the error that a column has too few values, or the table too few people.

    Examples
    --------
    >>> raise too_few("p", 5, 4, "'disease'", Reference.of(9))
    Traceback (most recent call last):
    hushtable.errors.Infeasible: p=5 but 'disease' has 4 distinct values. Lower p to 4 or less.
    """
    if got >= needed:
        got, where, nouns = int(table.people), "the table", ("person", "people")
    hint = f"Lower {symbol} to {got} or less." if got >= 2 else f"No {symbol} above 1 can hold."
    return Infeasible(f"{symbol}={needed:g} but {where} has {got} {nouns[got != 1]}.", hint=hint)
