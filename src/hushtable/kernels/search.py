"""Searching a kd-tree: exact nearest and farthest records, ties to the lowest number."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.kernels.metric import distance, least, most, plain_distance, plain_least, plain_most


def nearest(tree: Any, origin: Any, metric: Any, kinds: Any, allowed: Any, found: Any, far: Any) -> Any:
    """Fill ``found`` and ``far`` with the nearest points and their squared distances; return how many there are.

    ``allowed`` says which kinds of points count, ``kinds`` the kind of each; if empty, all count.
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
    """Return the farthest point from the origin; -1 if none is left.

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
    # rounding: of the formula, and of the opposite point if the ball is small and far from zero
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
    """The bound of ``farthest`` from the box or from the ball around all points, whichever is smaller."""
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
