"""Files of one row group each become the file that one writer would have written, byte for byte."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from hushtable.io import layout
from hushtable.io.dictionaries import with_sorted_dictionary
from hushtable.io.footer import _read_struct, _write_struct, join_groups
from hushtable.io.layout import row_groups, stored_schema, write_parquet


def table(rows: int) -> pa.Table:
    draw = np.random.default_rng(rows)
    return pa.table(
        {
            "text": pa.array(draw.choice(["a", "bé", ""], rows), mask=draw.random(rows) < 0.1).dictionary_encode(),
            "plain": pa.array([f"x{i}" for i in range(rows)]),
            "number": pa.array(draw.normal(size=rows), mask=draw.random(rows) < 0.5),
            "whole": draw.integers(-(2**62), 2**62, rows),
            "flag": draw.random(rows) < 0.5,
            "nothing": pa.nulls(rows),
            "day": [datetime.date(2020, 1, 1) + datetime.timedelta(int(i)) for i in draw.integers(0, 99, rows)],
            "exact": pa.array([1, None] * (rows // 2), pa.decimal128(9, 2)),
            **{f"more {i}": draw.integers(0, 3, rows) for i in range(20)},
        }
    )


def plainly(whole: pa.Table, size: int) -> bytes:
    """What one writer writes of tables that are laid out alike."""
    out = io.BytesIO()
    with pq.ParquetWriter(out, stored_schema(whole.schema)) as writer:
        for start in range(0, whole.num_rows, size):
            columns = [
                with_sorted_dictionary(c, pa.int32()) if pa.types.is_dictionary(c.type) else c
                for c in whole.slice(start, size).columns
            ]
            writer.write_table(pa.table(columns, schema=stored_schema(whole.schema)).combine_chunks())
    return out.getvalue()


@pytest.mark.parametrize("size", [7, 40, 100, 200])
def test_the_bytes_are_those_of_one_writer(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "GROUP_ROWS", size)
    out, whole = io.BytesIO(), table(200)
    write_parquet(row_groups(whole), whole.schema, out)
    assert out.getvalue() == plainly(whole, size)
    assert pq.read_table(io.BytesIO(out.getvalue())).num_rows == 200


def test_more_row_groups_than_a_short_list_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "GROUP_ROWS", 1)
    out, whole = io.BytesIO(), table(300)
    write_parquet(row_groups(whole), whole.schema, out)
    assert out.getvalue() == plainly(whole, 1)


def test_unknown_fields_are_passed_on() -> None:
    fields = {1: (1, None), 2: (2, None), 3: (3, 200), 20: (7, 0.25), 400: (9, (2, [1, 2])), 401: (10, (5, [-1] * 20))}
    out = io.BytesIO()
    _write_struct(fields, out)
    assert _read_struct(io.BytesIO(out.getvalue())) == fields


def test_a_failing_piece_is_no_file() -> None:
    def pieces():
        yield plainly(table(10), 10)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        join_groups(pieces(), io.BytesIO())
