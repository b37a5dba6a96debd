"""A kd-tree over a shrinking set of points: exact nearest and farthest records, ties to the lowest number.

The tree is balanced and implicit: node i has the children 2i + 1 and 2i + 2, and the points of a node lie side by
side. A point is removed by swapping it behind the living ones of its leaf; the boxes above it are tightened at once,
so that queries never look into what is gone. Each node knows the lowest number among its points: where many records
are equal, those that cannot win a tie are passed over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.compile import compiled
from hushtable.kernels.metric import Metric, distance, least, most, plain_distance, plain_least, plain_most

__all__ = ["Tree", "build", "farthest", "nearest", "remove"]

LEAF = 32
"""Points of a leaf, at most."""


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
        Per node: where its points begin, how many are left, the lowest number among them.
    low, high : float64 arrays
        Per node and column: the box around the known values of what is left; low > high where there is none.
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
    """Build the tree of all points, numbered as they come."""
    n, d = points.shape
    depth = 0
    while n > LEAF << depth:
        depth += 1
    nodes = (2 << depth) - 1
    ids = np.arange(n, dtype=np.int64)
    begin, alive = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    compiled(_order)(points, ids, metric, begin, alive, (nodes - 1) // 2)
    place = np.empty(n, dtype=np.int64)
    place[ids] = np.arange(n)
    tree = Tree(
        points=np.ascontiguousarray(points[ids]),
        ids=ids,
        place=place,
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
    """Move what belongs before ``middle`` in order of (key, id) before it."""
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
    """Fit a leaf's box to the points that are left."""
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
    """Take a living point out."""
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


def nearest(tree: Any, origin: Any, metric: Any, kinds: Any, allowed: Any, found: Any, far: Any) -> Any:
    """Fill ``found`` and ``far`` with the nearest points and their squared distances; return how many there are.

    ``allowed`` says which kinds of points count, ``kinds`` the kind of each; empty: all do.
    """
    # attributes of tuples are looked up once: each look-up in a loop costs as much as a distance
    points, ids, begin, alive, first = tree.points, tree.ids, tree.begin, tree.alive, tree.first
    low, high, gaps, plain = tree.low, tree.high, tree.gaps, metric.plain
    wanted, n, masked = len(found), 0, len(allowed) > 0
    stack = np.empty(64, np.int64)
    bound = np.empty(64, np.float64)
    inner = (len(alive) - 1) // 2
    stack[0], bound[0], top = 0, 0.0, 1 if alive[0] > 0 else 0
    while top > 0:
        top -= 1
        node = stack[top]
        if n == wanted:
            worst = far[n - 1]
            if bound[top] > worst or (bound[top] == worst and first[node] > found[n - 1]):
                continue
        if node >= inner:
            for i in range(begin[node], begin[node] + alive[node]):
                point = ids[i]
                if masked and not allowed[kinds[point]]:
                    continue
                here = plain_distance(points, i, origin) if plain else distance(points, i, origin, metric)
                if n == wanted and (here > far[n - 1] or (here == far[n - 1] and point > found[n - 1])):
                    continue
                at = n if n < wanted else n - 1
                while at > 0 and (far[at - 1] > here or (far[at - 1] == here and found[at - 1] > point)):
                    far[at], found[at] = far[at - 1], found[at - 1]
                    at -= 1
                far[at], found[at] = here, point
                n = min(n + 1, wanted)
            continue
        a, b = 2 * node + 1, 2 * node + 2
        bound_a, bound_b = np.inf, np.inf
        if alive[a] > 0:
            bound_a = plain_least(low, high, a, origin) if plain else least(low, high, gaps, a, origin, metric)
        if alive[b] > 0:
            bound_b = plain_least(low, high, b, origin) if plain else least(low, high, gaps, b, origin, metric)
        if bound_b < bound_a or (bound_b == bound_a and first[b] < first[a]):
            a, b, bound_a, bound_b = b, a, bound_b, bound_a
        worst = far[n - 1] if n == wanted else np.inf
        if bound_b <= worst and alive[b] > 0:
            stack[top], bound[top] = b, bound_b
            top += 1
        if bound_a <= worst and alive[a] > 0:
            stack[top], bound[top] = a, bound_a
            top += 1
    return n


def farthest(tree: Any, origin: Any, metric: Any, middle: Any, radius: Any) -> Any:
    """Return the point that is farthest from the origin; -1 where none is left.

    All points must lie within ``radius`` (squared) of ``middle``, unless it is infinite. Boxes alone bound little. But
    with R the radius, r the origin's distance from the middle and p the point opposite to it on the ball's surface,
    ``|x - origin|^2 = (R + r)^2 - (r / R) |x - p|^2 - (1 + r / R) (R^2 - |x - middle|^2)`` for any x, so that points
    of the ball that are far from p, or far inside, are near the origin.
    """
    points, ids, begin, alive, first = tree.points, tree.ids, tree.begin, tree.alive, tree.first
    low, high, gaps, plain = tree.low, tree.high, tree.gaps, metric.plain
    best, winner = -1.0, np.int64(-1)
    stack = np.empty(64, np.int64)
    bound = np.empty(64, np.float64)
    inner = (len(alive) - 1) // 2
    r = 0.0
    for j in range(len(origin)):
        r += (origin[j] - middle[j]) ** 2
    r, limit = np.sqrt(r), np.sqrt(radius)
    opposite, size = origin.copy(), 0.0
    in_ball = plain and limit < np.inf and r > 0.0 and limit > 0.0
    if in_ball:
        for j in range(len(origin)):
            opposite[j] = middle[j] + (middle[j] - origin[j]) * (limit / r)
            size = max(size, abs(middle[j]) + limit)
    # rounding: of the formula, and of the opposite point where the ball is small and far from zero
    room = (limit + r) * (1e-9 * (limit + r) + 1e-14 * len(origin) * size)
    stack[0], bound[0], top = 0, np.inf, 1 if alive[0] > 0 else 0
    while top > 0:
        top -= 1
        node = stack[top]
        if bound[top] < best or (bound[top] == best and first[node] > winner):
            continue
        if node >= inner:
            for i in range(begin[node], begin[node] + alive[node]):
                here = plain_distance(points, i, origin) if plain else distance(points, i, origin, metric)
                if here > best or (here == best and ids[i] < winner):
                    best, winner = here, ids[i]
            continue
        a, b = 2 * node + 1, 2 * node + 2
        bound_a, bound_b = -1.0, -1.0
        if alive[a] > 0:
            if in_ball:
                bound_a = _beyond(low, high, a, origin, opposite, middle, limit, r, room)
            else:
                bound_a = plain_most(low, high, a, origin) if plain else most(low, high, gaps, a, origin, metric)
        if alive[b] > 0:
            if in_ball:
                bound_b = _beyond(low, high, b, origin, opposite, middle, limit, r, room)
            else:
                bound_b = plain_most(low, high, b, origin) if plain else most(low, high, gaps, b, origin, metric)
        if bound_b > bound_a or (bound_b == bound_a and first[b] < first[a]):
            a, b, bound_a, bound_b = b, a, bound_b, bound_a
        if bound_b >= best and alive[b] > 0:
            stack[top], bound[top] = b, bound_b
            top += 1
        if bound_a >= best and alive[a] > 0:
            stack[top], bound[top] = a, bound_a
            top += 1
    return winner


def _beyond(
    low: Any, high: Any, node: Any, origin: Any, opposite: Any, middle: Any, limit: Any, r: Any, room: Any
) -> Any:
    """The bound of ``farthest`` from the box or from the ball around all points, whichever is less."""
    away, out, apart = 0.0, 0.0, 0.0
    for j in range(len(middle)):
        a, b = low[node, j], high[node, j]
        x = max(max(a - opposite[j], opposite[j] - b), 0.0)
        y = max(middle[j] - a, b - middle[j])
        z = max(origin[j] - a, b - origin[j])
        away += x * x
        out += y * y
        apart += z * z
    inside = max(limit * limit - out, 0.0)
    return min(apart, (limit + r) * (limit + r) - (r / limit) * away - (1.0 + r / limit) * inside + room)
