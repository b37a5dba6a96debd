"""Merging along a tree, beside a slow twin that goes from node to node."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushtable.algorithms.pairing import pair_up
from hushtable.release.guards.minimality import spread_order
from hushtable.table.coins import Coins
from hushtable.table.stats import GroupStats


def twin(sizes, needed, extra, coins, floor):
    """Classes as sets of groups, or None where the root cannot stand."""

    def node(h, i):
        """The classes that a node publishes; None where it cannot stand."""
        below = list(range(i << h, min((i + 1) << h, len(sizes))))
        if h == 0:
            return [below] if sizes[i] >= needed else None
        left, right = node(h - 1, 2 * i), None
        if (2 * i + 1) << (h - 1) >= len(sizes):
            return left
        right = node(h - 1, 2 * i + 1)
        fits = sum(sizes[g] for g in below) >= needed
        nodes = -(-len(sizes) // (1 << h))
        lucky = h <= floor or coins.uniform(f"height {h}", nodes)[i] < extra**h
        if left is not None and right is not None and not (lucky and fits):
            return left + right
        return [below] if fits else None

    return node(max(len(sizes) - 1, 0).bit_length(), 0)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=20),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.3, 0.7]),
    st.integers(0, 3),
    st.binary(max_size=2),
)
def test_pairs_are_the_twins(sizes, needed, extra, floor, key):
    coins = Coins(key)
    found = pair_up(GroupStats.of(sizes=sizes), lambda g: g.sizes >= needed, extra, coins, floor)
    expected = twin(sizes, needed, extra, coins, floor)
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert [np.flatnonzero(found == c).tolist() for c in range(int(found.max()) + 1)] == sorted(expected)


def test_without_luck_only_what_must_be_is_merged():
    stats = GroupStats.of(sizes=[3, 3, 3, 1, 3, 3, 3, 3])
    assert pair_up(stats, lambda g: g.sizes >= 3, 0.0, Coins(b"")).tolist() == [0, 1, 2, 2, 3, 4, 5, 6]


def test_needless_merges_are_as_frequent_as_they_should_be():
    n = 1 << 14
    classes = pair_up(GroupStats.of(sizes=[5] * n), lambda g: g.sizes >= 1, 0.25, Coins(b"luck"))
    _, sizes = np.unique(classes, return_counts=True)
    # alone: not merged at any height
    alone = np.count_nonzero(sizes == 1) / n
    assert abs(alone - np.prod(1 - 0.25 ** np.arange(1, 15))) < 0.02
    assert set(sizes.tolist()) >= {1, 2, 4} and sizes.max() < n


def test_odds_change_by_a_bounded_factor():
    """Two ways of dealing the values of a class to its people: one needs it, the other does not."""
    needed = GroupStats.of(sizes=[2] * 4, d=[[2, 0], [0, 2], [1, 1], [1, 1]])
    needless = GroupStats.of(sizes=[2] * 4, d=[[1, 1], [1, 1], [1, 1], [1, 1]])
    seen, tosses = {}, 3000

    def diverse(groups):
        return groups.histogram(("d",)).distinct() == 2

    for name, stats in (("needed", needed), ("needless", needless)):
        coins = [Coins(i.to_bytes(2, "big")) for i in range(tosses)]
        published = [tuple(pair_up(stats, diverse, 0.25, toss).tolist()) for toss in coins]
        seen[name] = {classes: published.count(classes) / tosses for classes in set(published)}
    # the first pair alone, and the first beside the second
    for classes in ((0, 0, 1, 2), (0, 0, 1, 1)):
        assert 3.4 < seen["needed"][classes] / seen["needless"][classes] < 4.7
    # all together: not needed in either case, so that it tells nothing
    assert abs(seen["needed"][0, 0, 0, 0] - seen["needless"][0, 0, 0, 0]) < 0.02
    assert (0, 1, 2, 3) not in seen["needed"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40))
def test_halves_of_the_order_are_halves_of_space(centres):
    points = np.array(centres)
    order = spread_order(points, np.arange(len(points)))
    assert sorted(order.tolist()) == list(range(len(points)))
    half = (1 << max(len(points) - 1, 0).bit_length()) // 2
    if len(points) > 1:
        spread = points.max(axis=0) - points.min(axis=0)
        column = int(np.argmax(spread))
        assert points[order[:half], column].max() <= points[order[half:], column].min()


def test_the_order_does_not_depend_on_the_numbers_of_the_groups():
    generator = np.random.default_rng(2)
    points, rank = generator.integers(0, 4, (30, 3)), np.arange(30)
    shuffled = generator.permutation(30)
    assert (spread_order(points, rank) == shuffled[spread_order(points[shuffled], rank[shuffled])]).all()
