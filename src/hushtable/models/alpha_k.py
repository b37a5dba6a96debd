"""(alpha, k)-anonymity.

Symbol: (alpha, k). Every class has at least k people, and no sensitive value is more frequent in it than alpha. Wong
et al. define it first for selected sensitive values and then for all. ``only`` selects values; by default, all are
bounded.

When to use
-----------
To bound identity and attribute disclosure with one model, for all values or for selected ones.

When not
--------
When alpha is below a value's share in the whole table: infeasible.

Cost
----
Linear in the distinct values of the classes.

References
----------
R. Wong, J. Li, A. Fu, K. Wang, "(alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
publishing", 2006; Wang et al. 2011, section I.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.errors import Infeasible, ParameterError, PolicyError
from hushtable.models.base import TOLERANCE, Audited, Monotone, Quantity, SensitiveModel, Threat
from hushtable.models.k_anonymity import KAnonymity
from hushtable.params import AtLeast, Between, OfValues
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class AlphaK(SensitiveModel):
    """Every class has at least k people, and no value makes up more than the share alpha of it.

    Score: min(people / k, alpha / largest share). Satisfied when score >= 1.

    Parameters
    ----------
    alpha : float
        Largest share of a value in a class.
    k : int
        Smallest number of people in a class.
    only : list of str, optional
        The values to bound. Defaults to all.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[4, 4, 2], disease=[[3, 1, 0], [2, 1, 1], [1, 0, 1]])
    >>> table = Reference.of(10, Attribute.of("disease", ["HIV", "cancer", "flu"], [6, 2, 2]))
    >>> AlphaK(alpha=0.5, k=3, on="disease").satisfied(groups, table).tolist()
    [False, True, False]
    >>> AlphaK(alpha=0.5, k=3, only=["flu"], on="disease").satisfied(groups, table).tolist()
    [True, True, False]
    """

    alpha: Annotated[float, Between(0, 1, closed="right"), "largest share of a value in a class"]
    k: Annotated[int, AtLeast(2), "smallest number of people in a class"]
    only: Annotated[tuple[str, ...] | None, OfValues(), "sensitive values to bound. Defaults to all"] = None

    name: ClassVar[str] = "alpha-k"
    bounded_by: ClassVar[float] = 1.0  # both margins are normalized
    audits: ClassVar[tuple[Audited, ...]] = (Audited("alpha", "alpha", {"alpha": 1.0, "k": 2}),)
    monotone: ClassVar[Monotone] = Monotone.MERGE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.only == ():
            raise ParameterError(
                "AlphaK bounds no value: 'only' is empty.",
                hint="Name values, or omit 'only' to bound all of them.",
            )

    @property
    def threats(self) -> frozenset[Threat]:
        """Both: k people, and bounded values."""
        return frozenset(Threat)

    def _bounded(self, attribute: Attribute) -> BoolArray:
        if self.only is None:
            return np.ones(attribute.n_values, dtype=np.bool_)
        bounded = np.zeros(attribute.n_values, dtype=np.bool_)
        bounded[known_codes(attribute, self.only)] = True
        return bounded

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """min(people / k, alpha / largest share) per group."""
        return np.minimum(groups.sizes / self.k, self.alpha * self._inverse(groups, table))

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The largest share of a bounded value, and the number of people."""
        share = 1 / self._inverse(groups, table)
        return Quantity("alpha", "<=", self.alpha, share), Quantity("k", ">=", self.k, groups.sizes)

    def _inverse(self, groups: GroupStats, table: Reference) -> FloatArray:
        return inverse_share(self.histogram(groups), self._bounded(self.attribute(table)))

    def share_caps(self, table: Reference) -> tuple[FloatArray, float]:
        """Return alpha, for the values that are bounded."""
        return np.where(self._bounded(self.attribute(table)), self.alpha, 1.0), 0.0

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark the values that still have room in a class of its target size.

        The default would reject every value for a class that is small and balanced.
        """
        attribute = self.attribute(table)
        count = self.histogram(groups).as_matrix(attribute.n_values)
        return room(count, groups.sizes, self.alpha, self.k) | ~self._bounded(attribute)

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people, or one value is too frequent in the whole table."""
        if reason := KAnonymity(self.k).feasible(table):
            return reason
        attribute = self.attribute(table)
        share = float(attribute.distribution()[self._bounded(attribute)].max(initial=0.0))
        return Infeasible(
            f"alpha={self.alpha:g} but one value of {attribute.name!r} makes up {share:.6g} of the table.",
            hint=f"Raise alpha to {math.ceil(share * 1e4) / 1e4:g} or more.",
        )


def known_codes(attribute: Attribute, labels: Sequence[str]) -> list[int]:
    """Return the codes of values that a policy names, or raise if the table lacks one.

    In a published file, a missing value is not an error: it may have been suppressed, and what is absent does not leak.

    Examples
    --------
    >>> disease = Attribute.of("disease", ["HIV", "flu"], [1, 1])
    >>> known_codes(disease, ["flu"])
    [1]
    >>> known_codes(disease, ["flue"])
    Traceback (most recent call last):
    hushtable.errors.PolicyError: Column 'disease' has no value 'flue'. Check the spelling in the policy.
    """
    if len(attribute.key) > 1:
        raise PolicyError(
            f"Values of {attribute.name!r} taken jointly have no names.",
            code="joint-column",
            hint="Set the model on one column, or name no values.",
        )
    occurring = set(attribute.labels)
    complete = attribute.whole and not attribute.withheld
    return [attribute.code_of(label) for label in labels if complete or label in occurring]


def inverse_share(histogram: Histogram, bounded: BoolArray | None = None) -> FloatArray:
    """One over the largest share of a (bounded) value; infinite if a group has none.

    Examples
    --------
    >>> inverse_share(Histogram.dense([[3, 1], [0, 0]])).round(3).tolist()
    [1.333, inf]
    """
    units = histogram.units if bounded is None else histogram.units * bounded[histogram.values]
    top = histogram.max(units)
    total = histogram.sum(histogram.units)
    inverse: FloatArray = np.divide(total, top, out=np.full(len(histogram), np.inf), where=top > 0)
    return inverse


def room(count: FloatArray, sizes: FloatArray, share: float, size: int = 1) -> BoolArray:
    """(group x value): one more person with the value keeps it within ``share`` of the future class.

    The future class has at least ``size`` people, one more than now, and enough for a single person to be within the
    share. If no value has room, the least frequent ones are marked: the class has to grow evenly.

    Examples
    --------
    >>> room(np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([2.0, 2.0]), 0.5, 4).tolist()
    [[True, True], [False, True]]
    """
    to_come = np.maximum(sizes + 1, max(size, math.ceil(1 / share - TOLERANCE)))
    fits = count + 1 <= share * to_come[:, None] * (1 + TOLERANCE)
    least = count <= count.min(axis=1, initial=np.inf, keepdims=True)
    return np.asarray(np.where(fits.any(axis=1, keepdims=True), fits, least))
