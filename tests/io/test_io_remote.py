"""Parquet in a store, by fsspec: what is written comes back, and half of it never shows."""

from __future__ import annotations

import importlib

import fsspec
import pyarrow as pa
import pytest

from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io import remote
from hushtable.io.files import column_names, iter_batches, read_table, write_table
from hushtable.io.remote import remote_exists, remote_file

TABLE = pa.table({"n": [1, 2, None], "w": pa.array(["a", None, "a"]).dictionary_encode()})


@pytest.fixture(autouse=True)
def store():
    """The store in memory, empty."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    return files


def test_a_table_comes_back(store):
    write_table(TABLE, "memory://a/b/t.parquet")
    assert read_table("memory://a/b/t.parquet").to_pydict() == TABLE.to_pydict()
    assert read_table("memory://a/b/t.parquet", ["w"]).to_pydict() == {"w": ["a", None, "a"]}
    assert [b.num_rows for b in iter_batches("memory://a/b/t.parquet", batch_rows=2)] == [2, 1]
    assert column_names("memory://a/b/t.parquet") == ["n", "w"]
    assert list(store.store) == ["/a/b/t.parquet"]
    assert remote_exists("memory://a/b/t.parquet")
    write_table(TABLE.slice(0, 1), "memory://a/b/t.parquet")
    assert read_table("memory://a/b/t.parquet").num_rows == 1


def test_the_bytes_are_those_of_a_local_file(store, tmp_path):
    write_table(TABLE, "memory://t.parquet")
    write_table(TABLE, tmp_path / "t.parquet")
    assert store.cat("/t.parquet") == (tmp_path / "t.parquet").read_bytes()


def test_a_failure_leaves_the_old_file(store, monkeypatch):
    write_table(TABLE, "memory://t.parquet")
    seen = []
    with pytest.raises(ZeroDivisionError), remote_file("memory://t.parquet", TABLE.slice(0, 1)):
        seen.append(1 / (len(store.store) - 2))
    assert not seen
    assert list(store.store) == ["/t.parquet"]

    def full(*_):
        raise OSError(28, "No space left")

    monkeypatch.setattr(remote, "write_parquet", full)
    with pytest.raises(OutputError, match="cannot be written"):
        write_table(TABLE.slice(0, 1), "memory://t.parquet")
    assert list(store.store) == ["/t.parquet"]
    assert read_table("memory://t.parquet").num_rows == 3


def test_who_failed_is_told_apart(store, monkeypatch):
    with pytest.raises(OutputError, match="the ledger is busy"), remote_file("memory://t.parquet", TABLE):
        raise OutputError("the ledger is busy")

    def refused(*_):
        raise RuntimeError("CANARY")

    monkeypatch.setattr(type(store), "mv", refused)
    with pytest.raises(OutputError, match="cannot be written: the store reports an error"):
        write_table(TABLE, "memory://t.parquet")
    assert list(store.store) == []


def test_file_addresses_are_files(tmp_path):
    for name in ("t.csv", "t.parquet", "t u.arrow"):
        write_table(TABLE.select(["n"]), f"file://{tmp_path}/{name}")
        assert (tmp_path / name).is_file()
        assert read_table(f"file://{tmp_path}/{name}").num_rows == 3
        assert column_names(f"file://{tmp_path}/{name}") == ["n"]


def test_what_is_wrong_is_said(store, monkeypatch):
    with pytest.raises(DataError, match=r"There is no file 'memory://no\.parquet'"):
        read_table("memory://no.parquet")
    with pytest.raises(UsageError, match="tables must be Parquet"):
        read_table("memory://t.csv")
    with pytest.raises(UsageError, match="fsspec does not know it"):
        read_table("nowhere://t.parquet")
    with store.open("/bad.parquet", "wb") as out:
        out.write(b"PAR1 but no more")
    with pytest.raises(DataError, match="not a complete Parquet file"):
        read_table("memory://bad.parquet")
    write_table(TABLE.slice(0, 0), "memory://empty.parquet")
    with pytest.raises(DataError, match="has no rows"):
        read_table("memory://empty.parquet")
    write_table(TABLE, "memory://t.parquet")
    with pytest.raises(DataError, match="no column 'm'"):
        read_table("memory://t.parquet", ["m"])

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"needs the package fsspec.*hushtable\[remote\]"):
        read_table("memory://t.parquet")
