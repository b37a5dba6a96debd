"""Overlapping crowds: n crowds of k people, each person in exactly k of them, improved by exchanges.

People with equal quasi-identifiers are one *tuple* with a multiplicity, so a crowd is a row of k tuples; a tuple is in
it at most as often as it has people. The cost of a crowd is the cost of its cells as sets: for every column, the number
of distinct values minus one, times the column's weight. A step takes one place of a crowd and another crowd near the
tuple in it, and exchanges that tuple with the best one of the other crowd, which keeps each person's number of crowds.
As in simulated annealing, a worse exchange is accepted if its cost is below an exponentially distributed tolerance,
with a mean that falls to zero. Costs are integers and random numbers a xorshift in 32 bits, so Python and numba agree.

``underpriced`` finds crowds for a linear program that picks the cheapest mixture of crowds: given a price for each
tuple, it looks for crowds that cost less than their people pay.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.anneal import _scrambled
from hushtable.kernels.compile import compiled

_PLAIN = 100_000
"""Maximum number of pairs of tuples (a step counts as four) for which plain Python is faster than a kernel."""


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
        Number of people that each tuple represents.
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


def underpriced(
    codes: AnyArray, weights: IntArray, times: IntArray, prices: IntArray, size: int, least: int, limit: int
) -> IntArray:
    """Return crowds that cost less than the prices of their people; for each tuple, the best of those it leads.

    The tuple with the highest price leads a crowd; if prices are equal, the first one does. A search over the others,
    highest price first, stops where even the highest remaining prices would not pay for the crowd. Each row is sorted;
    each crowd is given once.

    Parameters
    ----------
    codes : integer array
        Tuples x columns.
    weights : int64 array
        Of the columns.
    times : int64 array
        Number of people that each tuple represents.
    prices : int64 array
        What each person of a tuple pays for a crowd.
    size : int
        People in a crowd.
    least : int
        Crowds that gain less than this are omitted; at least 1.
    limit : int
        Trials per tuple; a search that needs more returns the best crowd so far.

    Examples
    --------
    >>> codes, ones = np.array([[0], [0], [7]]), np.ones(3, np.int64)
    >>> underpriced(codes, np.array([10]), ones, np.array([2, 1, 3]), 2, 1, 100).tolist()
    [[0, 1]]
    """
    order = np.argsort(-prices, kind="stable")
    best = np.full((len(times), size), -1, dtype=np.int64)
    # how much is tried is unknown: as a rule, some twenty trials per tuple
    _run(_underpriced, 20 * len(times) ** 2)(codes, weights, times, prices, order, least, limit, best)
    return np.unique(np.sort(best[best[:, 0] >= 0], axis=1), axis=0)


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


def _candidates(codes: Any, weights: Any, prices: Any, order: Any, first: Any, size: Any, found: Any) -> Any:
    """List tuples that a crowd of the leader may have: their distance alone does not cost more than all may pay."""
    a, count = order[first], 1
    found[0] = a
    for q in range(first + 1, len(order)):
        t = order[q]
        most = prices[a] * (size - 1) + prices[t]
        if most <= 0:
            break
        far = 0
        for c in range(codes.shape[1]):
            if codes[t, c] != codes[a, c]:
                far += weights[c]
        if far < most:
            found[count] = t
            count += 1
    return count


def _underpriced(codes: Any, weights: Any, times: Any, prices: Any, order: Any, least: Any, limit: Any,
                 out: Any) -> None:  # fmt: skip
    size = out.shape[1]
    found, crowd = np.empty(len(order), np.int64), np.empty((1, size), np.int64)
    at, owed = np.empty(size, np.int64), np.empty(size, np.int64)
    for first in range(len(order)):
        a = order[first]
        if prices[a] <= 0:
            # nobody of this crowd, nor of later ones, pays anything
            break
        count = _candidates(codes, weights, prices, order, first, size, found)
        best, tried = -least + 1, 0
        # at[m]: the next candidate for place m; owed[m]: what the first m of the crowd cost more than they pay
        crowd[0, :] = -1
        crowd[0, 0] = a
        m, at[1], owed[1] = 1, 0, -prices[a]
        while m > 0 and tried < limit:
            if at[m] >= count or owed[m] - (size - m) * prices[found[at[m]]] >= best:
                m -= 1
                if m > 0:
                    crowd[0, m] = -1
                continue
            t = found[at[m]]
            at[m] += 1
            if _times_in(crowd, 0, t) >= times[t]:
                continue
            tried += 1
            now = owed[m] + _added(codes, weights, crowd, m, t) - prices[t]
            if now - (size - m - 1) * prices[t] >= best:
                continue
            crowd[0, m] = t
            if m + 1 < size:
                m += 1
                # the same tuple may follow, if it stands for more people
                at[m], owed[m] = at[m - 1] - 1, now
                continue
            best = now
            for f in range(size):
                out[a, f] = crowd[0, f]
            crowd[0, m] = -1


def _added(codes: Any, weights: Any, crowd: Any, m: Any, t: Any) -> Any:
    """What tuple t costs together with the first m of a crowd."""
    cost = 0
    for c in range(codes.shape[1]):
        new = weights[c]
        for f in range(m):
            if codes[crowd[0, f], c] == codes[t, c]:
                new = 0
                break
        cost += new
    return cost
