"""Delta and Iceberg tables: the rows of today's version, and no others."""

from __future__ import annotations

import sys

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import hushtable as ht
from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io.lake import lake_files
from hushtable.io.layout import Rows
from hushtable.io.sources import read_tables
from hushtable.models.k_anonymity import KAnonymity
from hushtable.release.addresses import check_address, read_address, writing_rows
from support_core import random_people

ROWS = pa.table({"age": [31, 35, 40, 52], "town": ["Oslo", "São/Paulo", "Oslo", "Bergen"]})


def read(*paths) -> list[tuple]:
    found = read_tables(paths).select(["age", "town"]).to_pydict()
    return sorted(zip(found["age"], found["town"], strict=True))


@pytest.fixture
def iceberg(tmp_path):
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("clinic")
    table = catalog.create_table("clinic.people", schema=ROWS.schema)
    table.append(ROWS)
    return table, tmp_path / "clinic" / "people"


@pytest.mark.parametrize("parts", [[], ["town"]])
def test_a_delta_table_is_its_current_version(tmp_path, parts):
    """Its folder still has the files of the row that was deleted, and of the rows that were overwritten."""
    deltalake.write_deltalake(tmp_path, ROWS.slice(0, 1))
    deltalake.write_deltalake(tmp_path, ROWS, mode="overwrite", partition_by=parts, schema_mode="overwrite")
    deltalake.DeltaTable(tmp_path).delete("age = 31")
    assert read(tmp_path) == [(35, "São/Paulo"), (40, "Oslo"), (52, "Bergen")]
    assert len(list(tmp_path.rglob("*.parquet"))) > len(lake_files(tmp_path))


def test_an_iceberg_table_is_its_current_version(iceberg):
    table, folder = iceberg
    table.delete("age = 31")
    assert read(folder) == [(35, "São/Paulo"), (40, "Oslo"), (52, "Bergen")]
    table.overwrite(ROWS.slice(1, 1))
    assert read(folder) == [(35, "São/Paulo")]


def test_the_hint_names_the_version(iceberg):
    table, folder = iceberg
    first = max((folder / "metadata").glob("*.metadata.json"))
    table.delete("age = 31")
    assert len(read(folder)) == 3
    (folder / "metadata" / "version-hint.text").write_text(first.name.removesuffix(".metadata.json"))
    assert len(read(folder)) == 4


def test_columns_that_changed_are_refused(iceberg):
    table, folder = iceberg
    with table.update_schema() as change:
        change.rename_column("town", "city")
    with pytest.raises(DataError, match="added, dropped or renamed"):
        lake_files(folder)


def test_a_delta_table_that_asks_more_of_its_readers_is_refused(tmp_path):
    deltalake.write_deltalake(tmp_path, ROWS)
    log = tmp_path / "_delta_log" / f"{0:020}.json"
    lines = log.read_text().splitlines()
    protocol = '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],'
    protocol += '"writerFeatures":["deletionVectors"]}}'
    log.write_text("\n".join(protocol if '"protocol"' in line else line for line in lines))
    with pytest.raises(DataError, match="hide the current rows"):
        lake_files(tmp_path)


def test_logs_that_are_damaged_or_lack_files(tmp_path, iceberg):
    deltalake.write_deltalake(tmp_path / "d", ROWS)
    for file in (tmp_path / "d").glob("*.parquet"):
        file.unlink()
    with pytest.raises(DataError, match="not in its folder"):
        lake_files(tmp_path / "d")
    (tmp_path / "d" / "_delta_log" / f"{0:020}.json").write_text("{")
    with pytest.raises(DataError, match=r"Delta table .* cannot be read"):
        lake_files(tmp_path / "d")
    for file in (iceberg[1] / "metadata").glob("*.metadata.json"):
        file.write_text("{")
    with pytest.raises(DataError, match=r"Iceberg table .* cannot be read"):
        lake_files(iceberg[1])


def test_without_the_packages(tmp_path, monkeypatch):
    (tmp_path / "d" / "_delta_log").mkdir(parents=True)
    (tmp_path / "i" / "metadata").mkdir(parents=True)
    (tmp_path / "i" / "metadata" / "v1.metadata.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.setitem(sys.modules, "pyiceberg.table", None)
    for name in "di":
        with pytest.raises(UsageError, match=r"not installed.*hushtable\[lake\]"):
            lake_files(tmp_path / name)


class TestOutput:
    def test_a_table_appears_when_the_block_ends(self, tmp_path):
        address = f"delta:///{tmp_path}/out"
        with writing_rows([(address, Rows.of(ROWS))]):
            assert not (tmp_path / "out").exists()
        assert read_address(address).num_rows == 4
        with pytest.raises(RuntimeError), writing_rows([(address, Rows.of(ROWS))], overwrite=True):
            raise RuntimeError
        assert deltalake.DeltaTable(tmp_path / "out").version() == 0
        with writing_rows([(address, Rows.of(ROWS.slice(0, 1)))], overwrite=True):
            pass
        assert read_address(address).num_rows == 1

    def test_what_must_not_be_replaced(self, tmp_path):
        address = f"delta:///{tmp_path}/out"
        deltalake.write_deltalake(tmp_path / "out", ROWS)
        with pytest.raises(OutputError, match="exists"):
            check_address(address, overwrite=False)
        check_address(address, overwrite=True)
        with pytest.raises(OutputError, match="is an input"):
            check_address(address, overwrite=True, inputs=[tmp_path / "out"])
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "notes.txt").write_text("mine")
        with pytest.raises(OutputError, match="not a Delta table"):
            check_address(f"delta:///{tmp_path}/other", overwrite=True)

    def test_a_folder_that_does_not_exist_is_not_made(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(OutputError, match=r"does not exist\. In an address, a path from the root has"):
            check_address(f"delta://{tmp_path}/out", overwrite=False)  # three slashes: relative to the current folder
        with pytest.raises(OutputError, match=r"does not exist\. Create the folder first"):
            check_address("delta:///nowhere/at/all/out", overwrite=False)

    @pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.spark)])
    def test_a_release_from_delta_to_delta(self, tmp_path, engine):
        people = random_people(80, 3)
        deltalake.write_deltalake(tmp_path / "in", people)
        deltalake.DeltaTable(tmp_path / "in").delete("age < 30")
        kept = deltalake.DeltaTable(tmp_path / "in").to_pyarrow_table().num_rows
        assert 0 < kept < 80
        policy = ht.Policy(quasi=["age", "country"], sensitive=["illness"], models=[KAnonymity(k=4)])
        ht.run(tmp_path / "in", policy, tmp_path / "out", engine=engine, to=f"delta:///{tmp_path}/published")
        published = deltalake.DeltaTable(tmp_path / "published").to_pyarrow_table()
        assert published.num_rows == kept == ht.open_release(tmp_path / "out").table.num_rows
