"""A table in several files: which they are, whether they belong together, whether they stay as they are."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

from hushtable.engines.choose import LARGE_BYTES, LARGE_CELLS, is_large
from hushtable.errors import DataError
from hushtable.io import sources
from hushtable.io.dictionary_reader import read_coded
from hushtable.io.sources import check_unchanged, each_run, read_tables, stamps, table_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text(f"age,sex\n1,{name[0]}\n2,x\n3,\n")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"sex,age\nd,4\n"))
    (tmp_path / "readme.md").write_text("no table")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "sub.csv").mkdir()
    return tmp_path


def test_folders_patterns_and_files(folder: Path) -> None:
    assert [f.name for f in table_files([folder])] == ["a.csv", "b.csv", "c.txt", "d.csv.gz"]
    assert [f.name for f in table_files([folder / "[ab].csv", folder / "c.txt"])] == ["a.csv", "b.csv", "c.txt"]
    # a file may be named like a pattern
    (folder / "x[1].csv").write_text("age\n1\n")
    assert [f.name for f in table_files([folder / "x[1].csv"])] == ["x[1].csv"]
    # whether it is there is told by whoever opens it
    assert table_files([folder / "none.csv"]) == [folder / "none.csv"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["sub.csv"], "has no file of a known format"),
        (["z*.csv"], "No file is named like"),
        (["a.csv", "a*.csv"], "is given twice"),
        (["a.csv", "../{}/a.csv"], "is given twice"),
    ],
)
def test_what_is_no_table(folder: Path, given: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        table_files([folder / name.format(folder.name) for name in given])


def test_a_link_to_a_file_is_the_file(folder: Path) -> None:
    (folder / "link.csv").symlink_to(folder / "a.csv")
    with pytest.raises(DataError, match="given twice"):
        table_files([folder])


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 100])
def test_runs_do_not_end_with_files(folder: Path, rows: int) -> None:
    found = list(each_run(table_files([folder]), ["sex", "age"], rows, lambda run: run))
    assert all(run.num_rows == rows for run in found[:-1])
    assert pa.concat_tables(found).to_pydict() == {
        "sex": ["a", "x", "", "b", "x", "", "c", "x", "", "d"],
        "age": ["1", "2", "3", "1", "2", "3", "1", "2", "3", "4"],
    }


def test_other_columns_and_types_are_refused(folder: Path) -> None:
    (folder / "e.csv").write_text("age,name\n1,q\n")
    with pytest.raises(DataError, match=r"Only in one of them: 'name', 'sex'"):
        list(each_run(table_files([folder]), ["age"], 10, lambda run: run))
    pq.write_table(pa.table({"age": [1], "sex": ["f"]}), folder / "e.parquet")
    (folder / "e.csv").unlink()
    with pytest.raises(DataError, match=r"different types in some of the files: 'age'"):
        list(each_run(table_files([folder]), ["age"], 10, lambda run: run))
    # text is text in any format
    assert sum(run.num_rows for run in each_run(table_files([folder]), ["sex"], 10, lambda run: run)) == 11


def test_text_is_text_whether_in_dictionaries_or_not(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"w": ["x", "y"], "n": [1, 2]}), tmp_path / "a.feather")
    pq.write_table(pa.table({"n": [3], "w": pa.array(["x"])}), tmp_path / "b.parquet")
    feather.write_feather(pa.table({"w": pa.array(["z"]).dictionary_encode(), "n": [4]}), tmp_path / "c.arrow")
    for order in (["a.feather", "b.parquet", "c.arrow"], ["c.arrow", "a.feather", "b.parquet"]):
        files = [tmp_path / name for name in order]
        expected = {"a": ["x", "y"], "b": ["x"], "c": ["z"]}
        words = [word for name in order for word in expected[name[0]]]
        assert read_tables(files)["w"].to_pylist() == words
        assert pa.concat_tables(each_run(files, ["w"], 3, lambda run: run))["w"].to_pylist() == words


def test_runs_of_long_texts_have_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "RUN_BYTES", 5000)
    monkeypatch.setattr(sources, "_BATCH_ROWS", 10)
    words = [f"{n:04}" * 25 for n in range(300)]
    pq.write_table(pa.table({"w": words}), tmp_path / "t.parquet", row_group_size=10)
    runs = [run["w"].to_pylist() for run in each_run([tmp_path / "t.parquet"], ["w"], 1000, lambda run: run)]
    assert [word for run in runs for word in run] == words
    assert 20 <= max(map(len, runs)) <= 60


def test_a_file_that_changes_while_it_is_read(folder: Path) -> None:
    runs = each_run([folder / "a.csv"], ["age"], 2, lambda run: run)
    next(runs)
    (folder / "a.csv").write_text("age,sex\n1,a\n")
    with pytest.raises(DataError, match="changed while it was read"):
        list(runs)


def test_a_replaced_file_is_another_one(folder: Path) -> None:
    before = stamps([folder / "a.csv"])
    text, times = (folder / "a.csv").read_text(), os.stat(folder / "a.csv")
    (folder / "new").write_text(text)
    os.utime(folder / "new", ns=(times.st_atime_ns, times.st_mtime_ns))
    check_unchanged(before)
    os.replace(folder / "new", folder / "a.csv")
    with pytest.raises(DataError, match="changed while it was read"):
        check_unchanged(before)
    (folder / "a.csv").unlink()
    with pytest.raises(DataError, match="cannot be read: No such file"):
        check_unchanged(before)


def test_parts_are_read_as_one_table(tmp_path: Path) -> None:
    words = [["b", None, "a"], ["a", "c"], [None]]
    for number, part in enumerate(words):
        pq.write_table(
            pa.table({"w": pa.array(part, pa.string()), "n": [number] * len(part)}), tmp_path / f"{number}.pq"
        )
    table = read_coded(tmp_path)
    assert table["w"].to_pylist() == [word for part in words for word in part]
    assert table["n"].to_pylist() == [0, 0, 0, 1, 1, 2]
    assert str(table.schema.field("w").type) == "dictionary<values=string, indices=uint8, ordered=0>"
    pq.write_table(pa.table({"w": ["z"]}), tmp_path / "3.pq")
    with pytest.raises(DataError, match="different columns"):
        read_coded(tmp_path)
    pq.write_table(pa.table({"w": ["z"], "n": [1.5]}), tmp_path / "3.pq")
    with pytest.raises(DataError, match="different types in some of the files: 'n'"):
        read_coded(tmp_path)


def test_what_is_large(tmp_path: Path) -> None:
    class Sized(type(tmp_path)):  # type: ignore[misc]
        def is_file(self, **_: object) -> bool:
            return True

        def stat(self, **_: object) -> os.stat_result:
            return os.stat_result((0, 0, 0, 0, 0, 0, LARGE_BYTES // 2, 0, 0, 0))

    half = Sized(tmp_path / "a.csv")
    assert not is_large([half])
    assert is_large([half, half])
    rows = 2_000
    columns = 50
    pq.write_table(pa.table({str(c): pa.nulls(rows, pa.int8()) for c in range(columns)}), tmp_path / "t.parquet")
    wanted = LARGE_CELLS // (rows * columns)
    assert not is_large([tmp_path / "t.parquet"] * (wanted - 1))
    assert is_large([tmp_path / "t.parquet"] * wanted)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    assert not is_large([tmp_path / "bad.parquet"])
