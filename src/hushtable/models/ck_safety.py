"""(c, k)-safety: worst-case disclosure to an adversary who knows any k basic implications.

Symbol: (c, k). The adversary knows who is in each class, and knows k statements such as "if Hannah has flu, then
Charlie has flu": a conjunction of atoms (person, value) that implies a disjunction of atoms. Every statement about
people's values can be written as a conjunction of such implications, and k is the number needed. All worlds
consistent with the classes and the statements are equally likely. The table is (c, k)-safe if no k statements raise
the probability of any person's value to c or more.

Martin et al. prove that the worst k statements have the form A1 -> C, ..., Ak -> C with the same atom C, where C is a
class's most frequent value. Then

    P(C | statements) = 1 / (1 + R),    R = P(no A, not C) / P(C),

and R is smallest when, in every class, the most frequent values are ruled out for some people: the a1 most frequent
ones for one person, the a2 <= a1 most frequent ones for another, and so on. In a class of n people, S_j of whom have
one of the j most frequent values, this has the probability prod over i of (n - i - S_{a(i+1)}) / (n - i), i = 0, 1,
... One dynamic program finds the smallest product for every number of atoms in a class, and another distributes the k
+ 1 atoms among classes.

The statements may be about people in other classes, so this is a table-level model. Merging classes never makes the
result worse. Adding or removing a record may.

With an entity column, one person may contribute several values. These do not hide that person, so a class counts only
as many values as it has whole people.

When to use
-----------
When you can bound how much an adversary knows, but not what: facts about relatives and colleagues are included.

When not
--------
When a column has k + 1 values or fewer: k statements rule out all but one of them.

Cost
----
Linear in the number of classes for a given k, and about k^3 per class.

References
----------
D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-case background knowledge for privacy-preserving
data publishing", ICDE 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import Infeasible, counted
from hushtable.models.base import Monotone, Sense, SensitiveModel
from hushtable.models.p_sensitive import whole_people
from hushtable.params import AtLeast, Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram


def least_products(histogram: Histogram, atoms: int) -> FloatArray:
    """Return, for each group and number of atoms (from 0), the smallest probability that none of them is true.

    Examples
    --------
    Two of five people have flu, two lung cancer, one mumps. A given person has no flu, and neither flu nor cancer:

    >>> least_products(Histogram.dense([[2, 2, 1]]), 2).tolist()
    [[1.0, 0.6, 0.2]]
    """
    people, top = histogram.totals(), _sums(histogram, atoms)
    least = np.ones((len(histogram), atoms + 1))
    # people with ruled-out values so far, values ruled out for the last one, atoms used -> smallest product
    states: dict[tuple[int, int, int], FloatArray] = {(0, atoms, 0): np.ones(len(histogram))}
    while states:
        grown: dict[tuple[int, int, int], FloatArray] = {}
        for (i, last, used), product in sorted(states.items()):
            left = people - i
            for denied in range(1, min(last, atoms - used) + 1):
                chance = np.divide(np.maximum(left - top[:, denied], 0.0), left, out=np.ones(len(left)), where=left > 0)
                key = i + 1, denied, used + denied
                found = product * chance
                grown[key] = np.minimum(grown[key], found) if key in grown else found
        for (_, _, used), product in grown.items():
            least[:, used] = np.minimum(least[:, used], product)
        states = grown
    return np.asarray(np.minimum.accumulate(least, axis=1))


def _sums(histogram: Histogram, atoms: int) -> FloatArray:
    """Number of people with one of the j most frequent values of each group, for j from 0."""
    order = histogram.descending()
    counts, rank, group = histogram.counts[order], histogram.ranks(), histogram.groups
    matrix = np.zeros((len(histogram), atoms + 1))
    few = rank < atoms
    matrix[group[few], rank[few] + 1] = counts[few]
    return np.asarray(np.cumsum(matrix, axis=1))


def _share_out(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the smallest product for every number of atoms divided between two parts."""
    both = one[:, None] * other[None, :]
    return np.array([both[::-1].diagonal(j - len(one) + 1).min() for j in range(len(one))])


def least_elsewhere(products: FloatArray) -> Iterator[tuple[IntArray | slice, FloatArray]]:
    """Yield groups, and for every number of atoms the smallest product if all are about people in other groups.

    Among groups that get j atoms, only those with the smallest products matter: as many as can get j atoms, plus one
    to replace the group itself. All others are yielded together, first.
    """
    n, size = products.shape
    chosen: set[int] = set()
    for j in range(1, size):
        few = min((size - 1) // j + 1, n)
        chosen.update(np.argpartition(products[:, j], few - 1)[:few].tolist())
    places = sorted(chosen)
    before = [np.concatenate([[1.0], np.ones(size - 1)])]
    for place in places:
        before.append(_share_out(before[-1], products[place]))
    yield slice(None), before[-1]
    after = before[0]
    for i in reversed(range(len(places))):
        yield np.array([places[i]]), _share_out(before[i], after)
        after = _share_out(after, products[places[i]])


def tables_of(groups: GroupStats) -> Iterator[slice]:
    """Yield the groups of each candidate table."""
    for start, end in pairwise(groups.table_offsets().tolist()):
        yield slice(start, end)


@dataclass(frozen=True)
class CKSafety(SensitiveModel):
    """No k basic implications raise the probability of any person's value to c.

    Score: the largest probability of any person's value in the class, given the worst k implications. Satisfied when
    score < c.

    Parameters
    ----------
    c : float
        Upper limit for the probability (exclusive).
    k : int
        Number of implications the adversary knows.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[5, 5], disease=[[2, 2, 1, 0, 0, 0], [2, 0, 0, 1, 1, 1]])
    >>> table = Reference.of(10, Attribute.of("disease", "abcdef", [4, 2, 1, 1, 1, 1]))
    >>> CKSafety(c=0.7, k=1, on="disease").score(groups, table).round(3).tolist()
    [0.667, 0.571]
    """

    c: Annotated[float, Between(0, 1, closed="right"), "limit (exclusive) for the probability of any person's value"]
    k: Annotated[int, AtLeast(0), "number of basic implications the adversary knows"]

    name: ClassVar[str] = "ck-safety"
    bounded_by: ClassVar[str] = "c"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<"
    table_level: ClassVar[bool] = True

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Worst-case disclosure per group."""
        histogram = self.histogram(groups)
        products = least_products(histogram, self.k + 1)
        share = np.divide(histogram.max(histogram.units), histogram.sum(histogram.units),
                          out=np.ones(len(histogram)), where=histogram.lengths > 0)  # fmt: skip
        least = np.empty(len(groups))
        for part in tables_of(groups):
            own = products[part]
            if not len(own):
                continue
            rest = np.empty(len(own))
            for places, elsewhere in least_elsewhere(own[:, : self.k + 1]):
                # 1 to k + 1 atoms are about people of the group, one of them C
                rest[places] = (own[places, 1:] * elsewhere[::-1]).min(axis=1)
            least[part] = rest
        worst = np.where(histogram.lengths > 0, share / (share + least), np.inf)
        people = whole_people(groups) - self.k
        return np.maximum(worst, np.divide(1.0, people, out=np.ones(len(groups)), where=people > 0))

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return c: shares are visible without any statement."""
        return np.full(self.attribute(table).n_values, self.c), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values rarer than the group's most frequent one; all, if there are none.

        The default would add a record to all groups of the table at once.
        """
        return rarer(self.histogram(groups), self.attribute(table).n_values)

    def values_needed(self) -> int:
        """Return k + 2: with fewer values the statements rule out all but one."""
        return self.k + 2

    def min_group_size(self) -> int:
        """Return the smallest number of people with distinct values for which 1 / (people - k) < c."""
        return self.k + math.floor(1 / self.c + 1e-6) + 1

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """Even the whole table as one class is not safe."""
        attribute = self.attribute(table)
        if attribute.n_present() < self.values_needed():
            return Infeasible(
                f"k={self.k} but column {attribute.name!r} has {counted(attribute.n_present(), 'value', 'values')}: "
                f"{self.k} implications rule out all but one.",
                hint=f"Lower k to {attribute.n_present() - 2}." if attribute.n_present() > 1 else "Add records.",
            )
        got = float(self.score(whole, table)[0])
        return Infeasible(
            f"c={self.c:g} but with k={self.k} implications a value of {attribute.name!r} has a probability of "
            f"{got:.6g} even with the whole table as one class.",
            hint="Lower k, or raise c above that." if got < 1 else "Lower k, or add records.",
        )


def rarer(histogram: Histogram, n_values: int) -> BoolArray:
    """(group x value): the value is rarer than the group's most frequent one; all values, if none is.

    Examples
    --------
    >>> rarer(Histogram.dense([[2, 1, 0], [1, 1, 1]]), 3).tolist()
    [[False, True, True], [True, True, True]]
    """
    count = histogram.as_matrix(n_values)
    below = count < count.max(axis=1, initial=0.0, keepdims=True)
    return np.asarray(below | ~below.any(axis=1, keepdims=True))
