"""t-closeness.

Symbol: t. In every class, the distribution of the sensitive values is within t of their distribution in the whole
table, measured by the earth mover's distance. Ground distances between values:

equal
    1 between any two values.
ordered
    |i - j| / (m - 1) between the i-th and the j-th of the m values in the table, for ordered columns. A missing value
    counts as the lowest.
hierarchical
    The height of the lowest node above both values, over the height of the hierarchy.
weights
    |weight - weight| of the values' sensitivity categories, (i - 1) / (m - 1) for category i of m: Sun et al. propose
    in section 9 to apply their ordinal metric to t-closeness. Values of the same category have distance 0.

With the whole table as one class, the distance is 0, so t-closeness can always be reached. The distance is convex:
merging two satisfied classes keeps them satisfied; adding or removing single records may not.

When to use
-----------
When a class must not reveal much more than the whole table does, including for skewed and similar values.

When not
--------
When the sensitive values should still be predictable from the quasi-identifiers: small t removes that on purpose.

Cost
----
Linear in the distinct values of the classes (equal, ordered), times the height (hierarchical).

References
----------
N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", 2007; Sun et al.
2011, sections 8 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from hushtable.arrays import FloatArray, IntArray, summed
from hushtable.errors import Infeasible, PolicyError
from hushtable.models.base import TOLERANCE, Audited, Monotone, Sense, SensitiveModel
from hushtable.params import Between
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram


@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """The distribution of sensitive values in every class is within t of the whole table's.

    Score: the earth mover's distance. Satisfied when distance <= t.

    Parameters
    ----------
    t : float
        Maximum distance.
    distance : {"equal", "ordered", "hierarchical", "weights"}
        Ground distance between two values.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[4, 4], disease=[[4, 0], [2, 2]])
    >>> table = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [6, 2]))
    >>> TCloseness(t=0.25, on="disease").score(groups, table).tolist()
    [0.25, 0.25]
    """

    t: Annotated[float, Between(0, 1), "maximum distance between a class's distribution and the whole table's"]
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical", "weights"], "ground distance between two values of the column"
    ] = "equal"

    name: ClassVar[str] = "t-closeness"
    bounded_by: ClassVar[str] = "t"
    audits: ClassVar[tuple[Audited, ...]] = (
        Audited("t", "t", {"t": 1.0}, ordered=False),
        Audited("t", "t", {"t": 1.0, "distance": "ordered"}, ordered=True),
    )
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[Sense] = "<="

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Earth mover's distance from each group to the whole table."""
        attribute, histogram = self._fitting(table), self.histogram(groups)
        if not attribute.whole:
            attribute.distribution()  # raises: a published file alone does not contain the reference distribution
        if self.distance == "equal":
            return equal_distance(histogram, attribute.whole_units)
        if self.distance == "hierarchical":
            return hierarchical_distance(histogram, attribute.whole_units, attribute.levels)
        if self.distance == "ordered":
            return _ordered(histogram, attribute)
        categories = attribute.category_codes()
        return ordered_distance(
            histogram.relabel(categories), summed(attribute.whole_units, categories, attribute.n_categories)
        )

    def share_caps(self, table: Reference) -> tuple[FloatArray, float] | None:
        """With equal distance, shares exceed the table's by at most t in total."""
        if self.distance != "equal":
            return None
        units = self._fitting(table).whole_units
        return units / max(int(units.sum()), 1), self.t

    @property
    def kept_by_shares(self) -> bool:
        """With equal distance."""
        return self.distance == "equal"

    def keepable(self, groups: GroupStats, table: Reference) -> FloatArray:
        """Bound by convexity if the distance is not ``equal``.

        A group's distance is at most the mean of its parts' distances: at most t for the kept parts, at most 1 for
        the others. So at least (distance - t) / (1 - t) of the group is suppressed.
        """
        kept = super().keepable(groups, table)
        if self.distance == "equal" or self.t >= 1:
            return kept
        least = (np.minimum(self.score(groups, table), 1.0) - self.t - 4 * TOLERANCE) / (1 - self.t)
        share = 1 - np.maximum(least, 0.0)
        return np.asarray(np.minimum(kept, np.floor(groups.units * share * (1 + TOLERANCE) + TOLERANCE)))

    def feasible(self, table: Reference) -> Infeasible | None:
        """Refuse a distance that is undefined for the column; only an empty table is infeasible."""
        self._fitting(table)
        return super().feasible(table)

    def _fitting(self, table: Reference) -> Attribute:
        attribute = self.attribute(table)
        if self.distance == "ordered" and not attribute.ordered:
            raise PolicyError(
                f"t-closeness by ordered distance is set on {attribute.name!r}, whose values have no order.",
                code="not-ordered",
                hint="Make the column numeric, ordinal or a date, or use distance: equal.",
            )
        if self.distance == "hierarchical" and not attribute.levels:
            raise PolicyError(
                f"t-closeness by hierarchical distance is set on {attribute.name!r}, which has no hierarchy.",
                code="no-hierarchy",
                hint="Give the column a hierarchy, or use distance: equal.",
            )
        if self.distance == "weights":
            attribute.category_codes()  # raises, with a hint, if there are no categories
        return attribute


def _ordered(histogram: Histogram, attribute: Attribute) -> FloatArray:
    """Ordered distance over the values that occur; infinite for a value that is not in the table."""
    occurs = attribute.whole_units > 0
    rank = np.cumsum(occurs) - 1
    known = occurs[histogram.values]
    if not known.all():
        foreign = histogram.sum(~known) > 0
        # excluding these groups keeps values without a rank out of the kernel
        score = np.full(len(histogram), np.inf)
        score[~foreign] = _ordered(histogram.take(np.flatnonzero(~foreign)), attribute)
        return score
    return ordered_distance(replace(histogram, values=rank[histogram.values]), attribute.whole_units[occurs])


# Earth mover's distances between the classes' distributions and the whole table's, all classes at once.
#
# The distance is the minimum work that turns one distribution into the other if moving a share of 1 between two values
# costs their ground distance. For the ground distances used here it has a closed form:
#
# equal
#     Any two values are 1 apart: half the sum of the absolute differences.
# ordered
#     Values i and j of m are |i - j| / (m - 1) apart: the sum of the absolute differences of the cumulative
#     distributions, over m - 1.
# hierarchical
#     The distance of two values is the height of their lowest common node over the height H of the root. On such a tree
#     the work is the flow through each edge times its length, 1 / 2H, hence the mean over the levels below the root of
#     the equal distance between the two distributions of that level's nodes. (Li et al. sum the smaller of the surplus
#     and the deficit of a node's children, times the node's height; tests check that the results agree.)
#
# The distance of a group without records is infinite.
#
# References
# ----------
# N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", 2007.


def equal_distance(histogram: Histogram, units: IntArray) -> FloatArray:
    """Half the L1 distance of each group to the distribution ``units`` (one count per value).

    Examples
    --------
    >>> equal_distance(Histogram.dense([[1, 3], [2, 2], [0, 0]]), np.array([3, 5])).tolist()
    [0.125, 0.125, inf]
    """
    total = max(int(units.sum()), 1)
    # both distributions sum to 1, so the surplus equals the deficit
    surplus = np.maximum(histogram.shares() - units[histogram.values] / total, 0.0)
    return np.where(histogram.lengths > 0, histogram.sum(surplus), np.inf)


def ordered_distance(histogram: Histogram, units: IntArray) -> FloatArray:
    """1-D distance from each group to ``units``, with values equally spaced from 0 to 1 in code order.

    Costs O(entries x log values): between two neighboring values of a group, its cumulative share is constant while
    the table's grows, so two look-ups in prefix sums give the sum of their absolute differences.

    Examples
    --------
    >>> ordered_distance(Histogram.dense([[4, 0, 0], [1, 0, 1], [1, 2, 1]]), np.array([1, 2, 1])).tolist()
    [0.5, 0.25, 0.0]
    """
    m, total = len(units), int(units.sum())
    score = np.where(histogram.lengths > 0, 0.0, np.inf)
    if m < 2 or not total or not len(histogram.values):
        return score
    below = np.cumsum(units)
    exact = total * m < 2**62  # integers keep differences of prefix sums exact; floats where they would overflow
    area = np.concatenate([[0], np.cumsum(below if exact else below.astype(np.float64))])

    filled = histogram.lengths > 0
    first, last = histogram.offsets[:-1][filled], histogram.offsets[1:][filled] - 1
    running = np.cumsum(histogram.units)
    before = np.repeat(running[first] - histogram.units[first], histogram.lengths[filled])
    share = (running - before) / np.repeat(histogram.sum(histogram.units)[filled], histogram.lengths[filled])

    start = histogram.values
    stop = np.append(start[1:], m)
    stop[last] = m
    cross = np.clip(np.searchsorted(below, share * total), start, stop)
    too_much = share * (cross - start) - (area[cross] - area[start]) / total
    too_little = (area[stop] - area[cross]) / total - share * (stop - cross)
    score[filled] = histogram.sum(too_much + too_little)[filled] + area[start[first]] / total
    return np.maximum(score, 0.0) / (m - 1)


def hierarchical_distance(histogram: Histogram, units: IntArray, levels: tuple[IntArray, ...]) -> FloatArray:
    """Distance of each group to ``units`` along a hierarchy of values.

    Examples
    --------
    >>> levels = (np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0]))
    >>> groups = Histogram.dense([[2, 0, 1, 1], [2, 2, 0, 0]])
    >>> hierarchical_distance(groups, np.array([1, 1, 1, 1]), levels).tolist()
    [0.125, 0.5]
    """
    height = len(levels) - 1
    score = np.where(histogram.lengths > 0, 0.0, np.inf)
    for h, level in enumerate(levels[:-1]):
        nodes = summed(units, level, int(level.max(initial=-1)) + 1)
        at_level = histogram.relabel(level) if h else histogram  # levels[0] is the identity
        score += equal_distance(at_level, nodes) / height
    return score
