"""The regions of a partition made by cuts, for placing new records.

Published cells are tight around the records of a class; regions tile the whole space. ``Anonymizer.transform`` needs
the regions, because a new record need not lie in any tight cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.arrays import AnyArray, IntArray


@dataclass(frozen=True)
class CutTree:
    """A binary tree of cuts, as arrays over its nodes; node 0 is the root.

    Attributes
    ----------
    column : int64 array
        The quasi-identifier that a node cuts; -1 for a leaf.
    cut : int64 array
        Codes up to this go left.
    left, right : int64 arrays
        Children of a node.
    label : int64 array
        The group of a leaf.

    Examples
    --------
    >>> b = TreeBuilder()
    >>> l, r = b.split(np.array([0]), np.array([1]), np.array([4]))
    >>> tree = b.tree(np.concatenate([l, r]), np.array([0, 1]))
    >>> tree.assign([np.array([9, 9]), np.array([4, 5])]).tolist()
    [0, 1]
    """

    column: IntArray
    cut: IntArray
    left: IntArray
    right: IntArray
    label: IntArray

    def assign(self, columns: Sequence[AnyArray]) -> IntArray:
        """Return the group whose region contains each row of codes."""
        node = np.zeros(len(columns[0]), dtype=np.int64)
        moving = np.arange(len(node)) if self.column[0] >= 0 else np.empty(0, dtype=np.int64)
        while len(moving):
            at = node[moving]
            by = self.column[at]
            code = np.empty(len(moving), dtype=np.int64)
            for c in np.unique(by):
                here = by == c
                code[here] = columns[c][moving[here]]
            node[moving] = np.where(code <= self.cut[at], self.left[at], self.right[at])
            moving = moving[self.column[node[moving]] >= 0]
        return self.label[node]

    def boxes(self, sizes: Sequence[int], n_groups: int) -> tuple[IntArray, IntArray]:
        """Return the lowest and highest code of each group's region, group by column."""
        low = np.zeros((len(self.column), len(sizes)), dtype=np.int64)
        high = np.tile(np.asarray(sizes, dtype=np.int64) - 1, (len(self.column), 1))
        # children are numbered after their parents, so one pass in order of number is enough
        for node in np.flatnonzero(self.column >= 0):
            for child in (self.left[node], self.right[node]):
                low[child], high[child] = low[node], high[node]
            c, cut = self.column[node], self.cut[node]
            high[self.left[node], c] = min(high[node, c], cut)
            low[self.right[node], c] = max(low[node, c], cut + 1)
        leaf = np.flatnonzero(self.column < 0)
        lo = np.zeros((n_groups, len(sizes)), dtype=np.int64)
        hi = np.zeros((n_groups, len(sizes)), dtype=np.int64)
        lo[self.label[leaf]], hi[self.label[leaf]] = low[leaf], high[leaf]
        return lo, hi


class TreeBuilder:
    """Collects the cuts of each level while a partition grows."""

    def __init__(self) -> None:
        self._size = 1
        self._cuts: list[tuple[AnyArray, AnyArray, AnyArray, int]] = []

    def split(self, nodes: IntArray, columns: IntArray, cuts: IntArray) -> tuple[IntArray, IntArray]:
        """Give each of these nodes two children; return the children's numbers."""
        # kept small: at k = 5 there is a cut for every ten rows
        self._cuts.append((nodes.astype(np.int32), columns.astype(np.int16), cuts.astype(np.uint32), self._size))
        first = self._size + 2 * np.arange(len(nodes), dtype=np.int64)
        self._size += 2 * len(nodes)
        return first, first + 1

    def tree(self, leaves: IntArray, labels: IntArray) -> CutTree:
        """Return the finished tree, given which nodes are leaves and their groups."""
        column = np.full(self._size, -1, dtype=np.int64)
        cut = np.zeros(self._size, dtype=np.int64)
        left = np.zeros(self._size, dtype=np.int64)
        label = np.full(self._size, -1, dtype=np.int64)
        for nodes, columns, cuts, first in self._cuts:
            column[nodes], cut[nodes] = columns, cuts
            left[nodes] = first + 2 * np.arange(len(nodes))
        label[leaves] = labels
        return CutTree(column, cut, left, left + 1, label)
