"""A kd-tree over a shrinking set of points; ``search`` finds the nearest and the farthest of them.

The tree is balanced and implicit: node i has the children 2i + 1 and 2i + 2, and the points of a node are contiguous. A
point is removed by swapping it behind the remaining ones of its leaf; the boxes above it are tightened at once, so
queries never visit removed points. Each node stores the lowest number among its points, so that equal records that
cannot win a tie are skipped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, inverted
from hushtable.kernels.compile import compiled
from hushtable.kernels.metric import Metric

LEAF = 32
"""Maximum number of points in a leaf."""


class Tree(NamedTuple):
    """The arrays of a tree.

    Attributes
    ----------
    points : float64 array
        Coordinates, in the tree's order.
    ids : int64 array
        The number of each place's point.
    place : int64 array
        Where each point lies.
    leaf : int64 array
        The leaf of each place.
    begin, alive, first : int64 arrays
        Per node: where its points begin, how many remain, the lowest number among them.
    low, high : float64 arrays
        Per node and column: the box around the known values of the remaining points; low > high if there is none.
    gaps : bool array
        Per node and column: whether a value is missing.
    """

    points: FloatArray
    ids: IntArray
    place: IntArray
    leaf: IntArray
    begin: IntArray
    alive: IntArray
    first: IntArray
    low: FloatArray
    high: FloatArray
    gaps: BoolArray


def build(points: FloatArray, metric: Metric) -> Tree:
    """Build the tree of all points, numbered in input order."""
    n, d = points.shape
    depth = 0
    while n > LEAF << depth:
        depth += 1
    nodes = (2 << depth) - 1
    ids = np.arange(n, dtype=np.int64)
    begin, alive = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    compiled(_order)(points, ids, metric, begin, alive, (nodes - 1) // 2)
    tree = Tree(
        points=np.ascontiguousarray(points[ids]),
        ids=ids,
        place=inverted(ids),
        leaf=np.empty(n, dtype=np.int64),
        begin=begin,
        alive=alive,
        first=np.empty(nodes, dtype=np.int64),
        low=np.empty((nodes, d)),
        high=np.empty((nodes, d)),
        gaps=np.zeros((nodes, d), dtype=np.bool_),
    )
    compiled(_boxes)(tree, (nodes - 1) // 2)
    return tree


def _order(points: Any, ids: Any, metric: Any, begin: Any, alive: Any, inner: Any) -> None:
    """Divide every inner node at the middle of its widest column."""
    d = points.shape[1]
    alive[0] = len(ids)
    key = np.empty(len(ids), np.float64)
    for node in range(inner):
        a, b = begin[node], begin[node] + alive[node]
        widest, column = -1.0, 0
        for j in range(d):
            lo, hi = np.inf, -np.inf
            for i in range(a, b):
                x = points[ids[i], j]
                if x == x:
                    lo, hi = min(lo, x), max(hi, x)
            width = hi - lo
            if metric.labels[j] and hi > lo:
                width = np.sqrt(metric.steps[j, metric.height[j]])
            if width > widest:
                widest, column = width, j
        middle = (a + b) // 2
        for i in range(a, b):
            x = points[ids[i], column]
            key[i] = x if x == x else -np.inf
        _halve(key, ids, a, b, middle)
        begin[2 * node + 1], alive[2 * node + 1] = a, middle - a
        begin[2 * node + 2], alive[2 * node + 2] = middle, b - middle


def _halve(key: Any, ids: Any, a: Any, b: Any, middle: Any) -> None:
    """Partition around ``middle`` by (key, id)."""
    left, right = a, b - 1
    while left < right:
        pivot = (left + right) // 2
        x, y = key[pivot], ids[pivot]
        i, j = left, right
        while i <= j:
            while key[i] < x or (key[i] == x and ids[i] < y):
                i += 1
            while key[j] > x or (key[j] == x and ids[j] > y):
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                ids[i], ids[j] = ids[j], ids[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


def _boxes(tree: Any, inner: Any) -> None:
    for node in range(len(tree.alive) - 1, -1, -1):
        if node >= inner:
            for i in range(tree.begin[node], tree.begin[node] + tree.alive[node]):
                tree.leaf[i] = node
            _shrink(tree, node)
        else:
            _join(tree, node)


def _shrink(tree: Any, node: Any) -> None:
    """Fit a leaf's box to its remaining points."""
    a, b = tree.begin[node], tree.begin[node] + tree.alive[node]
    lowest = len(tree.ids)
    for i in range(a, b):
        lowest = min(lowest, tree.ids[i])
    tree.first[node] = lowest
    for j in range(tree.points.shape[1]):
        lo, hi, gap = np.inf, -np.inf, False
        for i in range(a, b):
            x = tree.points[i, j]
            if x == x:
                lo, hi = min(lo, x), max(hi, x)
            else:
                gap = True
        tree.low[node, j], tree.high[node, j], tree.gaps[node, j] = lo, hi, gap


def _join(tree: Any, node: Any) -> Any:
    """Fit an inner node's box to those of its children; return whether it has changed."""
    left, right = 2 * node + 1, 2 * node + 2
    lowest = min(tree.first[left], tree.first[right])
    changed = lowest != tree.first[node]
    tree.first[node] = lowest
    for j in range(tree.points.shape[1]):
        lo = min(tree.low[left, j], tree.low[right, j])
        hi = max(tree.high[left, j], tree.high[right, j])
        gap = tree.gaps[left, j] or tree.gaps[right, j]
        if lo != tree.low[node, j] or hi != tree.high[node, j] or gap != tree.gaps[node, j]:
            changed = True
            tree.low[node, j], tree.high[node, j], tree.gaps[node, j] = lo, hi, gap
    return changed


def remove(tree: Any, point: Any) -> None:
    """Remove a point."""
    at = tree.place[point]
    node = tree.leaf[at]
    last = tree.begin[node] + tree.alive[node] - 1
    other = tree.ids[last]
    for j in range(tree.points.shape[1]):
        x = tree.points[at, j]
        tree.points[at, j] = tree.points[last, j]
        tree.points[last, j] = x
    tree.ids[at], tree.ids[last] = other, point
    tree.place[other], tree.place[point] = at, last
    tree.alive[node] -= 1
    _shrink(tree, node)
    changed = True
    while node > 0:
        node = (node - 1) // 2
        tree.alive[node] -= 1
        if changed:
            changed = _join(tree, node)
