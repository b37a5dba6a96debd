"""Folders named column=value: the same table as in one file, whoever reads it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import hushtable as ht
from hushtable.engines.stream import run_files
from hushtable.errors import DataError
from hushtable.io.dictionary_reader import read_coded
from hushtable.io.files import column_names, iter_batches, read_table, write_table
from hushtable.io.formulas import guard_table
from hushtable.io.sources import each_run, read_tables, table_files

TABLE = pa.table(
    {
        "age": [31, 33, 45, 47, 52, 58],
        "year": ["2024", "2024", "2025", "2025", "2025", None],
        "town": ["São Paulo", "a/b", "São Paulo", "007", "007", "Oslo"],
        "ill": ["a", "b", "a", "c", "b", "a"],
    }
)
POLICY = ht.Policy(quasi=["age", "town"], sensitive=["ill"], insensitive=["year"], models=[ht.KAnonymity(k=2)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_to_dataset(TABLE, tmp_path / "visits", partition_cols=["year", "town"])
    (tmp_path / "visits" / "_SUCCESS").write_text("")
    (tmp_path / "visits" / "_delta_log=x").mkdir()
    (tmp_path / "visits" / "plain").mkdir()
    (tmp_path / "visits" / "plain" / "x.csv").write_text("not,mine\n1,2\n")
    return tmp_path / "visits"


def rows(table: pa.Table) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.values())) for row in table.select(TABLE.column_names).to_pylist())


def test_every_reader_finds_the_columns(folder: Path) -> None:
    files = table_files([folder])
    assert len(files) == 5
    assert {file.name for file in files} and all("=" in file.parent.name for file in files)
    assert column_names(files[0]) == ["age", "ill", "year", "town"]
    assert rows(read_tables([folder])) == rows(TABLE)
    batches = [batch for file in files for batch in iter_batches(file, ["town", "age", "ill", "year"], 1)]
    assert [batch.num_rows for batch in batches] == [1] * 6
    assert rows(pa.concat_tables(map(pa.Table.from_batches, ([b] for b in batches)))) == rows(TABLE)
    only = pa.concat_tables(list(each_run(files, ["town"], 4, lambda run: run)))
    assert sorted(only["town"].to_pylist()) == sorted(TABLE["town"].to_pylist())
    assert only.column_names == ["town"]


def test_the_same_release_as_from_one_file(folder: Path, tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "one.parquet")
    for name, source in (("one", tmp_path / "one.parquet"), ("parts", folder)):
        run_files([source], POLICY.plan(), tmp_path / f"{name}-out", format="parquet")
    one, parts = (read_table(tmp_path / f"{name}-out" / "release.parquet") for name in ("one", "parts"))
    assert rows(one) == rows(parts)


def test_only_folders_below_the_one_given_count(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "date=2026-01-31").mkdir()
    write_table(TABLE, tmp_path / "date=2026-01-31" / "release.csv")
    for source in (tmp_path / "date=2026-01-31", tmp_path / "date=2026-01-31" / "release.csv"):
        assert read_tables([source]).column_names == TABLE.column_names
    assert read_tables([folder / "year=2024"]).column_names == ["age", "ill", "town"]


def test_a_file_that_has_the_column_itself_and_one_outside_the_parts(folder: Path) -> None:
    inside = folder / "year=2024" / "town=Oslo"
    inside.mkdir()
    write_table(pa.table({"age": [1], "ill": ["a"], "year": ["1999"]}), inside / "x.parquet")
    assert "1999" in read_tables([folder])["year"].to_pylist()
    write_table(pa.table({"age": [1], "ill": ["a"]}), folder / "stray.parquet")
    with pytest.raises(DataError, match="do not have the same columns"):
        read_tables([folder])


def test_a_file_keeps_the_values_of_its_folders(tmp_path: Path) -> None:
    (tmp_path / "town=Oslo").mkdir()
    write_table(guard_table(pa.table({"=age": [31]})), tmp_path / "town=Oslo" / "a.csv")
    (file,) = table_files([tmp_path])
    assert table_files([file]) == [file]
    assert read_coded(file).column_names == ["'=age", "town"]
    with pytest.raises(DataError, match="given twice"):
        table_files([file, file])
    for columns in (["town", "=age"], ["=age"]):
        assert read_table(file, columns, unescape_formulas=True).column_names == columns
        assert next(iter_batches(file, columns, unescape_formulas=True)).schema.names == columns
