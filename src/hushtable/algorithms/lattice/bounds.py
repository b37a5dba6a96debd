"""Bounds from projections: what a few columns alone already force every node to suppress.

A group that is too small in the projection on two or three columns (the others generalised away) only gets smaller
when the others are told apart. So for every combination of levels of a pair or triple, the people in too small groups
are a lower bound of what any node with these levels suppresses: the subset phase of Incognito, turned into numbers.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from hushtable.algorithms.lattice.space import Space, Tuples
from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.tuples import leaf_cube, small_group_units

__all__ = ["forced_units", "project", "projectable"]

MOST_KEYS = 2**21
"""Projections with more combinations of nodes than this are passed over: they cost more than they prune."""


def projectable(space: Space, columns: tuple[int, ...]) -> bool:
    """Whether the projection on these columns has few enough combinations of nodes, over all their levels."""
    return math.prod(int(space.sizes[j].sum()) for j in columns) <= MOST_KEYS


def project(
    space: Space, minimum: int, columns: int, nodes: AnyArray, lost: IntArray, source: Tuples | None = None
) -> IntArray:
    """Raise the lower bounds ``lost`` of some nodes by the projections on every so many columns.

    From a rolled-up ``source``, the bounds of nodes that are not coarser are weaker than they could be, but hold.
    """
    lost = lost.copy()
    levels = [np.ascontiguousarray(nodes[:, j], dtype=np.int64) for j in range(space.d)]
    for chosen in itertools.combinations(range(space.d), columns):
        if not projectable(space, chosen):
            continue
        forced = forced_units(space, minimum, chosen, source)
        if not forced.any():
            continue
        place = levels[chosen[0]]
        for j in chosen[1:]:
            place = place * (int(space.heights[j]) + 1) + levels[j]
        np.maximum(lost, forced[place], out=lost)
    return lost


def forced_units(space: Space, minimum: int, columns: tuple[int, ...], source: Tuples | None = None) -> IntArray:
    """Return the units in too small groups of a projection, for every combination of its columns' levels."""
    tuples = source or space.base
    leaves = [int(space.leaves[j]) for j in columns]
    leaf = leaf_cube([tuples.columns[j] for j in columns], tuples.units, leaves)
    return small_group_units(leaf, space.lut, space.starts, space.sizes, columns, minimum)
