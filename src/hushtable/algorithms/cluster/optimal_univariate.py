"""Optimal microaggregation of one quasi-identifier: the minimum sum of squared errors, in polynomial time.

In sorted order, the groups of an optimal partition are runs of k to 2k - 1 records; the best sequence of runs is a
shortest path.

Details: records with a missing value come first; in a group with others, each counts with the squared distance of a
missing value. With models beyond k-anonymity, groups are merged with their nearest until the models hold, and the
result is no longer optimal.

When to use
-----------
For one numeric or ordered quasi-identifier: the exact minimum of the squared error.

When not
--------
For several quasi-identifiers (refused).

Cost
----
One sort, and one pass of n times k steps.

References
----------
S. L. Hansen, S. Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", TKDE 15(4), 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray
from hushtable.errors import IncompatibleError
from hushtable.kernels.univariate import best_runs
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import TablePlan


@dataclass(frozen=True)
class OptimalUnivariate(Microaggregation):
    """The best groups along one ordered column.

    Examples
    --------
    >>> OptimalUnivariate().values()
    {}
    """

    name: ClassVar[str] = "optimal-univariate"

    def check_table(self, table: TablePlan) -> None:
        """Refuse anything but one ordered quasi-identifier."""
        quasi = [c for c in table.columns if c.role is Role.QUASI]
        _check(len(quasi), [c.name for c in quasi if c.kind is Kind.NOMINAL])

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Find the shortest path over the sorted records."""
        quasi = problem.table.quasi
        _check(len(quasi), [c.name for c in quasi if c.coded.kind is Kind.NOMINAL])
        values = space.points[:, 0]
        # points are in canonical order, which equal ones keep; missing values come first
        order = np.argsort(np.where(np.isnan(values), -np.inf, values), kind="stable")
        units = None if space.units is None else space.units[order]
        needed = needed_units(problem, space)
        starts = best_runs(values[order], needed, float(space.metric.missing[0]), units)
        return np.split(order, starts[1:]), {}


def _check(columns: int, nominal: list[str]) -> None:
    if columns != 1:
        raise IncompatibleError(
            f"optimal-univariate needs exactly one quasi-identifier, and the policy has {columns}.",
            hint="Use mdav for several columns.",
        )
    if nominal:
        raise IncompatibleError(
            f"optimal-univariate sorts records, and the labels of {nominal[0]!r} have no order.",
            hint="Use mdav, or give the column an order.",
        )
