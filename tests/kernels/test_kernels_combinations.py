"""People who share a combination of columns: loops, NumPy twin and the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import combinations
from hushtable.kernels.compile import compiled

TABLES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=20
)


@settings(max_examples=50, deadline=None)
@given(
    TABLES,
    st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True),
    st.sampled_from([[3, 4, 10], [3, 4, 10_000]]),
)
def test_shared_units(rows, chosen, sizes):
    codes, units = np.array(rows)[:, :3].T.copy(), np.array(rows)[:, 3]
    expected = [sum(o[3] for o in rows if all(o[j] == row[j] for j in chosen)) for row in rows]
    assert combinations.shared_units(codes, chosen, sizes, units).tolist() == expected


@settings(max_examples=20, deadline=None)
@given(TABLES)
def test_loops_and_twin_agree(rows):
    codes, units = np.array(rows)[:, :3].T.copy(), np.array(rows)[:, 3]
    found = []
    for kernel in (compiled(combinations._shared_loops), combinations._shared_numpy):
        out, total = np.empty(len(rows), dtype=np.int64), np.zeros(30, dtype=np.int64)
        kernel(codes, np.array([0, 2]), np.array([10, 1]), units, total, out)
        found.append(out.tolist())
    assert found[0] == found[1]
