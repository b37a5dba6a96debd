from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels import deal
from hushtable.kernels.compile import compiled
from hushtable.rng import integers, stream_keys, uniform


def keys(seed, stream):
    return tuple(np.uint64(k) for k in stream_keys(seed, stream))


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 2**64 - 1))
def test_loops_and_twin_shuffle_alike(sizes, seed):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    items = np.arange(offsets[-1]) * 3
    fast, slow = items.copy(), items.copy()
    compiled(deal._shuffle_loops)(fast, offsets, *keys(seed, "s"))
    deal._shuffle_twin(seed, "s")(slow, offsets, *keys(seed, "s"))
    assert np.array_equal(fast, slow)
    for a, b in itertools.pairwise(offsets.tolist()):
        assert sorted(fast[a:b].tolist()) == items[a:b].tolist()


def test_every_order_is_as_likely():
    n = 24_000
    offsets = np.arange(0, 3 * n + 1, 3)
    found = deal.shuffle_runs(np.tile(np.arange(3), n), offsets, 5, "orders").reshape(-1, 3)
    _, counts = np.unique(found @ [9, 3, 1], return_counts=True)
    assert len(counts) == 6 and abs(counts - n / 6).max() < 5 * np.sqrt(n / 6)


def test_a_run_of_everything_is_a_fisher_yates_shuffle():
    # the words of rng.integers decide
    items = list(range(40))
    for i in range(39, 0, -1):
        j = int(integers(3, "one", 1, 0, i + 1, start=i)[0])
        items[i], items[j] = items[j], items[i]
    assert deal.shuffle_runs(np.arange(40), np.array([0, 40]), 3, "one").tolist() == items


@pytest.mark.parametrize("n", [0, 5, 9000])
def test_uniform_numbers_are_those_of_rng(n):
    assert np.array_equal(deal.draw_uniform(n, 11, "u"), uniform(11, "u", n))


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=5), st.integers(0, 99))
def test_loops_and_twin_draw_alike(weights, seed):
    weights = [w if any(w) else [*w, 1] for w in weights]
    offsets = np.concatenate([[0], np.cumsum([len(w) for w in weights])]).astype(np.int64)
    upto = np.concatenate([np.cumsum(w) for w in weights]).astype(np.float64)
    cells, luck = integers(seed, "c", 50, 0, len(weights)), uniform(seed, "l", 50)
    fast, slow = np.empty(50, dtype=np.int64), np.empty(50, dtype=np.int64)
    compiled(deal._draw_loops)(cells, offsets, upto, luck, fast)
    deal._draw_twin(cells, offsets, upto, luck, slow)
    assert np.array_equal(fast, slow)
    flat = np.concatenate(weights)
    assert (flat[fast] > 0).all() and (offsets[cells] <= fast).all() and (fast < offsets[cells + 1]).all()
