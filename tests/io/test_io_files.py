from __future__ import annotations

import contextlib
import datetime as dt
import errno
import io
import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from hushtable.errors import DataError, OutputError
from hushtable.io import csv_write, dictionary_reader
from hushtable.io.csv import read_csv
from hushtable.io.dictionary_reader import count_coded, read_coded
from hushtable.io.files import column_names, iter_batches, read_table, write_table
from hushtable.io.formulas import guard_table

CANARY = "CANARY-7731"

TABLE = pa.table({"first name": ["a", "é,x", None], "n": [1, 2, None], "f": [0.5, 2.0, None]})

ENDINGS = [".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".pq", ".arrow", ".feather"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_round_trip(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    write_table(TABLE, path)
    assert os.listdir(tmp_path) == [f"t{ending}"]
    table = read_table(path)
    text = {"first name": ["a", "é,x", ""], "n": ["1", "2", ""], "f": ["0.5", "2", ""]}
    expected = text if "v" in ending or "txt" in ending else TABLE.to_pydict()
    assert table.to_pydict() == expected
    assert column_names(path) == ["first name", "n", "f"]
    assert read_table(path, ["n"]).to_pydict() == {"n": expected["n"]}
    batches = list(iter_batches(path, ["n", "f"], 2))
    assert [b.num_rows for b in batches] == [2, 1]
    assert pa.Table.from_batches(batches).to_pydict() == {k: expected[k] for k in ("n", "f")}
    with pytest.raises(DataError, match="has no column 'm'"):
        read_table(path, ["m"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_table_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    write_table(TABLE, first)
    write_table(TABLE, second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_values_of_removed_rows_are_not_written(tmp_path: Path, ending: str) -> None:
    whole = pa.table({"a": pa.array(["keep", CANARY]).dictionary_encode()})
    path = tmp_path / f"t{ending}"
    write_table(whole.replace_schema_metadata({"note": CANARY}).slice(0, 1), path)
    assert CANARY.encode() not in path.read_bytes()
    assert read_table(path).to_pydict() == {"a": ["keep"]}


def test_a_pandas_index_in_metadata_is_not_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1]}, index=pd.Index([0], name=CANARY))
    write_table(pa.Table.from_pandas(frame).select(["a"]), tmp_path / "t.parquet")
    assert CANARY.encode() not in (tmp_path / "t.parquet").read_bytes()


def test_formulas_are_neutralised_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cells = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@x", "\tx", "\rx", "-5", "'=x", "ok"]
    write_table(guard_table(pa.table({"=name": pa.array(cells).dictionary_encode(), "n": [-1] * 9})), path)
    lines = path.read_bytes().split(b"\n")
    assert lines[0] == b"'=name,n"
    assert lines[1] == b"'=cmd|' /C calc'!A0,-1"
    assert lines[6] == b'"\'\rx",-1'
    assert lines[7] == b"-5,-1"
    assert not any(line.startswith((b"=", b"+", b"@", b"\t")) for line in lines)
    assert read_csv(path, unescape_formulas=True)["=name"].to_pylist() == cells
    assert read_table(path, ["=name"], unescape_formulas=True).num_columns == 1
    assert [b.num_rows for b in iter_batches(path, ["=name"], unescape_formulas=True)] == [9]


text = st.text(st.sampled_from("ab,;\"'=+-@\n\r\té1."), max_size=5)


@given(st.lists(st.tuples(text, text), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_csv_gives_back_every_text(rows: list[tuple[str, str]], alone: bool, guarded: bool) -> None:
    columns = {"x": [r[0] for r in rows]} | ({} if alone else {"y": [r[1] for r in rows]})
    table = pa.table({k: pa.array(v, pa.string()) for k, v in columns.items()})
    out = io.BytesIO()
    csv_write.write_csv(guard_table(table) if guarded else table, out)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(out.getvalue())
        assert read_csv(path, delimiter=",", unescape_formulas=guarded).to_pydict() == columns


def test_many_slices_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_write, "_SLICE", 7)
    write_table(pa.table({"a": range(50), "b": ["x"] * 50}), tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["a"].to_pylist() == [str(i) for i in range(50)]


def test_other_types_are_written_canonically(tmp_path: Path) -> None:
    write_table(pa.table({"d": [dt.date(1850, 1, 2)], "b": [True], "f": [1e15]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "d,b,f\n1850-01-02,true,1000000000000000\n"


@pytest.mark.parametrize("name", ["t.doc", "t", "t.parquet.gz"])
def test_unknown_ending(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(DataError, match="There is no file"):
        read_table(path)
    path.touch()
    for use in (read_table, column_names, lambda p: list(iter_batches(p))):
        with pytest.raises(DataError) as caught:
            use(path)
        assert str(caught.value) == (
            f"The format of {str(path)!r} is not known by its suffix. Known suffixes: .arrow .csv .feather .parquet "
            ".pq .tsv .txt .xlsx, and .gz after .csv, .txt and .tsv."
        )
    with pytest.raises(OutputError, match=r"A table cannot be written as .* Use one of .arrow .csv"):
        write_table(TABLE, path)


def test_a_tsv_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="one column when split at the tab, but its header contains a comma"):
        read_table(path)
    assert read_table(path, delimiter=",").num_columns == 2


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_truncated_and_foreign_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    write_table(pa.table({"a": [CANARY] * 1000, "n": range(1000)}), path)
    whole = path.read_bytes()
    word = {".parquet": "Parquet", ".arrow": "Arrow"}[ending]
    for content in (whole[: len(whole) // 2], f"a,b\n{CANARY},2\n".encode(), b""):
        path.write_bytes(content)
        for use in (read_table, column_names, lambda p: list(iter_batches(p))):
            with pytest.raises(DataError) as caught:
                use(path)
            assert str(caught.value) == (
                f"The file {str(path)!r} is not a complete {word} file. It may be truncated or have the wrong ending; "
                "copy or export it again."
            )
            assert caught.value.code == "damaged-file"


def test_parquet_that_claims_more_rows_than_it_has(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3]}), path)
    data = path.read_bytes()
    footer = data[-8 - int.from_bytes(data[-8:-4], "little") : -8]
    # the rows of the only part are the last number 3 of the footer; 2^36 of them would have to be given room first
    before, _, after = footer.rpartition(b"\x16\x06")
    claimed = before + b"\x16\x80\x80\x80\x80\x80\x04" + after
    path.write_bytes(data[: -8 - len(footer)] + claimed + len(claimed).to_bytes(4, "little") + data[-4:])
    metadata = pq.read_metadata(path)
    assert (metadata.num_rows, metadata.row_group(0).num_rows) == (3, 2**36)
    for read in (read_table, lambda given: list(iter_batches(given))):
        with pytest.raises(DataError, match="complete Parquet file"):
            read(path)


def test_parquet_damaged_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(pa.table({"a": [f"{CANARY}{i}" for i in range(5000)]}), path)
    raw = bytearray(path.read_bytes())
    raw[4:3000] = b"\xff" * 2996
    path.write_bytes(raw)
    for use in (read_table, lambda p: list(iter_batches(p))):
        with pytest.raises(DataError, match="is not a complete Parquet file"):
            use(path)


def test_parquet_text_comes_as_dictionaries(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x", "x"], "n": [1, 2]}), tmp_path / "t.parquet", row_group_size=1)
    table = read_table(tmp_path / "t.parquet")
    assert pa.types.is_dictionary(table.schema.field("a").type)
    assert table.schema.field("n").type == pa.int64()
    assert [b.num_rows for b in iter_batches(tmp_path / "t.parquet", batch_rows=2)] == [2]


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_no_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    write_table(TABLE.slice(0, 0), path)
    with pytest.raises(DataError, match=r"has no rows. Check that the export ran to its end"):
        read_table(path)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".xlsx"])
def test_missing_files_and_folders(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    with pytest.raises(DataError, match=r"There is no file .* Check the path\."):
        read_table(path)
    path.mkdir()
    with pytest.raises(DataError, match=r"is a folder, not a file\."):
        read_table(path)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError) as caught:
        write_table(TABLE, path)
    assert str(caught.value) == (
        f"{str(path)!r} cannot be written: the disk is full. Free some space or choose another folder."
    )
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "old"


def test_types_without_text_are_named_by_their_column(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"'at' cannot be written as CSV\. Values of type time of day") as caught:
        write_table(pa.table({"a": [1], "at": [dt.time(7, 31)]}), tmp_path / "t.csv")
    assert "31" not in str(caught.value)


def test_text_that_no_reader_of_csv_takes(tmp_path: Path) -> None:
    table = pa.table({"a": [f"{CANARY}\0"]})
    with pytest.raises(OutputError, match="Column 'a' has text with a zero character") as caught:
        write_table(table, tmp_path / "t.csv")
    assert CANARY not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").to_pydict() == table.to_pydict()


def test_columns_that_cannot_be_coded_are_told(tmp_path):
    pq.write_table(pa.table({"a": [{"b": 1}]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"'a' .* list or struct, which cannot be used"):
        read_coded(tmp_path / "t.parquet")


@pytest.mark.parametrize("columns", [1, 3, 9])
def test_equal_rows_are_counted(tmp_path, monkeypatch, columns):
    """Keys of 32 and 64 bits, and more combinations than one number holds; some batches hold nothing but gaps."""
    monkeypatch.setattr(dictionary_reader, "BATCH_ROWS", 50)
    draw = np.random.default_rng(columns)
    numbers = draw.integers(0, 300, (400, columns))
    numbers[200:] = numbers[:200]
    gone = draw.random((400, columns)) < 0.1
    gone[50:100] = True
    cells = {f"c{j}": pa.array(numbers[:, j], mask=gone[:, j]).cast(pa.string()) for j in range(columns)}
    cells["c0"] = cells["c0"].cast(pa.int64())
    table = pa.table(cells)
    write_table(table.slice(0, 230), tmp_path / "0.parquet")
    write_table(table.slice(230), tmp_path / "1.parquet")
    names = table.column_names[::-1]
    distinct, times = count_coded(tmp_path, names)
    assert distinct.column_names == names
    found = dict(zip(zip(*distinct.to_pydict().values(), strict=True), times.tolist(), strict=True))
    assert len(found) == distinct.num_rows
    assert found == Counter(zip(*table.select(names).to_pydict().values(), strict=True))


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_file_is_named_by_its_address(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    module = pytest.importorskip({"sqlite": "sqlite3", "duckdb": "duckdb"}[kind])
    with contextlib.closing(module.connect("clinic.db")) as made:
        made.execute("CREATE TABLE people (age INTEGER)")
    for path in (Path("clinic.db"), tmp_path / "clinic.db"):
        with pytest.raises(DataError) as caught:
            read_table(path)
        assert caught.value.hint == f"Write a table of this database as {kind}:///{path}?table=NAME."
