"""Bounds from projections: what a few columns alone already force every node to suppress.

A group that is too small in the projection on two or three columns (the others generalised away) only gets smaller
when the others are told apart. So for every combination of levels of a pair or triple, the people in too small groups
are a lower bound of what any node with these levels suppresses: the subset phase of Incognito, turned into numbers.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from hushtable.algorithms.lattice.space import Space
from hushtable.arrays import IntArray
from hushtable.kernels.tuples import small_group_units

__all__ = ["project", "projectable"]

MOST_KEYS = 2**21
"""Projections with more combinations of nodes than this are passed over: they cost more than they prune."""


def projectable(space: Space, columns: tuple[int, ...]) -> bool:
    """Whether the projection on these columns has few enough combinations of nodes, over all their levels."""
    return math.prod(int(space.sizes[j].sum()) for j in columns) <= MOST_KEYS


def project(space: Space, minimum: int, columns: int, lost: IntArray) -> IntArray:
    """Raise the lower bounds ``lost`` of all nodes by the projections on every so many columns."""
    nodes = space.nodes
    lost = lost.copy()
    for chosen in itertools.combinations(range(space.d), columns):
        if not projectable(space, chosen):
            continue
        index = np.array(chosen, dtype=np.int64)
        forced = small_group_units(
            space.base.codes, space.base.units, space.lut, space.starts, space.sizes, index, minimum
        )
        place = np.zeros(len(nodes), dtype=np.int64)
        for j in chosen:
            place = place * (int(space.heights[j]) + 1) + nodes[:, j]
        np.maximum(lost, forced[place], out=lost)
    return lost
