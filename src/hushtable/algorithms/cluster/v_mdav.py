"""V-MDAV: microaggregation into groups of variable size.

The record farthest from the centroid of the whole table and its k - 1 nearest form a group. The group then grows to
at most 2k - 1 records: the remaining record nearest to any member joins if it is closer to the group than gamma times
its distance to the nearest other remaining record. If fewer than k records are left, they join the nearest group.

With a gamma of 0, groups never grow; about 0.2 suits scattered data, about 1.1 clustered data.

When to use
-----------
When records form natural clusters that fixed sizes would split.

When not
--------
If you do not know a suitable ``gamma``: on scattered data, a large one adds loss.

Cost
----
A small multiple of MDAV's cost.

References
----------
A. Solanas, A. Martinez-Balleste, "V-MDAV: a multivariate microaggregation with variable group size", COMPSTAT 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.mdav import TURN
from hushtable.algorithms.cluster.microaggregation import Microaggregation, needed_units
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import IntArray
from hushtable.kernels.metric import squared_distances
from hushtable.kernels.unassigned import Unassigned
from hushtable.params import AtLeast

AHEAD = 256
"""Number of candidates for the next seeds."""


@dataclass(frozen=True)
class VMdav(Microaggregation):
    """Variable-size maximum distance to average vector.

    Parameters
    ----------
    gamma : float
        Factor that limits growth: a record joins if it is closer to the group than gamma times its distance to others.

    Examples
    --------
    >>> VMdav(gamma=1.1).values()
    {'gamma': 1.1}
    """

    gamma: Annotated[float, AtLeast(0), "how readily groups grow beyond k"] = 0.2

    name: ClassVar[str] = "v-mdav"

    def groups(self, problem: Problem, space: Space) -> tuple[list[IntArray], dict[str, Any]]:
        """Form groups from the outside in and let them grow."""
        left, needed = self.unassigned(space), needed_units(problem, space)
        far = squared_distances(space.points, left.centroid(), space.metric)
        found: list[IntArray] = []
        order = np.lexsort((np.arange(len(far)), -far))
        for place, seed in enumerate(order.tolist()):
            if not left.alive[seed]:
                continue
            left.expect(order[place : place + AHEAD])
            if left.units < needed:
                break
            if len(found) % TURN == 0:
                problem.progress(1.0 - len(left) / len(space), "grouping")
            found.append(self._extended(left, left.take(seed, needed), 2 * needed, space))
        return found, {}

    def _extended(self, left: Unassigned, group: IntArray, limit: int, space: Space) -> IntArray:
        size = len(group) if space.units is None else int(space.units[group].sum())
        members = group.tolist()
        left.expect(group)
        near = [left.nearest(m) for m in members]
        while len(left) and size + space.unit < limit + (space.units is not None):
            inside, candidate = min((far, record) for record, far in near)
            outside = left.nearest(candidate)[1]
            # distances are squared
            if not inside < self.gamma**2 * outside:
                break
            left.remove(candidate)
            members.append(candidate)
            size += 1 if space.units is None else int(space.units[candidate])
            near = [left.nearest(m) if record == candidate else (record, far)
                    for m, (record, far) in zip(members, [*near, (candidate, 0.0)], strict=True)]  # fmt: skip
        return np.array(members, dtype=np.int64)
