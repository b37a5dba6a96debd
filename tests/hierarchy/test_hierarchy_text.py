"""Numbers as labels: many at once read as one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.hierarchy.text import number_text, text_of

FLOATS = st.floats(allow_nan=False) | st.floats(-1e16, 1e16) | st.integers(-(10**16), 10**16).map(float)


@given(values=st.lists(FLOATS, max_size=30))
def test_many_numbers_read_as_one_by_one(values):
    assert text_of(pa.array(values, pa.float64())).to_pylist() == [number_text(v) for v in values]


@given(values=st.lists(st.floats(allow_nan=False, width=32), max_size=30))
def test_narrow_numbers_read_as_doubles(values):
    assert text_of(pa.array(values, pa.float32())).to_pylist() == [number_text(v) for v in values]


@pytest.mark.parametrize("factor", [1.0, 10.0, 1e-3, 7.3])
def test_around_where_exponents_begin(factor):
    edges = np.array([1e-5, 1e-4, 1e-3, 1e9, 1e10, 1e11, 1e15, 1e16, 1e17, 2.0**53]) * factor
    values = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, np.inf), -edges])
    assert text_of(pa.array(values)).to_pylist() == [number_text(v) for v in values.tolist()]


def test_random_doubles_of_every_size():
    generator = np.random.default_rng(3)
    values = generator.normal(size=20_000) * 10.0 ** generator.integers(-8, 20, 20_000)
    values[::3] = values[::3].round()
    assert text_of(pa.array(values)).to_pylist() == [number_text(v) for v in values.tolist()]
