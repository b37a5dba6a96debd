"""Entropy l-diversity.

Symbol: l. In every class, the entropy of the sensitive values is at least log l. It is measured as the effective
number of values, exp(entropy), which is l for l equally frequent values. l may be any number of at least 1.

With an entity column, one person may contribute several values. These do not hide that person, so the score is capped
at the number of whole people in the class.

When to use
-----------
When sensitive values should be spread evenly, and a bound on single shares is not enough.

When not
--------
When a common harmless value dominates the table: its entropy may be below log l to begin with (infeasible).

Cost
----
One logarithm for every distinct value of a class.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; Allard 2023, "l-Diversity III".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import TOLERANCE, Audited, Monotone, SensitiveModel
from hushtable.models.p_sensitive import too_few, whole_people
from hushtable.models.probabilistic_l import whole_number
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class EntropyL(SensitiveModel):
    """The values of a class are at least as uncertain as l equally frequent ones.

    Score: exp(entropy), capped at the number of whole people. Satisfied when score >= l.

    Parameters
    ----------
    l : int or float
        Minimum effective number of values in a class.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[3, 1], [2, 2]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [5, 3]))
    >>> EntropyL(l=2, on="disease").satisfied(groups, table).tolist()
    [False, True]
    """

    l: Annotated[int | float, AtLeast(1), "minimum effective number of sensitive values in a class"]

    name: ClassVar[str] = "entropy-l"
    bounded_by: ClassVar[str] = "l"
    audits: ClassVar[tuple[Audited, ...]] = (Audited("entropy_l", "l", {"l": 2}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """exp(entropy) per group, capped at its number of whole people."""
        return np.minimum(_effective_values(self.histogram(groups)), whole_people(groups))

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return the largest share a value may have: the others' entropy is largest if they are equally frequent."""
        attribute = self.attribute(table)
        return np.full(attribute.n_values, _largest_share(self.l, max(attribute.n_present() - 1, 1))), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that raise the entropy of the group.

        With n people, entropy = log n - sum(c log c) / n, and one more person changes a single term of the sum.
        """
        histogram = self.histogram(groups)
        count = histogram.as_matrix(self.attribute(table).n_values)
        total = histogram.totals()[:, None]
        terms = _x_log_x(count).sum(axis=1, keepdims=True) - _x_log_x(count) + _x_log_x(count + 1)
        then = (total + 1) * np.exp(-terms / (total + 1))
        people = whole_people(groups)[:, None]
        now = np.minimum(_effective_values(histogram)[:, None], people)
        return np.asarray(np.minimum(then, people + 1) > now * (1 + TOLERANCE))

    def values_needed(self) -> int:
        """Return l, rounded up."""
        return whole_number(self.l)

    def min_group_size(self) -> int:
        """Return l, rounded up."""
        return whole_number(self.l)

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The values of the whole table are not diverse enough, or there are too few values or people."""
        attribute = self.attribute(table)
        got = float(_effective_values(self.histogram(whole))[0])
        if attribute.n_present() < self.l or got >= self.l * (1 - TOLERANCE):
            return too_few("l", self.l, attribute.n_present(), f"{attribute.name!r}", table)
        return Infeasible(
            f"l={self.l:g} but the whole of {attribute.name!r} is only as diverse as {got:.6g} equally "
            "frequent values.",
            hint=f"Lower l to {math.floor(got * 1e4) / 1e4:g} or less.",
        )


@cache
def _largest_share(l: float, others: int) -> float:
    """The largest share of a value if the ``others`` are equally frequent, by bisection; cached for searches."""
    low, high = 0.0, 1.0
    for _ in range(40):
        share = (low + high) / 2
        most = -math.log(share) * share - math.log(1 - share) * (1 - share) + (1 - share) * math.log(others)
        # beyond the share at which all values are equally frequent, the entropy falls
        low, high = (share, high) if share * (others + 1) <= 1 or most >= math.log(l) else (low, share)
    return high


def _x_log_x(x: FloatArray) -> FloatArray:
    return x * np.log(np.where(x > 0, x, 1.0))


def _effective_values(histogram: Histogram) -> FloatArray:
    total = histogram.totals()
    log_sum = histogram.sum(_x_log_x(histogram.counts))
    safe = np.where(total > 0, total, 1.0)
    return np.where(total > 0, safe * np.exp(-log_sum / safe), 0.0)
