"""Overlapping crowds: n crowds of k people, each person in exactly k of them, improved by exchanges.

People with equal quasi-identifiers are one *tuple* with a multiplicity, so a crowd is a row of k tuples; a tuple is in
it at most as often as it has people. The cost of a crowd is the cost of its cells as sets: for every column, the number
of distinct values minus one, times the column's weight. A step takes one place of a crowd and another crowd near the
tuple in it, and exchanges that tuple with the best one of the other crowd, which keeps each person's number of crowds.
As in simulated annealing, a worse exchange is accepted if its cost is below an exponentially distributed tolerance,
with a mean that falls to zero. Costs are integers and random numbers a xorshift in 32 bits, so Python and numba agree.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.anneal import _scrambled
from hushtable.kernels.compile import compiled

__all__ = ["exchange", "nearest_tuples"]

_PLAIN = 100_000
"""Pairs of tuples up to which plain Python beats loading a compiled kernel; a step counts as four."""


def nearest_tuples(codes: AnyArray, weights: IntArray, width: int) -> IntArray:
    """Return the nearest other tuples of each tuple, nearest first; ties go to the first.

    Parameters
    ----------
    codes : integer array
        Tuples x columns.
    weights : int64 array
        Cost of a difference in each column.
    width : int

    Examples
    --------
    >>> nearest_tuples(np.array([[0, 0], [0, 1], [1, 1]]), np.array([5, 1]), 1).tolist()
    [[1], [0], [1]]
    """
    n = len(codes)
    out = np.empty((n, min(width, max(n - 1, 0))), dtype=np.int64)
    if out.size:
        _run(_nearest, n * n)(codes, weights, out)
    return out


def exchange(
    codes: AnyArray,
    weights: IntArray,
    times: IntArray,
    near: IntArray,
    crowds: AnyArray,
    steps: int,
    heat: float,
    tolerance: FloatArray,
    seed: int = 1,
) -> AnyArray:
    """Return crowds of lower cost, after some steps.

    Parameters
    ----------
    codes : integer array
        Tuples x columns.
    weights : int64 array
        Of the columns.
    times : int64 array
        How many people each tuple stands for.
    near : int64 array
        Tuples x neighbors, nearest first; see ``nearest_tuples``.
    crowds : int64 array
        Crowds x k: tuples. A tuple is in all of them together k times as often as it has people.
    steps : int
    heat : float
        The mean tolerance at the beginning.
    tolerance : float64 array
        Quantiles of the exponential distribution; their number is a power of 2.
    seed : int

    Examples
    --------
    >>> line = np.array([[0], [1], [0], [1]])
    >>> given = np.array([[0, 1], [1, 0], [2, 3], [3, 2]])
    >>> near = np.array([[2, 1], [3, 0], [0, 1], [1, 0]])
    >>> ones = np.ones(4, np.int64)
    >>> found = exchange(line, np.array([1]), ones, near, given, 500, 0.0, np.ones(4))
    >>> sorted(line[row, 0].tolist() for row in found)
    [[0, 0], [0, 0], [1, 1], [1, 1]]
    """
    out = crowds.copy()
    if near.size and steps > 0:
        _run(_exchange, 4 * steps)(codes, weights, times, near, out, steps, heat, tolerance, seed)
    return out


def _run(loops: Any, work: int) -> Any:
    return loops if work < _PLAIN or importlib.util.find_spec("numba") is None else compiled(loops)


def _nearest(codes: Any, weights: Any, out: Any) -> None:
    n, width = out.shape
    far = np.empty(width, np.int64)
    for i in range(n):
        count = 0
        for j in range(n):
            if i == j:
                continue
            x = 0
            for c in range(codes.shape[1]):
                if codes[i, c] != codes[j, c]:
                    x += weights[c]
            if count == width and x >= far[width - 1]:
                continue
            count = min(count + 1, width)
            at = count - 1
            while at > 0 and far[at - 1] > x:
                far[at] = far[at - 1]
                out[i, at] = out[i, at - 1]
                at -= 1
            far[at] = x
            out[i, at] = j


def _weigh(codes: Any, weights: Any, crowds: Any, a: Any, saved: Any) -> None:
    """Store how much crowd a would save without the tuple at each of its places."""
    for e in range(crowds.shape[1]):
        saved[a, e] = _with(codes, weights, crowds, a, e, crowds[a, e])


def _with(codes: Any, weights: Any, crowds: Any, a: Any, e: Any, t: Any) -> Any:
    """The cost of tuple t at place e of crowd a: the values that no other member has."""
    cost = 0
    for c in range(codes.shape[1]):
        value = codes[t, c]
        new = weights[c]
        for f in range(crowds.shape[1]):
            if f != e and codes[crowds[a, f], c] == value:
                new = 0
                break
        cost += new
    return cost


def _times_in(crowds: Any, a: Any, t: Any) -> Any:
    count = 0
    for f in range(crowds.shape[1]):
        if crowds[a, f] == t:
            count += 1
    return count


def _list_places(crowds: Any, begin: Any, owner: Any, entry: Any) -> None:
    """List the crowds of each tuple, and where in that list each place of a crowd is."""
    n, k = crowds.shape
    for i in range(n):
        for e in range(k):
            begin[crowds[i, e] + 1] += 1
    for t in range(len(begin) - 1):
        begin[t + 1] += begin[t]
    filled = begin.copy()
    for i in range(n):
        for e in range(k):
            t = crowds[i, e]
            entry[i, e] = filled[t]
            owner[filled[t]] = i
            filled[t] += 1


def _partner(codes: Any, weights: Any, times: Any, crowds: Any, a: Any, e: Any, b: Any, saved: Any,
             best: Any) -> Any:  # fmt: skip
    """Return the place of crowd b to exchange with place e of crowd a; -1 if every exchange costs at least ``best``."""
    x, at = crowds[a, e], -1
    # lower bound for the cost of x in the other crowd
    certain = _with(codes, weights, crowds, b, -1, x) - saved[a, e]
    for f in range(crowds.shape[1]):
        y = crowds[b, f]
        if y == x:
            continue
        change = certain - saved[b, f]
        if change >= best:
            continue
        change += _with(codes, weights, crowds, a, e, y)
        if change >= best:
            continue
        change += _with(codes, weights, crowds, b, f, x) - saved[a, e] - certain
        if change < best and _times_in(crowds, a, y) < times[y]:
            best, at = float(change), f
    return at


def _exchange(codes: Any, weights: Any, times: Any, near: Any, crowds: Any, steps: Any, heat: Any, tolerance: Any,
              seed: Any) -> None:  # fmt: skip
    n, k = crowds.shape
    width, last = near.shape[1], len(tolerance) - 1
    begin = np.zeros(len(times) + 1, np.int64)
    owner, entry = np.empty(n * k, np.int64), np.empty((n, k), np.int64)
    _list_places(crowds, begin, owner, entry)
    saved = np.empty((n, k), np.int64)
    for a in range(n):
        _weigh(codes, weights, crowds, a, saved)
    state, weyl = 2463534242 ^ seed, 362437 + seed
    for step in range(steps):
        left = (steps - step) / steps
        # three draws of 32 bits: the crowd, its place and the tolerance, the other crowd
        state = _scrambled(state)
        weyl = (weyl + 362437) & 0xFFFFFFFF
        a = (((state + weyl) & 0xFFFFFFFF) * n) >> 32
        state = _scrambled(state)
        weyl = (weyl + 362437) & 0xFFFFFFFF
        drawn = (state + weyl) & 0xFFFFFFFF
        e = ((drawn & 0xFFFF) * k) >> 16
        x = crowds[a, e]
        if saved[a, e] == 0:
            continue
        limit = heat * left * left * tolerance[(drawn >> 16) & last]
        state = _scrambled(state)
        weyl = (weyl + 362437) & 0xFFFFFFFF
        drawn = (state + weyl) & 0xFFFFFFFF
        share = (drawn & 1023) / 1024.0
        place = int(share * share * (width + 1))
        q = x if place == 0 else near[x, place - 1]
        b = owner[begin[q] + (((drawn >> 10) * (begin[q + 1] - begin[q])) >> 22)]
        if b == a or _times_in(crowds, b, x) >= times[x]:
            continue
        at = _partner(codes, weights, times, crowds, a, e, b, saved, max(limit, 1.0))
        if at < 0:
            continue
        y = crowds[b, at]
        mine, theirs = entry[a, e], entry[b, at]
        crowds[a, e], crowds[b, at] = y, x
        owner[mine], owner[theirs] = b, a
        entry[a, e], entry[b, at] = theirs, mine
        _weigh(codes, weights, crowds, a, saved)
        _weigh(codes, weights, crowds, b, saved)
