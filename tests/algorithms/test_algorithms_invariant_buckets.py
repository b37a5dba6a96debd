"""The phases of m-invariant re-publication, each against its definition: buckets, counterfeits, classes."""

from __future__ import annotations

import itertools
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from hushtable.algorithms.invariant.buckets import FAKE, Bucket, alone, assign, deal, divide, eligible, halve, weigh
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


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(2, 4), KEYS)
def test_a_newcomer_alone_has_a_signature_of_m_values(values, m, coins):
    own = dict(enumerate(values))
    buckets = list(alone(list(own), own, m, np.ones(5), coins))
    assert [row for b in buckets for rows in b.rows.values() for row in rows] == list(own)
    for row, bucket in enumerate(buckets):
        assert len(set(bucket.signature)) == m and own[row] in bucket.signature and bucket.depth == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.05, 1.0), min_size=4, max_size=7), st.integers(2, 3))
def test_a_signature_is_as_likely_from_each_of_its_values(frequent, m):
    """The chance of a value times that of the signature, given the value, is the same for all values of it."""
    shares = np.array(frequent) / sum(frequent)
    if shares.max() * m > 0.9:
        return
    weights = weigh(shares, m)
    for signature in itertools.combinations(range(len(shares)), m):
        chances = []
        for value in signature:
            others = np.delete(np.arange(len(shares)), value)
            every = sum(np.prod(weights[list(s)]) for s in itertools.combinations(others.tolist(), m - 1))
            chances.append(shares[value] * np.prod([weights[v] for v in signature if v != value]) / every)
        assert chances == pytest.approx([chances[0]] * m, rel=0.02)


def test_the_values_beside_a_newcomer_are_drawn_by_their_weights():
    weights = np.array([1.0, 2.0, 5.0, 3.0])
    seen = Counter(
        value
        for key in range(3000)
        for bucket in alone([0], {0: 2}, 2, weights, Coins(key.to_bytes(2, "big")))
        for value in bucket.signature
        if value != 2
    )
    assert [seen[v] / 3000 for v in (0, 1, 3)] == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=0.04)


def test_too_frequent_a_value_is_in_nearly_every_signature():
    weights = weigh(np.array([0.8, 0.1, 0.1]), 2)
    assert weights[0] > 20 * weights[1] and weights[1] == pytest.approx(weights[2])


@st.composite
def buckets(draw):
    signature = tuple(range(draw(st.integers(2, 4))))
    counts = [draw(st.integers(0 if i else 1, 12)) for i in signature]
    rows = iter(range(sum(counts)))
    bucket = Bucket(signature, {v: [next(rows) for _ in range(counts[v])] for v in signature})
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
    other = Bucket(bucket.signature, {names[v]: bucket.rows[v] for v in bucket.signature})
    one, two = (halve(b, positions, depth, coins, "x") for b in (bucket, other))
    people = [{row for rows in part.rows.values() for row in rows} for part in one]
    assert people == [{row for rows in part.rows.values() for row in rows} for part in two]


def test_halves_are_near_one_another():
    """A thousand people on a line: their classes are far narrower than the line."""
    random = np.random.default_rng(1)
    place = random.permutation(1000)
    bucket = Bucket((0, 1), {0: list(range(500)), 1: list(range(500, 1000))})
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
    bucket = Bucket((0, 1), {0: [0, 1, 2], 1: [3]})
    places = Counter(
        int(np.flatnonzero(deal(bucket, Coins(key.to_bytes(2, "big")), "x")[:, 1] != FAKE)[0]) for key in range(3000)
    )
    assert set(places) == {0, 1, 2} and min(places.values()) > 900
