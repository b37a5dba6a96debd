"""Types that follow from cells: one for each kind of values, whatever type the cells came in."""

from __future__ import annotations

import datetime as dt
import decimal

import pyarrow as pa
import pytest

from hushtable.io.dictionaries import plain_types
from hushtable.io.frames import to_arrow
from hushtable.io.inferred import is_marked, mark, settle, settled

MOMENT = dt.datetime(2020, 1, 2, 3)


@pytest.mark.parametrize(
    ("cells", "kinds", "wanted"),
    [
        ([1, 2, None], [pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(9, 2)], pa.int64()),
        ([2**62], [pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(38, 0)], pa.int64()),
        ([2**63, 0], [pa.uint64(), pa.float64(), pa.decimal128(38, 0)], pa.uint64()),
        ([2**63, -1], [pa.float64()], pa.float64()),
        ([1.5, 2], [pa.float32(), pa.float64()], pa.float64()),
        ([float("inf"), 2], [pa.float64()], pa.float64()),
        ([decimal.Decimal("1.50")], [pa.decimal128(9, 2), pa.decimal256(60, 8)], pa.decimal128(38, 1)),
        ([decimal.Decimal(10**40)], [pa.decimal256(60, 8)], pa.decimal256(76, 0)),
        ([MOMENT, None], [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")], pa.timestamp("us")),
        (
            [MOMENT.replace(tzinfo=dt.UTC)],
            [pa.timestamp(unit, "UTC") for unit in ("s", "ns")],
            pa.timestamp("us", "UTC"),
        ),
        ([dt.timedelta(1)], [pa.duration("s"), pa.duration("ns")], pa.duration("us")),
        (["x"], [pa.string(), pa.large_string()], pa.string()),
        ([True], [pa.bool_()], pa.bool_()),
        ([None], [pa.null(), pa.int64(), pa.string(), pa.dictionary(pa.int8(), pa.string())], pa.null()),
    ],
)
def test_one_type_for_the_same_cells(cells, kinds, wanted):
    for kind in kinds:
        make = decimal.Decimal if pa.types.is_decimal(kind) else float if pa.types.is_floating(kind) else None
        given = [make(cell) if make and cell is not None else cell for cell in cells]
        found = settled(pa.chunked_array([given], kind))
        assert found.type == wanted, kind
        assert found.to_pylist() == cells


def test_nanoseconds_stay():
    assert settled(pa.chunked_array([pa.array([1001], pa.timestamp("ns"))])).type == pa.timestamp("ns")
    assert settled(pa.chunked_array([pa.array([1001], pa.duration("ns"))])).type == pa.duration("ns")


def test_values_that_are_not_there_do_not_count():
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 0, None], pa.int8()), pa.array([1.0, 2.5]))
    found = settled(pa.chunked_array([coded]))
    assert found.type.value_type == pa.int64() and found.to_pylist() == [1, 1, None]


def test_zero_has_no_sign():
    found = settled(pa.chunked_array([[-0.0, 0.5]]))
    assert [str(value) for value in found.to_pylist()] == ["0.0", "0.5"]


def test_marks_last():
    pd = pytest.importorskip("pandas")
    import numpy as np

    frame = pd.DataFrame({"a": [1.0], "b": ["x"], "c": np.array([1], np.float16), "d": pd.array([1], dtype="Int8")})
    table = to_arrow(frame)
    assert [is_marked(field) for field in table.schema] == [True, True, False, False]
    assert table.schema.field("c").type == pa.float32()
    for changed in (table.select(["a"]), table.take(pa.array([0])), table.slice(0, 1), table.filter(pa.array([True]))):
        assert is_marked(changed.schema.field("a"))
    field = mark(pa.field("a", pa.string_view()))
    views = pa.table({"a": pa.array(["x"], field.type)}, schema=pa.schema([field]))
    assert is_marked(plain_types(views).schema.field("a"))
    assert not any(field.metadata for field in settle(table, table.schema).schema)
    assert not any(map(is_marked, to_arrow(pa.table({"a": [1.0]})).schema))
