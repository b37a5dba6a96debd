"""Which boxes overlap: loops, NumPy twin and the definition."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels import pairs
from hushtable.kernels.compile import compiled

BOXES = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=d, max_size=d), min_size=1, max_size=25
    )
)


def naive(low, high):
    return [
        [a, b]
        for a, b in itertools.combinations(range(len(low)), 2)
        if all(low[a, j] <= high[b, j] and low[b, j] <= high[a, j] for j in range(low.shape[1]))
    ]


@given(BOXES)
def test_overlapping_boxes(boxes):
    low = np.array([[start for start, _ in box] for box in boxes], dtype=np.int64)
    high = low + np.array([[width for _, width in box] for box in boxes], dtype=np.int64)
    expected = naive(low, high)
    assert pairs.overlapping_boxes(low, high).tolist() == expected
    order = np.argsort(low[:, 0], kind="stable")
    for function in (pairs._sweep_numpy, compiled(pairs._sweep_loops)):
        found = order[function(low[order], high[order], 0).reshape(-1, 2)]
        assert sorted(np.sort(found, axis=1).tolist()) == expected


def test_more_pairs_than_the_first_buffer_holds():
    low = np.zeros((60, 1), dtype=np.int64)
    assert len(compiled(pairs._sweep_loops)(low, low + 1, 0)) == 2 * 60 * 59 // 2


def test_no_boxes():
    empty = np.empty((0, 2), dtype=np.int64)
    assert pairs.overlapping_boxes(empty, empty).shape == (0, 2)
