"""Crowds that exchange people: everybody stays in as many, compiled or not, and cells only shrink in the end."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import crowds as module
from hushtable.kernels.compile import compiled
from hushtable.kernels.crowds import exchange, nearest_tuples, underpriced
from hushtable.rng import exponential_quantiles, integers

WEIGHTS = np.array([7, 3, 1])


def table(seed, n):
    return np.column_stack([integers(seed, f"c{j}", n, 0, size) for j, size in enumerate((2, 4, 9))])


def ring(n, k):
    return (np.arange(n)[:, None] + np.arange(k)) % n


def cost(codes, crowds):
    return sum(w * (len(set(codes[c, j].tolist())) - 1) for c in crowds for j, w in enumerate(WEIGHTS))


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), n=st.integers(6, 14), k=st.integers(2, 4), heat=st.sampled_from([0.0, 4.0]))
def test_everybody_stays_in_k_crowds_and_in_none_twice(seed, n, k, heat):
    codes = table(seed, n)
    near = nearest_tuples(codes, WEIGHTS, 4)
    found = exchange(codes, WEIGHTS, np.ones(n, np.int64), near, ring(n, k), 400, heat, exponential_quantiles(64))
    assert np.bincount(found.ravel(), minlength=n).tolist() == [k] * n
    assert all(len(set(row)) == k for row in found.tolist())
    if not heat:
        assert cost(codes, found) <= cost(codes, ring(n, k))


def test_tuples_of_several_people_are_in_a_crowd_as_often():
    codes, times = np.array([[0, 0, 0], [1, 1, 1]]), np.array([3, 3])
    given_ = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 1, 1]])
    near = nearest_tuples(codes, WEIGHTS, 1)
    found = exchange(codes, WEIGHTS, times, near, given_, 2000, 0.0, np.ones(4))
    assert sorted(map(sorted, found.tolist())) == [[0, 0, 0]] * 3 + [[1, 1, 1]] * 3


def test_compiled_loops_give_the_same():
    codes, times = table(5, 60), np.ones(60, np.int64)
    plain, quick = np.empty((60, 5), np.int64), np.empty((60, 5), np.int64)
    module._nearest(codes, WEIGHTS, plain)
    compiled(module._nearest)(codes, WEIGHTS, quick)
    assert np.array_equal(plain, quick)
    one, other, tolerance = ring(60, 3), ring(60, 3), exponential_quantiles(64)
    module._exchange(codes, WEIGHTS, times, plain, one, 3000, 5.0, tolerance, 1)
    compiled(module._exchange)(codes, WEIGHTS, times, plain, other, 3000, 5.0, tolerance, 1)
    assert np.array_equal(one, other) and not np.array_equal(one, ring(60, 3))


def test_neighbours_are_the_nearest():
    codes = table(3, 30)
    near = nearest_tuples(codes, WEIGHTS, 6)
    for i, found in enumerate(near.tolist()):
        far = ((codes != codes[i]) * WEIGHTS).sum(axis=1)
        others = np.delete(np.arange(30), i)
        assert found == others[np.argsort(far[others], kind="stable")][:6].tolist()


def slow_underpriced(codes, times, prices, size, least):
    """The gain of the best crowd that each tuple leads, by trying every crowd."""
    rank = {t: place for place, t in enumerate(np.argsort(-prices, kind="stable").tolist())}
    gains = {}
    for crowd in combinations_with_replacement(range(len(times)), size):
        if any(crowd.count(t) > times[t] for t in crowd):
            continue
        gain = int(prices[list(crowd)].sum()) - cost(codes, [list(crowd)])
        leader = min(crowd, key=rank.__getitem__)
        gains[leader] = max(gain, gains.get(leader, gain))
    return {leader: gain for leader, gain in gains.items() if gain >= least}


@settings(max_examples=60)
@given(seed=st.integers(0, 1000), n=st.integers(2, 8), size=st.integers(2, 4), least=st.integers(1, 4))
def test_each_tuple_leads_the_crowd_that_gains_most(seed, n, size, least):
    codes, times = table(seed, n), integers(seed, "times", n, 1, 4)
    prices = integers(seed, "prices", n, -3, 9)
    rank = {t: place for place, t in enumerate(np.argsort(-prices, kind="stable").tolist())}
    found = {}
    for crowd in underpriced(codes, WEIGHTS, times, prices, size, least, 10**6).tolist():
        assert all(crowd.count(t) <= times[t] for t in crowd)
        leader = min(crowd, key=rank.__getitem__)
        assert leader not in found
        found[leader] = int(prices[crowd].sum()) - cost(codes, [crowd])
    assert found == slow_underpriced(codes, times, prices, size, least)


def test_a_search_that_is_cut_short_returns_only_crowds_that_gain():
    codes, times, prices = table(4, 40), np.ones(40, np.int64), integers(4, "prices", 40, 0, 8)
    full = underpriced(codes, WEIGHTS, times, prices, 4, 1, 10**6)
    few = underpriced(codes, WEIGHTS, times, prices, 4, 1, 6)
    assert 0 < len(few) < len(full)
    assert all(prices[crowd].sum() > cost(codes, [crowd]) for crowd in few.tolist())


def test_compiled_search_gives_the_same():
    codes, times, prices = table(5, 40), integers(5, "times", 40, 1, 3), integers(5, "prices", 40, -2, 8)
    order = np.argsort(-prices, kind="stable")
    plain, quick = np.full((40, 3), -1), np.full((40, 3), -1)
    module._underpriced(codes, WEIGHTS, times, prices, order, 1, 10**6, plain)
    compiled(module._underpriced)(codes, WEIGHTS, times, prices, order, 1, 10**6, quick)
    assert np.array_equal(plain, quick) and (plain[:, 0] >= 0).any()
