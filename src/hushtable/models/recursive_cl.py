"""Recursive (c, l)-diversity.

Symbol: (c, l). Let r1 >= r2 >= ... >= rm be the counts of the sensitive values of a class. The class is (c,
l)-diverse when r1 < c (rl + ... + rm), strictly: the most frequent value is not much more frequent than the rare ones
together. A class with fewer than l distinct values is never diverse.

With an entity column, one person may contribute several values. These do not hide that person, so a class also needs
at least l whole people.

When to use
-----------
When a frequent value is acceptable as long as the rare ones together balance it; c sets how far.

When not
--------
When readers must understand the guarantee: c and l have no simple meaning as probabilities.

Cost
----
Sorts the counts of every class.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; Allard 2023, "Recursive (c,
l)-Diversity".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import TOLERANCE, Audited, Monotone, Sense, SensitiveModel
from hushtable.models.p_sensitive import absent, too_few, whole_people
from hushtable.params import AtLeast, Positive
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class RecursiveCL(SensitiveModel):
    """The most frequent value's count stays below c times the total from the l-th most frequent on.

    Score: r1 / (rl + ... + rm), infinite if there are fewer than l values or whole people. Satisfied when score < c.

    Parameters
    ----------
    c : float
        Upper limit (exclusive) for the most frequent value's count, as a multiple of the rest.
    l : int
        Rank at which the rest begins.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[23], disease=[[7, 6, 5, 3, 1, 1]])
    >>> table = Reference.of(23, Attribute.of("disease", "abcdef", [7, 6, 5, 3, 1, 1]))
    >>> RecursiveCL(c=1, l=3, on="disease").score(groups, table).tolist()
    [0.7]
    >>> RecursiveCL(c=1, l=4, on="disease").satisfied(groups, table).tolist()
    [False]
    """

    c: Annotated[float, Positive(), "limit (exclusive) for the most frequent value, as a multiple of the rest"]
    l: Annotated[int, AtLeast(2), "rank by frequency at which the rest begins"]

    name: ClassVar[str] = "recursive-cl"
    bounded_by: ClassVar[str] = "c"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("recursive_c", "c", {"c": 1.0, "l": 2}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<"

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """r1 / (rl + ... + rm) per group."""
        histogram = self.histogram(groups)
        ratio = _ratio(histogram.max(histogram.units), _rest(histogram, self.l))
        return np.where(whole_people(groups) < self.l, np.inf, ratio)

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return c / (1 + c): the most frequent value is below c times what is left of the group."""
        return np.full(self.attribute(table).n_values, self.c / (1 + self.c)), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that shrink r1 / rest.

        Below l values, the score is infinite, and any new value helps. Values that shrink it without becoming the new
        r1 are preferred. If there are none, values that stay below r1 are marked, because they fill the ranks before
        the l-th.
        """
        histogram, n_values = self.histogram(groups), self.attribute(table).n_values
        # in units: a person added in fractions of a person would be off by a rounding
        count, one = np.rint(histogram.as_matrix(n_values) * histogram.unit), histogram.unit
        descending = -np.sort(-np.pad(count, ((0, 0), (0, self.l))), axis=1)
        top, last_of_head = descending[:, :1], descending[:, self.l - 2 : self.l - 1]
        head = descending[:, : self.l - 1].sum(axis=1, keepdims=True)
        total = histogram.sum(histogram.units)[:, None]
        # A value in the head makes it grow by one; one outside enters it by passing its last member.
        head_then = np.where(count >= last_of_head, head + one, np.maximum(head, head - last_of_head + count + one))
        then = _ratio(np.maximum(top, count + one), total + one - head_then)
        now = _ratio(top, total - head)
        better = then < now * (1 - TOLERANCE)
        below = count + one <= top
        for choice in (below, better & below):
            better = np.where(choice.any(axis=1, keepdims=True), choice, better)
        few = (histogram.distinct() < self.l)[:, None]
        scarce = (whole_people(groups) < self.l)[:, None] & ~few
        return np.where(few, absent(histogram, n_values), better | scarce)

    def values_needed(self) -> int:
        """Return l."""
        return self.l

    def min_group_size(self) -> int:
        """Return l."""
        return self.l

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The whole table is not diverse enough, or there are too few values or people."""
        attribute = self.attribute(table)
        got = float(self.score(whole, table)[0])
        if math.isinf(got):
            return too_few("l", self.l, attribute.n_present(), f"{attribute.name!r}", table)
        return Infeasible(
            f"c={self.c:g} but in the whole of {attribute.name!r} the most frequent value occurs {got:.6g} times "
            f"as often as all values from rank {self.l} on together.",
            hint=f"Raise c above {got:.6g}, or lower l.",
        )


def _rest(histogram: Histogram, l: int) -> FloatArray:
    """Sum from rl to rm per group, in units."""
    # The order of ties does not matter: equal counts give equal sums.
    order = np.lexsort((-histogram.units, histogram.groups))
    return histogram.sum(np.where(histogram.ranks() >= l - 1, histogram.units[order], 0))


def _ratio(top: FloatArray, rest: FloatArray) -> FloatArray:
    empty = np.full(np.broadcast(top, rest).shape, np.inf)
    ratio: FloatArray = np.divide(top, rest, out=empty, where=rest > 0)
    return ratio
