"""Privacy skyline: bounded belief under three kinds of background knowledge.

Symbol: (l, k, m) and c. About a person t and a value s the adversary knows

- on the target: l values that t does not have;
- on others: the values of k other people;
- on families: m other people such that, if one of them has s, t has s too (same-value families).

All worlds consistent with the classes and this knowledge are equally likely. The belief that t has s must stay below
c for every t and s, and for any values and people that the adversary knows about. To require a skyline of such
points, list the model several times with different (l, k, m); each point implies all points below it.

Let t's class have n people, n_s of them with s, and X of them with one of the l most frequent other values. Given the
knowledge, the belief is 1 / (1 + R), where R = P(neither t nor any of the m has s) / P(t has s), and

    R = (n - n_s - X - k) / n_s  *  prod over i < m of  (n - k - 1 - n_s - i) / (n - k - 1 - i)

if all k + m people are in t's class. Each additional person in the same class reveals more than the one before. So R
is smallest when the m are in one class, and the k are in one class: t's class or that of the m, which may differ.
There, the probability that m people do not have s is prod over i < m of (n' - k' - n'_s - i) / (n' - k' - i), where
the class has n' people, n'_s of them with s, and k' is k or 0. The model compares the three cases, with the best
other class for each value.

With m = 0, classes are evaluated one by one; families make it a table-level model. Merging classes never makes the
result worse; adding or removing a record may. With an entity column, one person may contribute several values. These
do not hide that person, so a class counts only as many values as it has whole people.

When to use
-----------
When you know what kinds of facts an adversary may collect, and how many of each.

When not
--------
When a column has l + 1 values or fewer: l statements rule out all but one of them.

Cost
----
Linear in the distinct values of the classes.

References
----------
B.-C. Chen, K. LeFevre, R. Ramakrishnan, "Privacy skyline: privacy with multidimensional adversarial knowledge", VLDB
2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, run_starts
from hushtable.errors import Infeasible, counted
from hushtable.models.base import TOLERANCE, Monotone, Sense, SensitiveModel
from hushtable.models.ck_safety import rarer
from hushtable.models.p_sensitive import whole_people
from hushtable.params import AtLeast, Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram


def struck_out(histogram: Histogram, l: int) -> FloatArray:
    """Return, for every entry, the number of people with one of the l most frequent other values of its group.

    Examples
    --------
    >>> struck_out(Histogram.dense([[3, 2, 1]]), 1).tolist()
    [2.0, 3.0, 3.0]
    """
    order = histogram.descending()
    counts, rank, group = histogram.counts[order], histogram.ranks(), histogram.groups
    top = histogram.sum(np.where(rank < l, counts, 0.0))[group]
    next_one = histogram.sum(np.where(rank == l, counts, 0.0))[group]
    out = np.empty(len(counts))
    # an entry among the first l is replaced by the next one
    out[order] = np.where(rank < l, top - counts + next_one, top)
    return out


def _without(people: FloatArray, having: FloatArray, m: int) -> FloatArray:
    """Return the probability that none of m people drawn from ``people`` has a value."""
    chance = np.ones(len(people))
    for i in range(m):
        left = people - i
        chance *= np.divide(np.maximum(left - having, 0.0), left, out=np.zeros(len(left)), where=left > 0)
    return chance


def beliefs(histogram: Histogram, l: int, k: int, m: int, table: IntArray | None = None) -> FloatArray:
    """Return, for every entry, the belief that a person in its group has its value, given the worst such knowledge.

    Parameters
    ----------
    histogram : Histogram
    l, k, m : int
        Numbers of facts about the target, about others and about families.
    table : int64 array, optional
        The candidate table of each group. Defaults to a single table.

    Examples
    --------
    >>> one = Histogram.dense([[2, 2, 1]])
    >>> beliefs(one, 0, 0, 0).tolist(), beliefs(one, 1, 0, 0).round(3).tolist(), beliefs(one, 0, 1, 1).round(3).tolist()
    ([0.4, 0.4, 0.2], [0.667, 0.667, 0.333], [0.75, 0.75, 0.333])
    """
    group, having = histogram.groups, histogram.counts
    people = histogram.totals()[group]
    others = people - having - struck_out(histogram, l)
    own = np.maximum(others - k, 0.0)
    least = own * _without(people - k - 1, having, m)
    if m:
        which = histogram.values
        if table is not None:
            which = which + table[group] * (int(which.max(initial=0)) + 1)
        least = np.minimum(least, own * _least_among_others(which, _without(people, having, m)))
        least = np.minimum(least, others * _least_among_others(which, _without(people - k, having, m)))
    # if nobody in the group can have another value, the belief is certain
    return np.asarray(having / (having + np.maximum(least, 0.0)))


def _least_among_others(which: IntArray, chance: FloatArray) -> FloatArray:
    """Return, for each entry, the smallest probability among other entries with the same value (or 1)."""
    order = np.lexsort((chance, which))
    value, sorted_chance = which[order], chance[order]
    first = run_starts(value)
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    following = np.minimum(start + 1, len(order) - 1)
    second = np.where((start + 1 < len(order)) & (value[following] == value), sorted_chance[following], 1.0)
    out = np.empty(len(order))
    out[order] = np.where(first, second, sorted_chance[start])
    return out


@dataclass(frozen=True)
class PrivacySkyline(SensitiveModel):
    """The belief in any person's value stays below c, given l, k and m facts of the three kinds.

    Score: the largest belief in any person's value in the class. Satisfied when score < c.

    Parameters
    ----------
    c : float
        Upper limit for the belief (exclusive).
    l : int
        Number of values that the target is known not to have.
    k : int
        Number of other people whose values are known.
    m : int
        Number of people known to imply the target's value: if one of them has it, so does the target.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[6, 6], disease=[[2, 2, 2, 0], [3, 1, 1, 1]])
    >>> table = Reference.of(12, Attribute.of("disease", "abcd", [5, 3, 3, 1]))
    >>> PrivacySkyline(c=0.7, l=1, on="disease").score(groups, table).tolist()
    [0.5, 0.6]
    >>> PrivacySkyline(c=0.7, l=1, k=1, on="disease").satisfied(groups, table).tolist()
    [True, False]
    """

    c: Annotated[float, Between(0, 1, closed="right"), "upper limit for the belief in any person's value (exclusive)"]
    l: Annotated[int, AtLeast(0), "number of values that the target is known not to have"] = 0
    k: Annotated[int, AtLeast(0), "number of other people whose values are known"] = 0
    m: Annotated[int, AtLeast(0), "number of people known to imply the target's value"] = 0

    name: ClassVar[str] = "privacy-skyline"
    bounded_by: ClassVar[str] = "c"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<"
    table_level: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.m:
            # only families involve other classes, so the instance overrides its class
            object.__setattr__(self, "table_level", False)

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest belief per group."""
        histogram = self.histogram(groups)
        of_table = np.repeat(np.arange(len(groups.table_offsets()) - 1), np.diff(groups.table_offsets()))
        belief = beliefs(histogram, self.l, self.k, self.m, of_table)
        people = whole_people(groups)
        least = self._different(people.astype(np.float64))
        return np.maximum(histogram.max(belief, empty=np.inf), np.where(people > 0, least, 1.0))

    def _different(self, people: FloatArray) -> FloatArray:
        """Return the belief in classes of ``people`` with distinct values, the minimum for any class of that size."""
        one = np.ones(len(people))
        least = np.maximum(people - 1 - self.l - self.k, 0.0) * _without(people - self.k - 1, one, self.m)
        return np.asarray(1.0 / (1.0 + least))

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return c: shares are visible without any other knowledge."""
        return np.full(self.attribute(table).n_values, self.c), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values rarer than the group's most frequent one; all, if there are none.

        The default would add a record to all groups of the table at once.
        """
        return rarer(self.histogram(groups), self.attribute(table).n_values)

    def values_needed(self) -> int:
        """Return l + 2: with fewer values the statements rule out all but one."""
        return self.l + 2

    def min_group_size(self) -> int:
        """Return the smallest number of people with distinct values for which the belief is below c."""
        below = max(self.c - TOLERANCE, TOLERANCE / 2)
        size = self.l + self.k + math.floor(1 / below)
        # families need a few more
        while self._different(np.array([float(size)]))[0] >= below:
            size += 1
        return size

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """Even the whole table as one class is not safe."""
        attribute = self.attribute(table)
        if attribute.n_present() < self.values_needed():
            return Infeasible(
                f"l={self.l} but column {attribute.name!r} has {counted(attribute.n_present(), 'value', 'values')}: "
                f"{self.l} statements rule out all but one.",
                hint=f"Lower l to {attribute.n_present() - 2}." if attribute.n_present() > 1 else "Add records.",
            )
        got = float(self.score(whole, table)[0])
        return Infeasible(
            f"c={self.c:g} but with l={self.l}, k={self.k} and m={self.m} the belief in a value of "
            f"{attribute.name!r} reaches {got:.6g} even with the whole table as one class.",
            hint="Lower l, k or m, or raise c above that." if got < 1 else "Lower l, k or m, or add records.",
        )
