"""Negation statements: the adversary knows n values that the person does not have.

About a person with value s in a class with counts r, the worst n true statements exclude the n most frequent other
values; the belief in s is then r(s) / (remaining records). The attack succeeds if that reaches ``confidence``; at 1, if
no other value remains.

The result also reports how much recursive (c, l)-diversity the worst class loses: the largest l with r1 < c (rl + ... +
rm), before the statements and after the worst ones, which exclude the most frequent values after the first. An l of 0
means that not even l = 1 holds.

Baseline: the same statements about the whole table as one class.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; T. Allard, "Partition-based models", 2023,
"Recursive (c, l)-Diversity, bis".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.view import View
from hushtable.models.base import compare
from hushtable.params import AtLeast, Between, Positive
from hushtable.table.stats import Histogram


def belief_after(histogram: Histogram, n: int) -> FloatArray:
    """Return, for every entry, the belief in its value after the n most frequent other values are excluded.

    Examples
    --------
    >>> belief_after(Histogram.dense([[3, 2, 1]]), 1).round(2).tolist()
    [0.75, 0.67, 0.33]
    >>> belief_after(Histogram.dense([[3, 2, 1]]), 2).tolist()
    [1.0, 1.0, 1.0]
    """
    order = histogram.descending()
    units, rank = histogram.units[order], histogram.ranks()
    group = histogram.groups[order]
    total = histogram.sum(histogram.units)
    # an entry among the first n makes room for the (n + 1)-th
    top = histogram.sum(np.where(rank < n, units, 0))
    next_one = histogram.sum(np.where(rank == n, units, 0))
    struck = np.where(rank < n, top[group] - units + next_one[group], top[group])
    belief = np.empty(len(units))
    belief[order] = units / (total[group] - struck)
    return belief


def diversity(histogram: Histogram, c: float, n: int = 0) -> IntArray:
    """Return the largest l for which each class is recursive (c, l)-diverse after the worst n statements.

    Examples
    --------
    >>> don = Histogram.dense([[7, 6, 5, 3, 1, 1]])
    >>> diversity(don, 1).tolist(), diversity(don, 1, n=1).tolist()
    ([3], [2])
    """
    order = histogram.descending()
    units, rank = histogram.units[order], histogram.ranks()
    left = (rank == 0) | (rank > n)
    kept = np.where(left, units, 0)
    before = np.cumsum(kept) - kept
    start = before[np.minimum(histogram.offsets[:-1], max(len(kept) - 1, 0))] if len(kept) else np.zeros(0)
    total = histogram.sum(kept)
    group = histogram.groups
    rest = total[group] - (before - start[group])
    first = histogram.max(units)[group]
    place = np.where(rank == 0, 1, rank - n + 1)
    good = left & compare(first.astype(np.float64), "<", c * rest)
    return histogram.max(np.where(good, place, 0)).astype(np.int64)


@dataclass(frozen=True)
class Negation(SensitiveAttack):
    """Rules out values that a person is known not to have.

    Parameters
    ----------
    n : int
        Number of statements.
    confidence : float
        Belief that counts as success.
    c : float
        Parameter c of the recursive (c, l)-diversity whose loss is reported.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 27, 52, 53, 54], "disease": ["flu", "HIV", "flu", "flu", "HIV", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=3)])
    >>> ht.anonymize(table, policy).attack("negation", n=1).rate
    0.5
    """

    n: Annotated[int, AtLeast(0), "number of values that the adversary can rule out for a person"] = 1
    confidence: Annotated[float, Between(0, 1, closed="right"), "belief that counts as success"] = 1.0
    c: Annotated[float, Positive(), "c of the recursive (c, l)-diversity whose loss is reported"] = 1.0

    name: ClassVar[str] = "negation"
    knowledge: ClassVar[str] = (
        "The adversary knows a person's quasi-identifiers, that the person is in the release, and n values that the "
        "person does not have."
    )
    remedy: ClassVar[str] = (
        "Add negation-recursive-cl with the expected number of statements n, or raise l of recursive-cl, entropy-l or "
        "distinct-l by n: each statement costs one value."
    )

    def run(self, view: View) -> AttackResult:
        """Count the records whose value is believed after the worst statements."""

        def lost(histogram: Histogram) -> dict[str, float]:
            before, after = (diversity(histogram, self.c, n)[view.sizes > 0] for n in (0, self.n))
            return {"l before": int(before.min()), "l after": int(after.min())}

        known = {"statements": self.n}
        return self.by_belief(view, lambda h: belief_after(h, self.n), self.confidence, known, lost)
