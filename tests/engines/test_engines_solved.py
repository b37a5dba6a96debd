"""The order of published rows from codes, against the order of the published table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.engines import solved
from hushtable.engines.solved import SortKey, order_by


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=40),
    data=st.data(),
    sizes=st.sampled_from([(4, 3, 5), (2**30, 2**30, 2**30), (2**61, 3, 2**40)]),
)
@settings(max_examples=60, deadline=None)
def test_rows_are_sorted_and_ties_keep_their_order(
    rows: list[tuple[int, int, int]], data: st.DataObject, sizes: tuple[int, int, int]
) -> None:
    labels = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=len(rows), max_size=len(rows))))
    codes = np.array(rows, dtype=np.int64)
    # the first key looks its ranks up, as classes do
    rank = np.array([3, 1, 2, 0, 0])
    keys = [
        SortKey(codes[:, 0].astype(np.int8), rank, sizes[0]),
        SortKey(codes[:, 1].astype(np.uint8), None, sizes[1]),
        SortKey(codes[:, 2].astype(np.uint32), None, sizes[2]),
    ]
    expected = sorted(
        (i for i in range(len(rows)) if labels[i] >= 0), key=lambda i: (rank[rows[i][0]], rows[i][1], rows[i][2], i)
    )
    before = solved._SLICE
    solved._SLICE = 7
    try:
        assert order_by(keys, labels).tolist() == expected
    finally:
        solved._SLICE = before


def test_no_key_leaves_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order_by([], np.array([0, -1, 0])).tolist() == [0, 2]
    assert order_by([], np.array([0])).dtype == np.uint32
