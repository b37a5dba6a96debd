"""Bounds from projections: the suppression that a few columns alone force on every node.

A group that is too small in the projection on two or three columns (with the others fully generalized) only gets
smaller when the others are distinguished. So for every combination of levels of a pair or triple, the number of
people in groups that are too small is a lower bound on the suppression at any node with these levels: a numeric
version of Incognito's subset phase.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.algorithms.lattice.space import SearchSpace, Tuples
from hushtable.algorithms.store import Rolled
from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.cubes import leaf_cube, small_group_units

MOST_KEYS = 2**21
"""Projections with more combinations of nodes are skipped: they cost more than they prune."""

SPARSE = 4
"""Minimum number of tuples per combination of three columns for counting pairs three at a time."""

Columns = tuple[int, ...]


@dataclass(frozen=True)
class _Projected:
    """Tuples at the levels to which they were rolled up, which replace the leaves."""

    cube: Callable[[Columns, Sequence[int]], IntArray]
    n: int
    levels: IntArray
    lut: AnyArray
    starts: IntArray
    sizes: IntArray

    @property
    def d(self) -> int:
        return len(self.levels)

    @cached_property
    def _nodes(self) -> list[int]:
        """Number of nodes of each column over all its levels."""
        return [int(n) for n in self.sizes.sum(axis=1)]

    @cached_property
    def leaves(self) -> list[int]:
        """Number of leaves of each column."""
        return [int(n) for n in self.sizes[:, 0]]

    def projectable(self, columns: Columns) -> bool:
        return math.prod(self._nodes[j] for j in columns) <= MOST_KEYS

    def leaf_cube(self, columns: Columns) -> IntArray:
        return self.cube(columns, [self.leaves[j] for j in columns])

    def forced(self, leaf: IntArray, columns: Columns, minimum: int) -> IntArray:
        return small_group_units(leaf, self.lut, self.starts, self.sizes, columns, minimum)


def _view(space: SearchSpace, tuples: Tuples | Rolled) -> _Projected:
    if not tuples.levels.any():
        return _Projected(tuples.cube, len(tuples), np.zeros_like(space.heights), space.lut, space.starts, space.sizes)
    starts, sizes = np.zeros_like(space.starts), np.zeros_like(space.sizes)
    parts, columns, at = [], [], 0
    for j, level in enumerate(tuples.levels.tolist()):
        nodes = _table(space, j, level)
        if isinstance(tuples, Tuples):
            columns.append(nodes[tuples.columns[j]])
        for number, above in enumerate(range(level, int(space.heights[j]) + 1)):
            table = np.zeros(int(space.sizes[j, level]), dtype=space.lut.dtype)
            table[nodes] = _table(space, j, above)
            starts[j, number], sizes[j, number] = at, space.sizes[j, above]
            parts.append(table)
            at += len(table)

    def cube(chosen: Columns, leaves: Sequence[int]) -> IntArray:
        if not isinstance(tuples, Tuples):
            return tuples.cube(chosen, leaves)
        return leaf_cube([columns[j] for j in chosen], tuples.units, leaves)

    return _Projected(cube, len(tuples), tuples.levels, np.concatenate(parts), starts, sizes)


def _table(space: SearchSpace, j: int, level: int) -> AnyArray:
    start = int(space.starts[j, level])
    return space.lut[start : start + int(space.leaves[j])]


def projectable(space: SearchSpace, columns: Columns) -> bool:
    """Whether the projection on these columns has few enough combinations of nodes, over all their levels."""
    return _view(space, space.root).projectable(columns)


def project(
    space: SearchSpace,
    minimum: int,
    columns: int,
    nodes: AnyArray,
    lost: IntArray,
    source: Tuples | Rolled | None = None,
) -> IntArray:
    """Raise the lower bounds ``lost`` of some nodes by the projections on all sets of ``columns`` columns.

    From a rolled-up ``source``, the bounds of nodes that are not coarser are weaker than they could be, but hold.
    """
    lost = lost.copy()
    view = _view(space, source or space.root)
    levels = [np.maximum(nodes[:, j].astype(np.int64) - view.levels[j], 0) for j in range(space.d)]
    for chosen, leaf in _cubes(view, columns):
        forced = view.forced(leaf, chosen, minimum)
        if not forced.any():
            continue
        place = levels[chosen[0]]
        for j in chosen[1:]:
            place = place * int(space.heights[j] - view.levels[j] + 1) + levels[j]
        np.maximum(lost, forced[place], out=lost)
    return lost


def _cubes(view: _Projected, columns: int) -> Iterator[tuple[Columns, IntArray]]:
    """Every projection on this many columns, with joint counts of its leaves."""
    wanted = {c for c in itertools.combinations(range(view.d), columns) if view.projectable(c)}
    if columns == 2:
        for triple in _triples(view, wanted):
            # one pass over the tuples serves three pairs
            cube = view.leaf_cube(triple)
            for left_out in range(3):
                pair = triple[:left_out] + triple[left_out + 1 :]
                if pair in wanted:
                    wanted.remove(pair)
                    yield pair, cube.sum(axis=left_out)[..., None]
    for chosen in sorted(wanted):
        yield chosen, view.leaf_cube(chosen)


def _triples(view: _Projected, pairs: set[Columns]) -> list[Columns]:
    """Triples with few combinations that contain two or three of these pairs not contained in another."""
    most = min(view.n // SPARSE, MOST_KEYS)
    left: set[Columns] = set(pairs)
    out: list[Columns] = []
    triples = [
        triple
        for triple in itertools.combinations(range(view.d), 3)
        if math.prod(view.leaves[j] for j in triple) <= most
    ]
    for least in (3, 2):
        for triple in triples:
            inside = left.intersection(itertools.combinations(triple, 2))
            if len(inside) >= least:
                left -= inside
                out.append(triple)
    return out


def forced_units(space: SearchSpace, minimum: int, columns: Columns) -> IntArray:
    """Return the units in groups of a projection that are too small, for every combination of its columns' levels."""
    view = _view(space, space.root)
    return view.forced(view.leaf_cube(columns), columns, minimum)
