from __future__ import annotations

import datetime as dt
import decimal
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import DataError
from hushtable.io.text import number_text, to_labels
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import prepare


@pytest.mark.parametrize(
    ("array", "labels"),
    [
        (pa.array([22, -3, None], pa.int8()), ["22", "-3", None]),
        (pa.array([22.0, -0.0, 0.1, 1e15, 1e20, float("nan"), None]),
         ["22", "0", "0.1", "1000000000000000", "1e+20", None, None]),
        (pa.array([0.1], pa.float32()), ["0.1"]),
        (pa.array([2**63 - 1, 2**53 + 1], pa.int64()), ["9223372036854775807", "9007199254740993"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([decimal.Decimal("1.50"), decimal.Decimal("10.00")]), ["1.5", "10"]),
        (pa.array([decimal.Decimal(n) for n in ("0", "1E-7", "-1.5", "100")], pa.decimal128(20, 8)),
         ["0", "0.0000001", "-1.5", "100"]),
        (pa.array([decimal.Decimal("1E+5"), None], pa.decimal128(5, -3)), ["100000", None]),
        (pa.array([dt.date(1850, 1, 2)]), ["1850-01-02"]),
        (pa.array([dt.date(1850, 1, 2)], pa.date64()), ["1850-01-02"]),
        (pa.array([dt.datetime(2020, 1, 1, 1, 2, 3)], pa.timestamp("us")), ["2020-01-01 01:02:03"]),
        (pa.array([dt.datetime(2020, 1, 1, 1, 2, 3, 500_000)], pa.timestamp("ns")), ["2020-01-01 01:02:03.5"]),
        (pa.array(["  x ", ""], pa.large_string()), ["  x ", ""]),
        (pa.array(["x"], pa.string_view()), ["x"]),
        (pa.array([None, None]), [None, None]),
    ],
)  # fmt: skip
def test_canonical_text(array: pa.Array, labels: list[str | None]) -> None:
    assert to_labels(array).to_pylist() == labels
    assert to_labels(pa.chunked_array([array, array])).to_pylist() == labels * 2


def test_a_dictionary_array_stays_one() -> None:
    coded = pa.array([1.0, 1.0, None, 2.5]).dictionary_encode()
    labels = to_labels(coded)
    assert pa.types.is_dictionary(labels.type)
    assert labels.dictionary.to_pylist() == ["1", "2.5"]
    assert labels.to_pylist() == ["1", "1", None, "2.5"]


def test_no_chunks_keep_the_type() -> None:
    empty = to_labels(pa.chunked_array([], pa.float64()))
    assert empty.type == pa.string()
    assert len(empty) == 0


@pytest.mark.parametrize("array", [pa.array([[1]]), pa.array([b"CANARY"]), pa.array([dt.timedelta(1)])])
def test_types_without_text(array: pa.Array) -> None:
    with pytest.raises(DataError, match=r"^Values of type .* have no text form\. Convert the column") as caught:
        to_labels(array)
    assert "CANARY" not in str(caught.value)


def _bits(number: float) -> bytes:
    return struct.pack("<d", number)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_read_back_as_the_same_number(numbers: list[float]) -> None:
    labels = to_labels(pa.array(numbers, pa.float64())).to_pylist()
    assert [_bits(float(label)) for label in labels] == [_bits(n + 0.0) for n in numbers]
    # Equal numbers have equal texts and different numbers different ones.
    assert len(set(labels)) == len({_bits(n + 0.0) for n in numbers})
    again = prepare(pa.array(labels), name="x", kind=Kind.NUMERIC).values.to_pylist()
    assert {float(v) for v in again} == set(numbers)


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_whole_number_has_one_text_in_every_type(number: int) -> None:
    assert to_labels(pa.array([number], pa.int64())).to_pylist() == [str(number)]
    assert to_labels(pa.array([float(number)])).to_pylist() == [str(number)]


def test_a_decimal_zero_is_found_among_the_missing_values() -> None:
    column = pa.array([decimal.Decimal(0), decimal.Decimal(3)], pa.decimal128(20, 8))
    assert prepare(column, name="n", missing_values=["0"]).missing == 1


FLOATS = st.floats(allow_nan=False) | st.floats(-1e16, 1e16) | st.integers(-(10**16), 10**16).map(float)


@given(st.lists(FLOATS, max_size=30))
def test_many_numbers_read_as_one_by_one(values: list[float]) -> None:
    assert to_labels(pa.array(values, pa.float64())).to_pylist() == [number_text(v) for v in values]


@given(st.lists(st.floats(allow_nan=False, width=32), max_size=30))
def test_narrow_numbers_have_the_text_of_what_they_are_read_as(values: list[float]) -> None:
    expected = [number_text(float(str(np.float32(v)))) for v in values]
    assert to_labels(pa.array(values, pa.float32())).to_pylist() == expected


@pytest.mark.parametrize("factor", [1.0, 10.0, 1e-3, 7.3])
def test_around_where_exponents_begin(factor: float) -> None:
    edges = np.array([1e-5, 1e-4, 1e-3, 1e9, 1e10, 1e11, 1e15, 1e16, 1e17, 2.0**53]) * factor
    values = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, np.inf), -edges])
    assert to_labels(pa.array(values)).to_pylist() == [number_text(v) for v in values.tolist()]


def test_random_doubles_of_every_size() -> None:
    generator = np.random.default_rng(3)
    values = generator.normal(size=20_000) * 10.0 ** generator.integers(-8, 20, 20_000)
    values[::3] = values[::3].round()
    assert to_labels(pa.array(values)).to_pylist() == [number_text(v) for v in values.tolist()]
