"""Range-query error: how wrong counts from the release are.

A query counts the records with values in a range of 2 or 3 quasi-identifiers, drawn at random (fewer if the
table has fewer that vary). On m columns each range holds ``max(1, round(D x selectivity^(1/m)))`` of the D values
in code order: the order of numbers, dates and ordinal labels, for nominal columns that of the hierarchy's leaves.
Missing values are in no range. The release's answer assumes that a class is spread evenly over the leaves that its
cells cover: ``estimate = sum over classes of |G| x product over the query's columns of (covered leaves in the
range / covered leaves)``, where a record counts as its survey weight if there are weights, in ``|G|`` as in the true
count and in N; suppressed records are not in the release and not in its answer. The error of a query is
``|estimate - true| / max(true, sanity x N)``, so that rare hits do not dominate; the measure is the
median.

Queries depend only on the seed and the domains: all releases of one table get the same queries.

References
----------
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Workload-aware anonymization", 2006; X. Xiao, Y. Tao, "Anatomy: simple and
effective privacy preservation", 2006; the sanity bound as in X. Xiao, G. Wang, J. Gehrke, "Differential privacy
via wavelet transforms", 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, ClassVar, TypeAlias

import numpy as np

from hushtable import rng
from hushtable.arrays import AnyArray, BoolArray, FloatArray
from hushtable.params import AtLeast, Between
from hushtable.utility.base import Comparison, Measure

Query: TypeAlias = tuple[tuple[int, int, int], ...]
"""For each queried column: its position among the quasi-identifiers, and the smallest and the largest code."""


_HELD = 1 << 23
"""Numbers to keep for later queries: 64 MiB."""


def draw_queries(comparison: Comparison, queries: int, selectivity: float) -> list[Query]:
    """Draw range queries; none if no quasi-identifier has two values.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> draw_queries(example(), queries=2, selectivity=0.25)
    [((1, 1, 2), (0, 0, 1)), ((1, 0, 1), (0, 2, 3))]
    """
    coded = [cells.column.coded for cells in comparison.cells]
    values = np.array([c.size - int(c.missing) for c in coded])
    usable = np.flatnonzero(values > 1)
    if not len(usable):
        return []
    seed, d = comparison.seed, len(usable)
    order = np.argsort(rng.uniform(seed, "query-error/columns", queries * d).reshape(queries, d), axis=1, kind="stable")
    asked = np.minimum(rng.integers(seed, "query-error/width", queries, 2, 4), d)
    place = rng.uniform(seed, "query-error/place", queries * 3).reshape(queries, 3)
    out = []
    for i in range(queries):
        m = int(asked[i])
        query = []
        for slot, j in enumerate(usable[order[i, :m]].tolist()):
            width = max(1, round(int(values[j]) * selectivity ** (1 / m)))
            low = int(coded[j].missing) + int(place[i, slot] * (int(values[j]) - width + 1))
            query.append((j, low, low + width - 1))
        out.append(tuple(query))
    return out


def true_counts(queries: Sequence[Query], columns: Sequence[AnyArray], records: AnyArray) -> FloatArray:
    """Return the number of original records that each query hits.

    Examples
    --------
    >>> true_counts([((0, 1, 2),), ((0, 2, 2), (1, 0, 0))], [np.array([1, 2]), np.array([0, 1])], np.array([3, 4]))
    array([7., 0.])
    """

    @lru_cache(max(1, _HELD // max(len(records), 1)))
    def inside(j: int, low: int, high: int) -> BoolArray:
        return np.asarray((columns[j] >= low) & (columns[j] <= high))

    found = np.zeros(len(queries))
    for i, query in enumerate(queries):
        first, *others = query
        hit = inside(*first)
        for one in others:
            hit = hit & inside(*one)
        found[i] = records[hit].sum()
    return found


def answers(comparison: Comparison, queries: Sequence[Query]) -> FloatArray:
    """Return the counts that the release suggests.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> answers(example(), [((0, 1, 3), (1, 0, 0))])  # 2 x 1/2 x 1/2 + 2 x 2/2 x 0
    array([0.5])
    """
    classes = comparison.represented[0]

    # columns with few values have few ranges, so many queries share one
    @lru_cache(max(1, _HELD // max(len(classes), 1)))
    def share(j: int, low: int, high: int) -> FloatArray:
        cells = comparison.cells[j]
        inside = np.zeros(cells.column.coded.size, dtype=np.int64)
        inside[low : high + 1] = 1
        return np.asarray(comparison.by_class(j, cells.expected(inside)))

    found = np.zeros(len(queries))
    for i, query in enumerate(queries):
        parts = classes.copy()
        for one in query:
            parts *= share(*one)
        found[i] = parts.sum()
    return found


@dataclass(frozen=True)
class QueryError(Measure):
    """Median relative error of random range counts.

    Parameters
    ----------
    queries : int
        Number of queries.
    selectivity : float
        Share of the domain that a query covers.
    sanity : float
        Share of the records below which true counts are replaced with this share.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> QueryError(queries=100).compute(example())  # at least half of them are answered exactly
    0.0
    """

    queries: Annotated[int, AtLeast(1), "number of random queries"] = 500
    selectivity: Annotated[float, Between(0, 1, closed="right"), "share of the domain that a query covers"] = 0.1
    sanity: Annotated[float, Between(0, 1, closed="right"), "minimum share of the records to divide by"] = 0.001

    name: ClassVar[str] = "query-error"
    default: ClassVar[bool] = False
    weighs: ClassVar[bool] = True

    def compute(self, comparison: Comparison) -> float:
        """Ask the original and the release."""
        queries = draw_queries(comparison, self.queries, self.selectivity)
        if not queries:
            return float("nan")
        true = comparison.over_tuples(partial(true_counts, queries))
        found = answers(comparison, queries)
        classes, lost = comparison.represented
        least = self.sanity * (float(classes.sum()) + lost)
        return float(np.median(np.abs(found - true) / np.maximum(true, least)))
