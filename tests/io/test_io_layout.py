"""Parquet files as a function of their cells: dictionaries sorted, pieces as good as the whole."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from hushtable.errors import OutputError
from hushtable.io import layout
from hushtable.io.files import write_table
from hushtable.io.layout import row_groups, write_parquet

WORDS = ["b", "a", None, "c", "a", "b", "c"]


def written(table: pa.Table) -> bytes:
    out = io.BytesIO()
    write_parquet(row_groups(table), table.schema, out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "GROUP_ROWS", 3)


def test_the_order_of_a_dictionary_does_not_show(tmp_path: Path) -> None:
    first = pa.table({"w": pa.array(WORDS).dictionary_encode(), "n": range(7)})
    codes = [2, 3, None, 0, 3, 2, 0]
    other = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(["c", "gone", "b", "a"]))
    second = pa.table({"w": other, "n": range(7)}, metadata={"k": "CANARY"})
    assert second["w"].to_pylist() == WORDS
    for name, table in (("1", first), ("2", second)):
        write_table(table, tmp_path / f"{name}.parquet")
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    assert b"CANARY" not in (tmp_path / "2.parquet").read_bytes()
    assert b"gone" not in (tmp_path / "2.parquet").read_bytes()


def test_chunks_do_not_show() -> None:
    words = pa.array(WORDS).dictionary_encode()
    whole = pa.table({"w": words, "n": pa.array(range(7))})
    pieces = pa.concat_tables([whole.slice(0, 1), whole.slice(1, 4), whole.slice(5)])
    assert pieces["n"].num_chunks == 3
    assert written(pieces) == written(whole)


def test_row_groups_have_dictionaries_of_their_own() -> None:
    table = pa.table({"w": pa.array(WORDS).dictionary_encode()})
    source = pq.ParquetFile(io.BytesIO(written(table)), read_dictionary=["w"])
    groups = [source.read_row_group(i)["w"] for i in range(source.num_row_groups)]
    assert [g.to_pylist() for g in groups] == [WORDS[:3], WORDS[3:6], WORDS[6:]]
    assert [g.chunk(0).dictionary.to_pylist() for g in groups] == [["a", "b"], ["a", "b", "c"], ["c"]]


def test_an_empty_table_keeps_its_columns() -> None:
    table = pa.table({"w": pa.array([], pa.string()).dictionary_encode(), "n": pa.array([], pa.int64())})
    assert pq.read_table(io.BytesIO(written(table))).column_names == ["w", "n"]


def test_which_zero_came_first_does_not_show() -> None:
    one, other = (
        pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(values))
        for codes, values in (([0, 1, 2], [0.0, -0.0, 1.5]), ([2, 1, 0], [1.5, -0.0, 0.0]))
    )
    assert str(one.to_pylist()) == str(other.to_pylist())
    assert written(pa.table({"x": one})) == written(pa.table({"x": other}))


def test_what_parquet_cannot_hold_is_not_quoted(tmp_path: Path) -> None:
    far = pa.array([2**62], pa.int64()).cast(pa.timestamp("s"))
    with pytest.raises(OutputError, match="that Parquet cannot hold") as caught:
        write_table(pa.table({"x": far}), tmp_path / "t.parquet")
    assert str(2**62) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
