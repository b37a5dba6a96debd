"""Simulated annealing of groups of points: moves, swaps, and dissolving and founding groups.

The sum of squared errors of a partition is a constant minus the sum over groups of |S|^2 / n, with S the sum of a
group's n points; so a change costs a few products with S. A change is accepted if it lowers the error, or raises it by
less than an exponentially distributed tolerance, with a mean that falls to zero. Random numbers come from a xorshift
with a Weyl sequence, in integers, for which Python and numba give the same results.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.compile import compiled


def anneal(
    points: FloatArray,
    labels: IntArray,
    near: IntArray,
    units: IntArray,
    needed: int,
    steps: int,
    heat: tuple[float, float],
    tolerance: FloatArray,
    seed: int = 1,
) -> IntArray:
    """Return labels (some numbers may be unused) of groups with at least the units needed, after ``steps`` steps.

    Parameters
    ----------
    points : float64 array
        Records x columns.
    labels : int64 array
        The group of each record, each of at least the units needed.
    near : int64 array
        Records x neighbors: the nearest other records, nearest first.
    units : int64 array
        Weight of each record.
    needed : int
        Minimum units of a group.
    steps : int
    heat : (float, float)
        The mean tolerance at the beginning and (nearly) at the end; it falls linearly.
    tolerance : float64 array
        Quantiles of the exponential distribution; their number is a power of 2.
    seed : int

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> near = np.array([[1, 2, 3], [0, 2, 3], [3, 1, 0], [2, 1, 0]])
    >>> found = anneal(line, np.array([0, 1, 0, 1]), near, np.ones(4, np.int64), 2, 50, (0.0, 0.0), np.ones(4))
    >>> bool(found[0] == found[1] != found[2] == found[3])
    True
    """
    sizes = np.bincount(labels)
    lightest = max(int(units.min()), 1)
    capacity = max(int(sizes.max()), 3 * -(-needed // lightest)) + 1
    slots = max(len(sizes), int(units.sum()) // needed) + 1
    out = labels.astype(np.int64)
    # a small problem is solved before a compiled kernel is loaded
    plain = steps * points.shape[1] < 20_000 or importlib.util.find_spec("numba") is None
    run = _anneal if plain else compiled(_anneal)
    run(points, out, near, units, needed, steps, heat[0], heat[1], tolerance, seed, capacity, slots)
    return out


def _dot(a: Any, i: Any, b: Any, j: Any) -> Any:
    total = 0.0
    for c in range(a.shape[1]):
        total += a[i, c] * b[j, c]
    return total


def _leave(i: Any, g: Any, points: Any, units: Any, own: Any, member: Any, place: Any, count: Any, weight: Any,
           total: Any) -> None:  # fmt: skip
    """Take record i out of group g."""
    last = member[g, count[g] - 1]
    member[g, place[i]] = last
    place[last] = place[i]
    count[g] -= 1
    weight[g] -= units[i]
    for c in range(points.shape[1]):
        total[g, c] -= points[i, c]
    own[i] = -1


def _join(i: Any, g: Any, points: Any, units: Any, own: Any, member: Any, place: Any, count: Any, weight: Any,
          total: Any) -> None:  # fmt: skip
    """Put record i into group g."""
    member[g, count[g]] = i
    place[i] = count[g]
    count[g] += 1
    weight[g] += units[i]
    for c in range(points.shape[1]):
        total[g, c] += points[i, c]
    own[i] = g


def _scrambled(state: Any) -> Any:
    """Take the next step of a xorshift in 32 bits."""
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    return state ^ ((state << 5) & 0xFFFFFFFF)


def _swapped(i: Any, r: Any, a: Any, b: Any, na: Any, nb: Any, points: Any, total: Any) -> Any:
    """The cost of swapping record i of group a with record r of group b."""
    # |S - x + y|^2 = |S|^2 + 2 S.(y - x) + |y - x|^2
    along, apart = 0.0, 0.0
    for c in range(points.shape[1]):
        diff = points[r, c] - points[i, c]
        along += diff * (total[a, c] * nb - total[b, c] * na)
        apart += diff * diff
    return -(2 * along + apart * (na + nb)) / (na * nb)


def _found(i: Any, new: Any, limit: Any, needed: Any, near: Any, touched: Any, origin: Any, points: Any, units: Any,
           own: Any, member: Any, place: Any, count: Any, weight: Any, total: Any) -> bool:  # fmt: skip
    """Found a group around record i with records that their groups can spare; undo it if that does not help."""
    found, size, change = 0, 0, 0.0
    for m in range(-1, near.shape[1]):
        r = i if m < 0 else near[i, m]
        g = own[r]
        if g == new or weight[g] - units[r] < needed:
            if m < 0:
                break
            continue
        change += _dot(total, g, total, g) / count[g]
        _leave(r, g, points, units, own, member, place, count, weight, total)
        change -= _dot(total, g, total, g) / count[g]
        _join(r, new, points, units, own, member, place, count, weight, total)
        touched[found], origin[found] = r, g
        found += 1
        size += units[r]
        if size >= needed or found == len(touched):
            break
    if found == 0:
        return False
    change -= _dot(total, new, total, new) / count[new]
    if size >= needed and change < limit:
        return True
    for m in range(found):
        r = touched[m]
        _leave(r, new, points, units, own, member, place, count, weight, total)
        _join(r, origin[m], points, units, own, member, place, count, weight, total)
    for c in range(points.shape[1]):
        total[new, c] = 0.0
    return False


def _dissolve(a: Any, limit: Any, near: Any, touched: Any, origin: Any, points: Any, units: Any, own: Any, member: Any,
              place: Any, count: Any, weight: Any, total: Any) -> bool:  # fmt: skip
    """Dissolve group a into those of its members' neighbors; undo it if it does not lower the error."""
    size, capacity = count[a], len(touched)
    change = _dot(total, a, total, a) / size
    for m in range(size):
        r = member[a, m]
        goes = -1
        for c in range(near.shape[1]):
            g = own[near[r, c]]
            if g != a and count[g] < capacity:
                goes = g
                break
        if goes < 0:
            return False
        touched[m], origin[m] = r, goes
    done = 0
    for m in range(size):
        r, g = touched[m], origin[m]
        if count[g] >= capacity:
            break
        change += _dot(total, g, total, g) / count[g]
        _leave(r, a, points, units, own, member, place, count, weight, total)
        _join(r, g, points, units, own, member, place, count, weight, total)
        change -= _dot(total, g, total, g) / count[g]
        done += 1
    if done == size and change < limit:
        for c in range(points.shape[1]):
            total[a, c] = 0.0
        return True
    for m in range(done):
        r = touched[m]
        _leave(r, origin[m], points, units, own, member, place, count, weight, total)
        _join(r, a, points, units, own, member, place, count, weight, total)
    return False


def _anneal(points: Any, own: Any, near: Any, units: Any, needed: Any, steps: Any, hot: Any, cold: Any, tolerance: Any,
            seed: Any, capacity: Any, slots: Any) -> None:  # fmt: skip
    n, d = points.shape
    width = near.shape[1]
    last = len(tolerance) - 1
    member, place = np.empty((slots, capacity), np.int64), np.empty(n, np.int64)
    count, weight = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    total, square = np.zeros((slots, d)), np.zeros(n)
    for i in range(n):
        square[i] = _dot(points, i, points, i)
        _join(i, own[i], points, units, own, member, place, count, weight, total)
    free, empty = np.empty(slots, np.int64), np.flatnonzero(count == 0)
    n_free = len(empty)
    free[:n_free] = empty
    touched, origin = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    state, weyl = 2463534242 ^ seed, 362437 + seed
    for step in range(steps):
        heat = cold + (hot - cold) * (steps - step) / steps
        # two draws of 32 bits: the record, and everything else
        state = _scrambled(state)
        weyl = (weyl + 362437) & 0xFFFFFFFF
        i = (((state + weyl) & 0xFFFFFFFF) * n) >> 32
        state = _scrambled(state)
        weyl = (weyl + 362437) & 0xFFFFFFFF
        drawn = (state + weyl) & 0xFFFFFFFF
        share = (drawn & 1023) / 1024.0
        j = near[i, int(share * share * width)]
        kind = (drawn >> 10) & 63
        limit = heat * tolerance[(drawn >> 16) & last]
        a, b = own[i], own[j]
        if kind == 0:
            if n_free > 0 and _found(i, free[n_free - 1], limit, needed, near, touched, origin, points, units, own,
                                     member, place, count, weight, total):  # fmt: skip
                n_free -= 1
            continue
        if a == b:
            continue
        if kind == 1:
            if _dissolve(a, limit, near, touched, origin, points, units, own, member, place, count, weight, total):
                free[n_free] = a
                n_free += 1
            continue
        na, nb = count[a], count[b]
        if weight[a] - units[i] >= needed and nb < capacity and kind & 1 == 0:
            sa, sb = _dot(total, a, total, a), _dot(total, b, total, b)
            change = sa / na - (sa - 2 * _dot(total, a, points, i) + square[i]) / (na - 1)
            change += sb / nb - (sb + 2 * _dot(total, b, points, i) + square[i]) / (nb + 1)
            if change < limit:
                _leave(i, a, points, units, own, member, place, count, weight, total)
                _join(i, b, points, units, own, member, place, count, weight, total)
            continue
        r = member[b, (((drawn * 40503) & 0xFFFFFFFF) * nb) >> 32]
        if weight[a] - units[i] + units[r] < needed or weight[b] - units[r] + units[i] < needed:
            continue
        if _swapped(i, r, a, b, na, nb, points, total) < limit:
            _leave(i, a, points, units, own, member, place, count, weight, total)
            _leave(r, b, points, units, own, member, place, count, weight, total)
            _join(i, b, points, units, own, member, place, count, weight, total)
            _join(r, a, points, units, own, member, place, count, weight, total)
