"""Microaggregation by cutting a minimum spanning tree at its longest edges.

The minimum spanning tree of all records is cut, longest edges first, wherever both parts keep at least k records. What
remains connected is a group. A group of 2k or more records, such as a star, has no such edge left: it is divided by
MDAV.

Details: the tree grows from the first record in canonical order. If several records are equally near, the first one
joins, at the first record that it is near to. If several edges are equally long, the edge of the first record is cut
first. k is the smallest group that the models allow, in people. With models beyond k-anonymity, groups that violate one
are merged with the nearest until none does.

When to use
-----------
As a baseline, or for records in well separated clusters.

When not
--------
For scattered data, or more than about 20,000 records: ``mdav`` is faster and usually loses less.

Cost
----
Quadratic: three seconds for 20,000 records of six numbers.

References
----------
M. Laszlo, S. Mukherjee, "Minimum spanning tree partitioning algorithm for microaggregation", TKDE 17(7), 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.mdav import TURN, mdav_groups
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units, part_of
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.metric import squared_distances


@dataclass(frozen=True)
class Mst(Microaggregation):
    """Groups are what remains of a minimum spanning tree without its longest edges.

    Examples
    --------
    >>> Mst(scale="range").values()
    {'scale': 'range'}
    """

    name: ClassVar[str] = "mst"

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Cut the tree, then divide what is still large."""
        order, above, length = _spanning_tree(problem, space)
        needed = needed_units(problem, space)
        root = _cut(order, above, length, space.weights, needed)
        # a group's records in canonical order, groups in the order of their first records
        _, of_record = np.unique(root, return_inverse=True)
        by_group = np.argsort(of_record, kind="stable")
        whole = np.split(by_group, np.cumsum(np.bincount(of_record))[:-1]) if len(space) else []
        return [part for group in whole for part in divided(problem, space, group, needed)], {}


def divided(problem: Problem, space: Space, group: IntArray, needed: int) -> list[IntArray]:
    """Divide a group by MDAV if it could be two.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> class Quiet:
    ...     progress = staticmethod(lambda share, what: None)
    >>> space = Space.of(example().table, np.arange(5))
    >>> [part.tolist() for part in divided(Quiet, space, np.array([0, 1, 3, 4]), 2)]
    [[4, 3], [0, 1]]
    >>> [part.tolist() for part in divided(Quiet, space, np.array([0, 1, 4]), 2)]
    [[0, 1, 4]]
    """
    if int(space.weights[group].sum()) < 2 * needed:
        return [group]
    left = Microaggregation.unassigned(part_of(space, group))
    return [group[part] for part in mdav_groups(problem, left, needed)]


def _spanning_tree(problem: Problem, space: Space) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the records as they join, and for each record the one that it joins at and their squared distance.

    The first record joins at none (-1).
    """
    n = len(space)
    order, above = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    length, outside = np.full(n, np.inf), np.ones(n, dtype=np.bool_)
    latest = 0
    for turn in range(n):
        if turn % TURN == 0:
            problem.progress(turn / n, "spanning")
        order[turn] = latest
        outside[latest] = False
        far = squared_distances(space.points, space.points[latest], space.metric)
        nearer = outside & (far < length)
        length[nearer], above[nearer] = far[nearer], latest
        latest = int(np.argmin(np.where(outside, length, np.inf)))
    return order, above, length


def _cut(order: IntArray, above: IntArray, length: FloatArray, units: IntArray, needed: int) -> IntArray:
    """Cut edges, and return the root of each record's tree."""
    parent, size = above.tolist(), units.tolist()
    for record in reversed(order.tolist()):
        if parent[record] >= 0:
            size[parent[record]] += size[record]
    for record in np.argsort(-length, kind="stable").tolist():
        if parent[record] < 0 or size[record] < needed:
            continue
        top = parent[record]
        while parent[top] >= 0:
            top = parent[top]
        if size[top] - size[record] < needed:
            continue
        up, parent[record] = parent[record], -1
        while up >= 0:
            size[up] -= size[record]
            up = parent[up]
    root = list(range(len(parent)))
    for record in order.tolist():
        if parent[record] >= 0:
            root[record] = root[parent[record]]
    return np.array(root, dtype=np.int64)
