"""The phases of m-invariant re-publication, each against its definition: buckets, counterfeits, classes."""

from __future__ import annotations

from collections import Counter, defaultdict

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from hushtable.algorithms.invariant.buckets import FAKE, Bucket, assign, balance, deficiency, divide
from hushtable.algorithms.invariant.split import classes


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.integers(2, 4))
def test_newcomers_find_buckets_exactly_where_no_value_is_too_frequent(counts, m):
    rows = iter(range(sum(counts)))
    new = {v: [next(rows) for _ in range(n)] for v, n in enumerate(counts) if n}
    buckets = assign(new, m, sorted(new), fakes=False)
    eligible = all(m * n <= sum(counts) for n in counts)
    assert (buckets is not None) == eligible
    for bucket in buckets or ():
        assert len(bucket.signature) >= m
        assert {len(own) for own in bucket.rows.values()} == {bucket.depth}
    placed = [(v, row) for b in buckets or () for v, own in b.rows.items() for row in own]
    if eligible:
        assert sorted(placed) == sorted((v, row) for v, own in new.items() for row in own)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=7), st.integers(2, 4))
def test_counterfeits_make_up_for_what_is_missing(counts, m):
    new = {v: list(range(100 * v, 100 * v + n)) for v, n in enumerate(counts) if n}
    buckets = assign(new, m, range(len(counts)), fakes=True)
    if len(counts) < m and deficiency(Counter({v: n for v, n in enumerate(counts) if n}), m):
        assert buckets is None
        return
    assert buckets is not None
    fakes = sum(own.count(FAKE) for b in buckets for own in b.rows.values())
    assert fakes == deficiency(Counter(dict(enumerate(counts))), m)
    for bucket in buckets:
        # in every class somebody is real: no bucket has counterfeits of all its values
        assert min(own.count(FAKE) for own in bucket.rows.values()) == 0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([(0, 1), (0, 2), (1, 2, 3)]), st.integers(0, 2)), max_size=8),
    st.lists(st.integers(0, 4), max_size=8),
    st.integers(2, 3),
)
def test_balanced_buckets_have_every_value_equally_often(known, newcomers, m):
    values = {row: signature[turn % len(signature)] for row, (signature, turn) in enumerate(known)}
    buckets = divide(range(len(known)), values, {row: signature for row, (signature, _) in enumerate(known)})
    new = defaultdict(list)
    for i, value in enumerate(newcomers):
        new[value].append(100 + i)
    before = deficiency(Counter(newcomers), m)
    balance(buckets, new, m)
    for bucket in buckets:
        assert {len(own) for own in bucket.rows.values()} == {bucket.depth}
        assert any(FAKE not in own for own in bucket.rows.values())
    taken = [row for b in buckets for own in b.rows.values() for row in own if row >= 100]
    assert sorted([*taken, *(row for own in new.values() for row in own)]) == [100 + i for i in range(len(newcomers))]
    assert deficiency({v: len(own) for v, own in new.items()}, m) <= before


def test_counterfeits_that_nobody_needs_are_removed():
    bucket = Bucket((0, 1), {0: [7, FAKE], 1: [FAKE, 8]})
    bucket.thinned()
    assert bucket.rows == {0: [7], 1: [8]}


def slow_classes(bucket, positions, rank):
    """One bucket, halved by recursion."""
    depth = bucket.shape[1]
    if depth == 1:
        return [bucket[:, 0].tolist()]
    best = None
    for along in positions:
        ordered = np.array([sorted(row, key=lambda r: (r == FAKE, along[r], rank[r])) for row in bucket.tolist()])
        halves = ordered[:, : depth // 2], ordered[:, depth // 2 :]
        cost = 0
        for half in halves:
            real = half[half != FAKE]
            if len(real):
                cost += half.shape[1] * sum(int(p[real].max() - p[real].min()) for p in positions)
        if best is None or cost < best[0]:
            best = cost, halves
    return [made for half in best[1] for made in slow_classes(half, positions, rank)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(2, 4), st.integers(1, 7)), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_classes_take_one_record_of_each_value_and_are_those_of_the_recursion(shapes, seed):
    random = np.random.default_rng(seed)
    rows = sum(values * depth for values, depth in shapes)
    positions = [random.integers(0, 9, rows), random.integers(0, 9, rows)]
    rank = random.permutation(rows)
    buckets, at = [], 0
    for values, depth in shapes:
        bucket = np.arange(at, at + values * depth).reshape(values, depth)
        bucket[-1, : int(random.integers(0, depth + 1))] = FAKE
        buckets.append(bucket)
        at += values * depth
    label, owner = classes(buckets, positions, rank)
    assert len(owner) == sum(depth for _, depth in shapes)
    found, at = [], 0
    for b, bucket in enumerate(buckets):
        own = label[at : at + bucket.size].reshape(bucket.shape)
        at += bucket.size
        assert all(sorted(line) == sorted(np.flatnonzero(owner == b)) for line in own.tolist())
        made = [[int(row[own[v] == c][0]) for v, row in enumerate(bucket)] for c in np.flatnonzero(owner == b)]
        assert all(any(r != FAKE for r in one) for one in made)
        found.append(sorted(made))
    assert found == [sorted(slow_classes(bucket, positions, rank)) for bucket in buckets]
