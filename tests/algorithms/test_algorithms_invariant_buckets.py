"""The phases of m-invariant re-publication, each against its definition: buckets, counterfeits, classes."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from hushtable.algorithms.invariant.m_invariant import (
    FAKE,
    ValueBucket,
    alone,
    assign,
    blocks,
    deal,
    divide,
    eligible,
    halve,
)
from hushtable.table.coins import Coins

KEYS = st.integers(0, 2**16 - 1).map(lambda n: Coins(n.to_bytes(2, "big")))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.integers(2, 4))
def test_newcomers_find_buckets_exactly_where_no_value_is_too_frequent(counts, m):
    rows = iter(range(sum(counts)))
    new = {v: [next(rows) for _ in range(n)] for v, n in enumerate(counts) if n}
    buckets = assign(new, m)
    assert (buckets is not None) == eligible(counts, m) == all(m * n <= sum(counts) for n in counts)
    for bucket in buckets or ():
        assert len(bucket.signature) >= m
        assert {len(own) for own in bucket.rows.values()} == {bucket.depth}
    placed = [(v, row) for b in buckets or () for v, own in b.rows.items() for row in own]
    if buckets is not None:
        assert sorted(placed) == sorted((v, row) for v, own in new.items() for row in own)


def test_people_are_divided_by_their_signatures():
    buckets = divide([3, 0, 2], {0: 5, 2: 6, 3: 5}, {0: (5, 6), 2: (5, 6), 3: (5, 7)})
    assert [(b.signature, b.rows) for b in buckets] == [((5, 6), {5: [0], 6: [2]}), ((5, 7), {5: [3], 7: []})]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=9), st.integers(2, 4))
def test_blocks_divide_the_values_such_that_none_is_too_frequent(frequent, m):
    shares = np.array(frequent)
    found = blocks(range(len(shares)), shares, m)
    assert sorted(v for block in found for v in block) == list(range(len(shares)))
    for block in found:
        fits = len(block) >= m and m * shares[list(block)].max() <= shares[list(block)].sum() + 1e-6
        assert fits or len(found) == 1


def test_whoever_is_alone_has_the_block_of_the_value():
    made = list(alone([7, 8], {7: 3, 8: 0}, [(0, 1), (2, 3, 4)]))
    assert [(b.signature, b.rows) for b in made] == [((2, 3, 4), {2: [], 3: [7], 4: []}), ((0, 1), {0: [8], 1: []})]


@st.composite
def buckets(draw):
    signature = tuple(range(draw(st.integers(2, 4))))
    counts = [draw(st.integers(0 if i else 1, 12)) for i in signature]
    rows = iter(range(sum(counts)))
    bucket = ValueBucket(signature, {v: [next(rows) for _ in range(counts[v])] for v in signature})
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return bucket, [random.integers(0, 9, sum(counts)), random.integers(0, 99, sum(counts))]


@settings(max_examples=200, deadline=None)
@given(buckets(), st.integers(1, 6), KEYS)
def test_halving_costs_few_counterfeits(given_, depth, coins):
    """A level of cuts costs one counterfeit for 16 people at most, and halves end at a quarter."""
    bucket, positions = given_
    people, m = sum(map(len, bucket.rows.values())), len(bucket.signature)
    parts = halve(bucket, positions, depth, coins, "x")
    levels = 1
    while people * (3 / 4) ** levels > m * depth:
        levels += 1
    assert m * (sum(part.depth for part in parts) - bucket.depth) <= levels * people / 16
    for value in bucket.signature:
        assert sorted(row for part in parts for row in part.rows[value]) == sorted(bucket.rows[value])


@settings(max_examples=200, deadline=None)
@given(buckets(), st.integers(1, 6), st.randoms(), KEYS)
def test_halving_does_not_depend_on_which_value_is_which(given_, depth, random, coins):
    """Two worlds that differ in the names of values alone are cut alike, so a cut tells nobody's value."""
    bucket, positions = given_
    names = list(bucket.signature)
    random.shuffle(names)
    # in the same secret order of rows; the lots of ties are tied to places in the bucket, so places are made unequal
    positions = [p * 100 + np.arange(len(p)) for p in positions]
    other = ValueBucket(bucket.signature, {names[v]: bucket.rows[v] for v in bucket.signature})
    one, two = (halve(b, positions, depth, coins, "x") for b in (bucket, other))
    people = [{row for rows in part.rows.values() for row in rows} for part in one]
    assert people == [{row for rows in part.rows.values() for row in rows} for part in two]


def test_halves_are_near_one_another():
    """A thousand people on a line: their classes are far narrower than the line."""
    random = np.random.default_rng(1)
    place = random.permutation(1000)
    bucket = ValueBucket((0, 1), {0: list(range(500)), 1: list(range(500, 1000))})
    for key in range(5):
        parts = halve(bucket, [place], 8, Coins(bytes([key])), "x")
        width = np.concatenate([
            np.full(len(own), np.ptp(place[own]))
            for part in parts
            if (own := [row for rows in part.rows.values() for row in rows])
        ])  # fmt: skip
        assert len(width) == 1000 and width.mean() < 100
        assert 2 * sum(part.depth for part in parts) < 1100


@settings(max_examples=200, deadline=None)
@given(buckets(), KEYS)
def test_classes_take_one_record_of_each_value(given_, coins):
    bucket, _ = given_
    made = deal(bucket, coins, "x")
    assert len(made) == bucket.depth and (made != FAKE).any(axis=1).all()
    for i, value in enumerate(bucket.signature):
        assert [row for row in made[:, i].tolist() if row != FAKE] == bucket.rows[value]


def test_coins_decide_where_counterfeits_go():
    bucket = ValueBucket((0, 1), {0: [0, 1, 2], 1: [3]})
    places = Counter(
        int(np.flatnonzero(deal(bucket, Coins(key.to_bytes(2, "big")), "x")[:, 1] != FAKE)[0]) for key in range(3000)
    )
    assert set(places) == {0, 1, 2} and min(places.values()) > 900
