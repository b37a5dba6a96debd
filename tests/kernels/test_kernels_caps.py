"""How much of a group keeps to caps, against every way of choosing records."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import caps as kernel
from hushtable.kernels.caps import most_within_caps, smallest_within_caps
from hushtable.kernels.compile import compiled

CAPS = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0]), min_size=1, max_size=4)
SLACK = st.sampled_from([0.0, 0.05, 0.2, 0.5])


def excess(counts, caps) -> float:
    return sum(max(c / sum(counts) - cap, 0.0) for c, cap in zip(counts, caps, strict=True))


def brute(counts, caps, slack) -> int:
    parts = itertools.product(*(range(c + 1) for c in counts))
    return max((sum(p) for p in parts if sum(p) and excess(p, caps) <= slack + 1e-9), default=0)


def relaxed(counts, caps, slack) -> int:
    """The greatest number of which parts of records fit."""
    fits = (
        n
        for n in range(sum(counts) + 1)
        if (1 - slack) * n <= sum(min(c, cap * n) for c, cap in zip(counts, caps, strict=True)) + 1e-9
    )
    return max(fits)


def most(counts, caps, slack, least=1) -> int:
    values = np.flatnonzero(counts)
    units = np.array(counts, dtype=np.int64)[values]
    offsets = np.array([0, len(values)])
    return int(most_within_caps(offsets, values, units, np.array(caps), slack, least)[0])


@settings(max_examples=300)
@given(caps=CAPS, slack=SLACK, data=st.data())
def test_no_choice_of_records_keeps_more(caps, slack, data):
    counts = data.draw(st.lists(st.integers(0, 6), min_size=len(caps), max_size=len(caps)))
    found = most(counts, caps, slack)
    assert found == relaxed(counts, caps, slack)
    assert found >= brute(counts, caps, slack)


@settings(max_examples=60)
@given(caps=CAPS, slack=SLACK, data=st.data())
def test_compiled_loops_count_alike(caps, slack, data):
    counts = np.array(data.draw(st.lists(st.integers(1, 900), min_size=len(caps), max_size=len(caps))), dtype=np.int64)
    out = [np.empty(1, dtype=np.int64) for _ in range(2)]
    for loops, found in zip((kernel._caps_loops, compiled(kernel._caps_loops)), out, strict=True):
        loops(np.array([0, len(caps)]), np.arange(len(caps)), counts, np.array(caps), slack, 1, found)
    assert out[0].tolist() == out[1].tolist()


@settings(max_examples=100)
@given(caps=CAPS, slack=SLACK)
def test_the_smallest_size(caps, slack):
    sizes = [n for n in range(1, 8) if brute([n] * len(caps), caps, slack) and _exactly(n, caps, slack)]
    assert smallest_within_caps(np.array(caps), slack, 8) == min(sizes, default=8)


def _exactly(n, caps, slack) -> bool:
    parts = itertools.product(range(n + 1), repeat=len(caps))
    return any(sum(p) == n and excess(p, caps) <= slack + 1e-9 for p in parts)


def test_a_rest_of_nothing_but_rounding():
    """The caps and the slack make up everything; the difference of floats was 5e-17, and the bound 0 of 3."""
    assert most([1, 0, 1, 1], [0.1, 0.0, 0.1, 0.3], 0.5) == 3


def test_fewer_than_the_least_are_none():
    assert most([6, 2], [0.5, 0.5], 0.0, 4) == 4
    assert most([6, 2], [0.5, 0.5], 0.0, 5) == 0


def test_a_group_of_thousands_ends():
    """Newton's steps end where they are as small as a rounding."""
    generator = np.random.default_rng(3)
    for _ in range(50):
        counts = generator.integers(1, 100_000, 14)
        shares = counts[::-1] / counts.sum()
        kept = most(counts.tolist(), shares, 0.1)
        assert 0 <= kept <= counts.sum()
