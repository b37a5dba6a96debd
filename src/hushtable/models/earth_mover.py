"""Earth mover's distances between the classes' distributions and the whole table's, all classes at once.

The distance is the least work that turns one distribution into the other when moving a share of 1 between two
values costs their ground distance. For the ground distances used here it has a closed form:

equal
    Every two values are 1 apart: half the sum of the absolute differences.
ordered
    Values i and j of m are |i - j| / (m - 1) apart: the sum of the absolute differences of the cumulative
    distributions, over m - 1.
hierarchical
    Values are as far apart as their lowest common node is high, over the height H of the root. On such a tree the
    work is the flow through each edge times its length, 1 / 2H, hence the mean over the levels below the root of
    the equal distance between the two distributions of that level's nodes. (Li et al. sum the lesser of what a
    node's children have too much and too little of, times the node's height; the tests check that it is the same.)

A group without records is at infinite distance.

References
----------
N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", 2007.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.table.stats import Histogram

__all__ = ["equal_distance", "hierarchical_distance", "ordered_distance"]


def equal_distance(histogram: Histogram, units: IntArray) -> FloatArray:
    """Half the L1 distance of each group to the distribution ``units`` (one count per value).

    Examples
    --------
    >>> equal_distance(Histogram.dense([[1, 3], [2, 2], [0, 0]]), np.array([3, 5])).tolist()
    [0.125, 0.125, inf]
    """
    total = max(int(units.sum()), 1)
    # both distributions sum to 1, so what is too much equals what is too little
    surplus = np.maximum(histogram.shares() - units[histogram.values] / total, 0.0)
    return np.where(histogram.lengths > 0, histogram.sum(surplus), np.inf)


def ordered_distance(histogram: Histogram, units: IntArray) -> FloatArray:
    """1-D distance of each group to ``units``, values equally spaced from 0 to 1 in code order.

    Costs O(entries x log values): between two neighbouring values of a group its cumulative share is constant and
    the table's grows, so their absolute difference is summed by two look-ups in prefix sums.

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
        nodes = np.zeros(int(level.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(nodes, level, units)
        at_level = histogram.relabel(level) if h else histogram  # levels[0] is the identity
        score += equal_distance(at_level, nodes) / height
    return score
