"""Places of rows in a sorted table, piece by piece: the loops and their NumPy twin agree with sorting."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.kernels.placing import _next_loops, _next_numpy, next_places


@pytest.mark.parametrize("kernel", [_next_loops, _next_numpy])
@pytest.mark.parametrize("seed", range(5))
def test_places_are_those_of_a_stable_sort(kernel, seed):
    draw = np.random.default_rng(seed)
    kinds = draw.integers(-1, 7, 200).astype(np.int32)
    counts = np.bincount(kinds[kinds >= 0], minlength=7)
    following = np.cumsum(counts) - counts
    found = []
    for piece in np.array_split(kinds, 6):
        places = np.empty(len(piece), dtype=np.int32)
        kernel(piece, following, places)
        found.append(places)
    order = np.argsort(kinds, kind="stable")[np.count_nonzero(kinds < 0) :]
    expected = np.full(len(kinds), -1)
    expected[order] = np.arange(len(order))
    assert np.concatenate(found).tolist() == expected.tolist()
    assert following.tolist() == np.cumsum(counts).tolist()


def test_no_rows():
    assert len(next_places(np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))) == 0
