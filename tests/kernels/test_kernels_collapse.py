"""Collapsing rows against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels.collapse import collapse_rows
from hushtable.testing.repeat_checks import forced_kernels


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 60), weighted=st.booleans())
def test_collapsing(seed, rows, weighted):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, size, rows) for size in (3, 1, 5)]
    weights = generator.integers(0, 4, rows) if weighted else np.empty(0, np.int64)
    found: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        found[row] = found.get(row, 0) + (int(weights[i]) if weighted else 1)
    with forced_kernels(compiled=seed % 2 == 0):
        labels, first, units = collapse_rows(columns, [3, 1, 5], weights)
        wide = collapse_rows(columns, [2**40, 1, 2**40], weights)
    rows_of = list(zip(*(c.tolist() for c in columns), strict=True))
    assert [rows_of[i] for i in first] == sorted(found)
    assert units.tolist() == [found[row] for row in sorted(found)]
    assert [rows_of[first[label]] for label in labels] == rows_of
    assert [part.tolist() for part in wide[::2]] == [labels.tolist(), units.tolist()]


def test_collapsing_more_than_the_first_table_holds():
    values = np.random.default_rng(5).permutation(40_000)
    with forced_kernels(compiled=True):
        labels, first, units = collapse_rows([values // 200, values % 200], [200, 200], np.empty(0, np.int64))
    assert labels.tolist() == values.tolist()
    assert values[first].tolist() == list(range(40_000))
    assert units.tolist() == [1] * 40_000
