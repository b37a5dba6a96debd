"""MDAV-generic: groups of k around the outermost records, exact at any size.

As long as 3k records remain, the record farthest from their centroid and its k - 1 nearest form a group, and the
record farthest from that one and its k - 1 nearest form another. If at least 2k then remain, the one farthest from
the centroid and its k - 1 nearest form a group, and the rest form the last. Fewer than 2k form one group.

Details: ties go to the first record in canonical order. The second seed is chosen after the first group is removed,
which matters only if all records are equally far. k is the smallest group that the models allow, in people. With
models beyond k-anonymity, groups that violate one are merged with the nearest until none does, as in MDAV with
t-closeness by merging.

When to use
-----------
For numbers that should stay numbers: groups are published as their means, and totals do not change.

When not
--------
When published cells must cover the original values: a mean does not. Models that count a population are refused.

Cost
----
Quadratic in theory. Takes one second for 100,000 records of six numbers with its index, or for 20,000 records of a
hundred without it. A graphics card takes 6 seconds for 1,000,000 records of fifty (docs/gpu.md). Otherwise, use
``quality: fast`` beyond 200,000 records.

References
----------
J. Domingo-Ferrer, V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation", Data Mining
and Knowledge Discovery 11(2), 2005; J. Soria-Comas et al., "t-closeness through microaggregation", TKDE 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray
from hushtable.kernels.unassigned import Unassigned

TURN = 64
"""Number of groups between progress reports."""


@dataclass(frozen=True)
class Mdav(Microaggregation):
    """Maximum distance to average vector.

    Examples
    --------
    >>> Mdav(scale="range").values()
    {'scale': 'range'}
    """

    name: ClassVar[str] = "mdav"

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Form groups from the outside."""
        left = self.unassigned(space)
        return list(mdav_groups(problem, left, needed_units(problem, space))), {}


def mdav_groups(problem: Problem, left: Unassigned, needed: int) -> Iterator[IntArray]:
    """Yield MDAV's groups of at least the units needed, one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.kernels.metric import Metric
    >>> from hushtable.kernels.unassigned import Scan
    >>> left = Scan(np.array([[0.0], [1.0], [5.0], [6.0], [9.0], [8.0]]), Metric.of_numbers(1))
    >>> class Quiet:
    ...     progress = staticmethod(lambda share, what: None)
    >>> [group.tolist() for group in mdav_groups(Quiet, left, 2)]
    [[0, 1], [4, 5], [2, 3]]
    """
    everybody = max(len(left), 1)
    for turn, group in enumerate(left.opposites(needed)):
        if turn % TURN == 0:
            problem.progress(1.0 - len(left) / everybody, "grouping")
        yield group
    if left.units >= 2 * needed:
        yield left.take(left.farthest_from_centroid(), needed)
    if len(left):
        yield left.rows()
