"""(eps, m)-anonymity, for numeric sensitive values.

Symbols: eps, m. The papers we have only mention the model: for each sensitive value in a class, at most 1/m of the
values are similar to it. Our interpretation: for every value x in a class, the share of its records with a value in
[x - eps, x + eps] (absolute), or in [x - eps |x|, x + eps |x|] (relative), both ends included, is at most 1/m. x
itself counts. A missing value is similar only to missing values.

With an entity column, one person may contribute several values. These do not hide that person, so the score is at
least 1 / (whole people in the class).

Not monotone in any way: for eps = 1, 9 and 11 are not similar, but both are similar to 10 in a class merged with
theirs.

When to use
-----------
For numeric sensitive values, if similar numbers (salaries of 30,000 and 30,100) disclose as much as equal ones.

When not
--------
For nominal values. The model is not monotone, so lattice searches cannot prune and greedy ones may find nothing.

Cost
----
Sorts the values of every class; needs numbers.

References
----------
J. Li, Y. Tao, X. Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", 2008; Wang et
al. 2011, introduction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from hushtable.arrays import FloatArray, IntArray, inverted
from hushtable.errors import Infeasible, PolicyError, counted
from hushtable.models.base import TOLERANCE, Monotone, Sense, SensitiveModel
from hushtable.models.p_sensitive import alone
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class EpsM(SensitiveModel):
    """At most 1/m of a class lies close to any of its values.

    Score: the largest share of a class within eps of one of its values, at least 1 / (whole people). Satisfied when
    score <= 1/m.

    Parameters
    ----------
    eps : float
        Maximum distance between similar values.
    m : int
        Inverse of the maximum share of similar values.
    relative : bool
        Whether eps is a fraction of the value instead of an absolute distance.
    on : str, optional
        The sensitive column, numeric or a date (eps in days).

    Examples
    --------
    >>> from hushtable.table.reference import Attribute
    >>> income = Attribute.of("income", ["10", "11", "50"], [2, 1, 3], numbers=[10, 11, 50])
    >>> groups = GroupStats.of(sizes=[2, 4], income=[[1, 0, 1], [1, 1, 2]])
    >>> EpsM(eps=1, m=2, on="income").score(groups, Reference.of(6, income)).tolist()
    [0.5, 0.5]
    """

    eps: Annotated[float, AtLeast(0), "maximum distance between similar values"]
    m: Annotated[int, AtLeast(2), "inverse of the maximum share of similar values in a class"]
    relative: Annotated[bool, "eps is a fraction of the value, not an absolute distance"] = False

    name: ClassVar[str] = "eps-m"
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = "<="

    @property
    def bound(self) -> float:
        """Return 1/m."""
        return 1.0 / self.m

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Largest share of a group within eps of one of its values."""
        histogram, near = self.histogram(groups), self._neighbours(table)
        size = len(near.rank)
        group = histogram.groups
        place = group * size + near.rank[histogram.values]
        order = np.argsort(place, kind="stable")
        place = place[order]
        running = np.concatenate([[0], np.cumsum(histogram.units[order])])
        first = np.searchsorted(place, group * size + near.low[histogram.values])
        last = np.searchsorted(place, group * size + near.high[histogram.values])
        similar = histogram.max(running[last] - running[first])
        total = histogram.sum(histogram.units)
        share = np.divide(similar, total, out=np.full(len(groups), np.inf), where=total > 0)
        return np.asarray(np.maximum(share, alone(groups)))

    def min_group_size(self) -> int:
        """Return m."""
        return self.m

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse a column without numbers; infeasible with fewer than m people or too many similar values.

        All records of a class in an interval of length eps are similar to one of them, so the interval makes up at
        most 1/m of every class, and therefore of the table.
        """
        near, attribute = self._neighbours(table), self.attribute(table)
        if table.people < self.m:
            return Infeasible(
                f"m={self.m} but the table has {counted(round(table.people), 'person', 'people')}.",
                hint=f"Lower m to {int(table.people)} or less." if table.people >= 3 else "Add records.",
            )
        units = np.zeros(len(near.rank), dtype=np.int64)
        units[near.rank] = attribute.units
        running = np.concatenate([[0], np.cumsum(units)])
        start, stop = near.stretches()
        share = float((running[stop] - running[start]).max(initial=0)) / max(int(running[-1]), 1)
        if share <= self.bound + TOLERANCE:
            return None
        return Infeasible(
            f"m={self.m} but {share:.6g} of the records lie within eps={self.eps:g} of each other in "
            f"{attribute.name!r}, more than 1/m = {self.bound:.6g}.",
            hint=f"Lower m to {int(1 / share + TOLERANCE)}, or lower eps." if share <= 0.5 else "Lower eps.",
        )

    def _neighbours(self, table: Reference) -> _Neighbours:
        attribute = self.attribute(table)
        if attribute.numbers is None:
            raise PolicyError(
                f"eps-m is set on {attribute.name!r}, which is not a column of numbers or dates.",
                code="not-numeric",
                hint="Make the column numeric, or use a model for labels such as probabilistic-l.",
            )
        return _neighbours(attribute.numbers, self.eps, self.relative)


class _Neighbours(NamedTuple):
    """Code -> rank of its number (missing values first), and the ranks ``low`` to ``high`` that are similar."""

    rank: IntArray
    low: IntArray
    high: IntArray
    outward: FloatArray

    def stretches(self) -> tuple[IntArray, IntArray]:
        """For each code, the ranks that are similar to every one of them a class may contain.

        That is one side of the code's window: the side away from 0, where relative windows grow.
        """
        start = np.where(self.outward >= 0, self.rank, self.low)
        stop = np.where(self.outward >= 0, self.high, self.rank + 1)
        return start, stop


def _neighbours(numbers: FloatArray, eps: float, relative: bool) -> _Neighbours:
    missing = np.isnan(numbers)
    order = np.lexsort((np.where(missing, 0.0, numbers), ~missing))
    rank = inverted(order)
    n_missing = int(missing.sum())
    known = numbers[order][n_missing:]
    x = np.where(missing, 0.0, numbers)
    reach = eps * np.abs(x) if relative else np.full(len(x), eps)
    reach = reach + 4 * np.finfo(np.float64).eps * (np.abs(x) + eps)  # 0.2 and 0.3 are 0.1 apart, rounding or not
    low = np.where(missing, 0, n_missing + np.searchsorted(known, x - reach, side="left"))
    high = np.where(missing, n_missing, n_missing + np.searchsorted(known, x + reach, side="right"))
    return _Neighbours(rank, low, high, x if relative else np.zeros(len(x)))
