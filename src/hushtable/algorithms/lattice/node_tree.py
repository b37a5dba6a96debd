"""A column's hierarchy as a tree of nodes that differ: chains of nodes above the same leaves count as their lowest.

Algorithms that cut through a hierarchy, instead of taking one level, walk this tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import IntArray
from hushtable.hierarchy.base import Coded

__all__ = ["NodeTree"]


@dataclass(frozen=True)
class NodeTree:
    """Nodes ``0 .. size - 1``; the leaves are the column's codes.

    Attributes
    ----------
    paths : (depth + 1, leaves) int64 array
        ``paths[k, leaf]`` is the node above a leaf k steps below the root; the leaf itself where its path is shorter.
    level : int64 array
        The lowest level of the hierarchy that has each node.
    depth : int64 array
        How many steps each node is below the root.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hushtable.schema.columns import Kind
    >>> coded = Coded(Kind.NOMINAL, pa.array(["a", "b", "c"]), False,
    ...               (np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])),
    ...               (("a", "b", "c"), ("ab", "c"), ("*",)))
    >>> tree = NodeTree.of(coded)
    >>> tree.paths.tolist()
    [[4, 4, 4], [3, 3, 2], [0, 1, 2]]
    >>> tree.level.tolist(), tree.leaves.tolist()
    ([0, 0, 0, 1, 2], [1, 1, 1, 2, 3])
    >>> tree.above(np.array([3, 3, 2])).tolist(), tree.below(np.array([3, 3, 2])).tolist()
    ([4, 4, 4], [0, 1, 2])
    """

    paths: IntArray
    level: IntArray
    depth: IntArray

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.level)

    @cached_property
    def leaves(self) -> IntArray:
        """How many leaves each node covers."""
        own = np.zeros(self.size, dtype=np.int64)
        for k, nodes in enumerate(self.paths):
            np.add.at(own, nodes[self.depth[nodes] == k], 1)
        return own

    def above(self, cut: IntArray) -> IntArray:
        """Return the parent of each leaf's node in a cut; the root for the root."""
        return self.paths[np.maximum(self.depth[cut] - 1, 0), np.arange(len(cut))]

    def below(self, cut: IntArray) -> IntArray:
        """Return the child of each leaf's node in a cut that is above the leaf; the leaf for a leaf."""
        return self.paths[np.minimum(self.depth[cut] + 1, len(self.paths) - 1), np.arange(len(cut))]

    @classmethod
    def of(cls, coded: Coded) -> NodeTree:
        """Build the tree of a coded hierarchy, level by level from the leaves."""
        above = np.arange(coded.size, dtype=np.int64)
        level = [0] * coded.size
        rows = [above]
        for h in range(1, coded.height + 1):
            group = coded.levels[h]
            pairs = np.unique(np.column_stack([group, above]), axis=0)
            children = np.bincount(pairs[:, 0], minlength=len(coded.labels[h]))
            number = np.full(len(children), -1, dtype=np.int64)
            single = children[pairs[:, 0]] == 1
            number[pairs[single, 0]] = pairs[single, 1]
            new = np.flatnonzero(children > 1)
            number[new] = len(level) + np.arange(len(new))
            level += [h] * len(new)
            above = number[group]
            rows.append(above)
        paths = [rows[-1]]
        place = np.full(coded.size, len(rows) - 1)
        depth = np.zeros(len(level), dtype=np.int64)
        while (paths[-1] != rows[0]).any():
            place = _next_lower(np.array(rows), place)
            paths.append(np.array(rows)[place, rows[0]])
            depth[paths[-1]] = np.where(paths[-1] == paths[-2], depth[paths[-1]], len(paths) - 1)
        return cls(np.array(paths), np.array(level, dtype=np.int64), depth)


def _next_lower(rows: IntArray, place: IntArray) -> IntArray:
    """Return, for every leaf, the next lower row that names another node; the lowest row where there is none."""
    leaf = np.arange(rows.shape[1])
    now = rows[place, leaf]
    place = place.copy()
    moving = (place > 0) & (rows[place, leaf] == now)
    while moving.any():
        place[moving] -= 1
        moving = (place > 0) & (rows[place, leaf] == now)
    return place
