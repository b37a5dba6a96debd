"""CBFS: centroid-based fixed-size microaggregation, one group at a time.

As long as k records remain, the record farthest from their centroid, recomputed each time, and its k - 1 nearest form
a group. Each leftover record joins the group with the nearest centroid.

When to use
-----------
Like MDAV, if groups should follow the remaining records more closely.

When not
--------
For large tables: the centroid is recomputed for every group.

Cost
----
A small multiple of MDAV's cost.

References
----------
M. Laszlo, S. Mukherjee, "Minimum spanning tree partitioning algorithm for microaggregation", TKDE 17(7), 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.mdav import TURN
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray


@dataclass(frozen=True)
class Cbfs(Microaggregation):
    """Centroid-based fixed-size microaggregation.

    Examples
    --------
    >>> Cbfs().values()
    {}
    """

    name: ClassVar[str] = "cbfs"

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Form groups from the outside in, one at a time."""
        left, needed = self.unassigned(space), needed_units(problem, space)
        found: list[IntArray] = []
        while left.units >= needed and len(left):
            if len(found) % TURN == 0:
                problem.progress(1.0 - len(left) / len(space), "grouping")
            found.append(left.take(left.farthest_from_centroid(), needed))
        return found, {}
