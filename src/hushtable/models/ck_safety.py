"""(c, k)-safety: worst-case disclosure to an adversary who knows any k basic implications.

Symbol: (c, k). The adversary knows who is in which class, and k statements of the kind "if Hannah has flu, then
Charlie has flu": a conjunction of atoms (person, value) that implies a disjunction of atoms. Every statement about
who has what can be written as a conjunction of such implications, and k counts how many are needed. All worlds that
fit the classes and the statements are equally likely. The table is (c, k)-safe where no k statements make any
person's value as likely as c.

Martin et al. prove that the worst k statements have the form A1 -> C, ..., Ak -> C with the same atom C, where C is a
class's most frequent value. Then

    P(C | statements) = 1 / (1 + R),    R = P(no A, not C) / P(C),

and R is least where, in every class, some people are each denied the most frequent values: one person the a1 most
frequent ones, another the a2 <= a1 most frequent ones, and so on. In a class of n people whose j most frequent values
have S_j people together that has the probability prod over i of (n - i - S_{a(i+1)}) / (n - i), i = 0, 1, ... A first
dynamic programme finds the least product for every number of atoms in a class, a second one shares the k + 1 atoms
out among classes.

The statements may be about people in other classes, so this model judges the whole table. Merging classes never makes
it worse. Adding or removing a record may.

With an entity column one person may bring several values. They do not hide that person, so a class counts for no more
than its whole people.

When to use
-----------
Where it is unknown what the adversary knows, but not how much: facts about relatives and colleagues are included.

When not
--------
Where a column has k + 1 values or fewer: k statements rule out all but one of them.

Cost
----
Linear in the classes for a given k, and about k^3 for each.

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
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, Sense, SensitiveModel
from hushtable.models.p_sensitive import whole_people
from hushtable.params import AtLeast, Between
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram

__all__ = ["CKSafety", "least_elsewhere", "least_products", "tables_of"]


def least_products(histogram: Histogram, atoms: int) -> FloatArray:
    """Return, for each group and number of atoms (from 0), the least probability that none of them is true.

    Examples
    --------
    Two of five people have flu, two lung cancer, one mumps. Nobody in particular has flu, and neither flu nor cancer:

    >>> least_products(Histogram.dense([[2, 2, 1]]), 2).tolist()
    [[1.0, 0.6, 0.2]]
    """
    people, top = histogram.totals(), _sums(histogram, atoms)
    least = np.ones((len(histogram), atoms + 1))
    # people who are denied something so far, what the last one is denied, atoms used -> least product
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
    """People with the j most frequent values of each group, for j from 0."""
    order = histogram.descending()
    counts, rank, group = histogram.counts[order], histogram.ranks(), histogram.groups
    matrix = np.zeros((len(histogram), atoms + 1))
    few = rank < atoms
    matrix[group[few], rank[few] + 1] = counts[few]
    return np.asarray(np.cumsum(matrix, axis=1))


def _share_out(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the least product for every number of atoms that two parts share."""
    both = one[:, None] * other[None, :]
    return np.array([both[::-1].diagonal(j - len(one) + 1).min() for j in range(len(one))])


def least_elsewhere(products: FloatArray) -> Iterator[tuple[IntArray | slice, FloatArray]]:
    """Yield groups, and the least product of every number of atoms that are all about people of other groups.

    Of the groups that get j atoms only those with the least products matter: as many as may get so many, and one more
    in place of the group itself. All others are yielded together, first.
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
    """No k basic implications make anybody's value as likely as c.

    Score: the greatest probability of a value of somebody in the class, given the worst k implications. Satisfied when
    score < c.

    Parameters
    ----------
    c : float
        What the probability must stay below.
    k : int
        How many implications the adversary knows.
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

    c: Annotated[float, Between(0, 1, closed="right"), "what the probability of anybody's value must stay below"]
    k: Annotated[int, AtLeast(0), "how many basic implications the adversary knows"]

    name: ClassVar[str] = "ck-safety"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<"
    table_level: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        """Return c."""
        return self.c

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
        """Return c: a share is known without any statement."""
        return np.full(self.attribute(table).n_values, self.c), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Tell the values that are rarer than the group's most frequent one; all, where there is none.

        The default would add a record to all groups of the table at once.
        """
        return rarer(self.histogram(groups), self.attribute(table).n_values)

    def values_needed(self) -> int:
        """Return k + 2: with fewer values the statements rule out all but one."""
        return self.k + 2

    def min_group_size(self) -> int:
        """Return how many people with different values keep 1 / (people - k) below c."""
        return self.k + math.floor(1 / self.c + 1e-6) + 1

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """Even the whole table as one class is not safe."""
        attribute = self.attribute(table)
        if attribute.n_present() < self.values_needed():
            return Infeasible(
                f"k={self.k} but column {attribute.name!r} has {attribute.n_present()} values: {self.k} "
                "implications rule "
                "out all but one.",
                hint=f"Lower k to {attribute.n_present() - 2}." if attribute.n_present() > 1 else "Add records.",
            )
        got = float(self.score(whole, table)[0])
        return Infeasible(
            f"c={self.c:g} but with k={self.k} implications a value of {attribute.name!r} has a probability of "
            f"{got:.6g} "
            "even in the whole table as one class.",
            hint="Lower k, or raise c above that." if got < 1 else "Lower k, or add records.",
        )


def rarer(histogram: Histogram, n_values: int) -> BoolArray:
    """(group x value): the value is rarer than the group's most frequent one; all values, where none is.

    Examples
    --------
    >>> rarer(Histogram.dense([[2, 1, 0], [1, 1, 1]]), 3).tolist()
    [[False, True, True], [True, True, True]]
    """
    count = histogram.as_matrix(n_values)
    below = count < count.max(axis=1, initial=0.0, keepdims=True)
    return np.asarray(below | ~below.any(axis=1, keepdims=True))
