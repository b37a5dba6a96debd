"""Streaming from databases and into them: what the local engine writes, in one transaction, never held whole."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from support_files import contents

import hushtable as ht
from hushtable.engines.stream import run_files
from hushtable.errors import Cancelled, DataError, HushtableError, OutputError
from hushtable.io import sql
from hushtable.io.files import write_table
from hushtable.io.sources import read_tables
from hushtable.io.sql import read_sql, write_sql

pytestmark = pytest.mark.usefixtures("small_runs")

ROWS = 400
POLICY = ht.Policy(
    columns={
        "note": {"role": "insensitive"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [10, 20]}},
        "name": {"role": "identifier"},
        "pay": {"role": "sensitive"},
        "town": {"role": "quasi", "hierarchy": {"prefix": "*"}},
        "day": {"role": "insensitive"},
        "ill": {"role": "sensitive"},
    },
    models=[{"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 2, "on": "ill"}}],
    suppression=0.1,
    seed=7,
)


def people() -> pa.Table:
    draw = np.random.default_rng(3)
    days = draw.integers(0, 20000, ROWS).astype("datetime64[D]")
    return pa.table(
        {
            "note": pa.array([f"é{x % 97:03} =1" if x % 5 else "" for x in draw.integers(0, 10**6, ROWS)]),
            "age": pa.array(draw.integers(18, 80, ROWS), mask=draw.random(ROWS) < 0.05),
            "name": pa.array([f"p{x}" for x in range(ROWS)]),
            "pay": pa.array(draw.choice([0.5, 1.0, 2.25, -3.0], ROWS), mask=draw.random(ROWS) < 0.1),
            "town": pa.array(draw.choice(["aa", "ab", "ba", "bb", "cé"], ROWS)),
            "day": pa.array(days, mask=draw.random(ROWS) < 0.1),
            "ill": pa.array(draw.choice(["flu", "=HIV", "cold", "none"], ROWS)),
        }
    )


def left(folder: Path) -> list[str]:
    """What a failed run left behind, but for the databases."""
    return [p.name for p in folder.iterdir() if not p.name.startswith("clinic.db")]


@pytest.fixture
def database(address: str) -> str:
    """A database with the people in it."""
    write_sql(people(), address, table="people")
    return address


@pytest.mark.parametrize("options", [{}, {"format": "parquet"}, {"format": "parquet", "part_rows": 120}], ids=str)
def test_the_same_folder_and_the_same_rows_as_in_memory(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    source = f"{database}?table=people"
    release = ht.anonymize(read_tables([source]), POLICY)
    release.save(tmp_path / "local", format=options.get("format", "csv"))
    write_sql(release.table, database, table="local")
    with monkeypatch.context() as only_batches:
        only_batches.setattr(sql, "read_sql", lambda *_, **__: pytest.fail("the table was read whole"))
        run_files([source], POLICY.plan(), tmp_path / "stream", to=f"{database}?table=stream", **options)
    if "part_rows" not in options:
        assert contents(tmp_path / "local") == contents(tmp_path / "stream")
    one, two = read_sql(database, table="local"), read_sql(database, table="stream")
    assert one.schema == two.schema
    assert one.to_pydict() == two.to_pydict()
    assert ht.verify(f"{database}?table=stream", POLICY, tmp_path / "stream" / "release.json").ok


def test_several_databases_and_files_are_one_table(database: str, tmp_path: Path) -> None:
    whole = people()
    write_sql(whole.slice(0, 100), database, table="first")
    write_sql(whole.slice(100, 100), f"sqlite:///{tmp_path / 'clinic.db-more'}", table="second")
    sources = [f"{database}?table=first", f"sqlite:///{tmp_path / 'clinic.db-more'}?table=second"]
    run_files(sources, POLICY.plan(), tmp_path / "stream")
    ht.anonymize(read_tables(sources), POLICY).save(tmp_path / "local")
    assert contents(tmp_path / "local") == contents(tmp_path / "stream")
    with pytest.raises(DataError, match="given twice"):
        run_files([sources[0], sources[0]], POLICY.plan(), tmp_path / "twice")


def test_what_stops_a_run_leaves_no_table_and_no_folder(database: str, tmp_path: Path) -> None:
    seen: list[str] = []
    run_files(
        [f"{database}?table=people"], POLICY.plan(), tmp_path / "whole", to=f"{database}?table=whole",
        progress=lambda share, what: seen.append(what),
    )  # fmt: skip
    assert seen.count("writing") > 10, "every piece of the table is progress"
    for moment in range(len(seen)):
        calls = 0

        def stop(share: float, what: str, moment: int = moment) -> None:
            nonlocal calls
            calls += 1
            if calls > moment:
                raise Cancelled("stop")

        if moment % 3:
            continue  # every third will do
        with pytest.raises(Cancelled):
            run_files([f"{database}?table=people"], POLICY.plan(), tmp_path / "out", to=f"{database}?table=out",
                      progress=stop)  # fmt: skip
        assert sorted(left(tmp_path)) == ["whole", "whole.private"]
        with pytest.raises(DataError):
            read_sql(database, table="out")


def test_a_table_that_exists_is_kept_until_the_new_one_is_complete(database: str, tmp_path: Path) -> None:
    write_sql(pa.table({"old": [1]}), database, table="open")
    before = read_sql(database, table="open")
    with pytest.raises(OutputError, match="exists"):
        run_files([f"{database}?table=people"], POLICY.plan(), tmp_path / "out", to=f"{database}?table=open")
    assert read_sql(database, table="open") == before
    assert left(tmp_path) == []
    run_files([f"{database}?table=people"], POLICY.plan(), tmp_path / "out", to=f"{database}?table=open",
              overwrite=True)  # fmt: skip
    assert read_sql(database, table="open").num_rows > 300


def test_a_folder_that_is_refused_takes_the_table_with_it(database: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("mine")
    with pytest.raises(OutputError, match="would be lost"):
        run_files([f"{database}?table=people"], POLICY.plan(), tmp_path / "out", to=f"{database}?table=open",
                  overwrite=True)  # fmt: skip
    with pytest.raises(DataError):
        read_sql(database, table="open")


def test_a_lost_connection(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = f"t{secrets.token_hex(6)}"
    write_sql(people(), postgres, table=table)

    def cut() -> None:
        with psycopg.connect(postgres, autocommit=True) as session:
            session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                            "AND backend_type = 'client backend'")  # fmt: skip

    def die_reading(share: float, what: str) -> None:
        if what == "reading":
            cut()

    def die_writing(share: float, what: str) -> None:
        seen.append(what)
        if what == "writing" and seen.count("measuring"):
            cut()

    monkeypatch.setattr("hushtable.io.sql_base._WRITTEN", 50)
    monkeypatch.setattr("hushtable.io.sources._BATCH_ROWS", 20)
    for die in (die_reading, die_writing):
        seen: list[str] = []
        with pytest.raises(HushtableError, match=r"connection broke|shutting down") as caught:
            run_files([f"{postgres}?table={table}"], POLICY.plan(), tmp_path / "out", to=f"{postgres}?table={table}o",
                      progress=die)  # fmt: skip
        assert "sesame" not in str(caught.value)
        assert left(tmp_path) == []
        with pytest.raises(DataError, match="no such table"):
            read_sql(postgres, table=f"{table}o")


def test_a_killed_run_on_a_database_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"sqlite:///{tmp_path / 'clinic.db'}"
    write_sql(people(), address, table="people")
    keys: list[Any] = []
    from hushtable.engines import stream

    opened = stream.workspace
    monkeypatch.setattr(stream, "workspace", lambda target, key: keys.append(key) or opened(target, key))
    for out in ("one", "two"):
        run_files([f"{address}?table=people"], POLICY.plan(), tmp_path / out)
    assert keys[0] != keys[1]
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_from_a_store_to_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryFileSystem, "store", {})
    write_table(people(), "memory://in/people.parquet")
    run_files(["memory://in/people.parquet"], POLICY.plan(), tmp_path / "out", format="parquet",
              to="memory://open/people.parquet")  # fmt: skip
    with fsspec.open("memory://open/people.parquet") as file:
        assert file.read() == (tmp_path / "out" / "release.parquet").read_bytes()

    def stop(share: float, what: str) -> None:
        seen.append(what)
        if what == "writing" and seen.count("measuring"):
            raise Cancelled("stop")

    seen: list[str] = []
    with pytest.raises(Cancelled):
        run_files(["memory://in/people.parquet"], POLICY.plan(), tmp_path / "again", to="memory://open/again.parquet",
                  progress=stop)  # fmt: skip
    assert fsspec.filesystem("memory").find("/open") == ["/open/people.parquet"]


def test_a_writer_that_fails_is_told_without_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    from hushtable.io import sql_sqlite as lite

    address = f"sqlite:///{tmp_path / 'clinic.db'}"
    write_sql(people(), address, table="people")

    def full(batch: pa.RecordBatch) -> Any:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(lite, "lite_rows", full)
    with pytest.raises(OutputError, match="disk is full"):
        run_files([f"{address}?table=people"], POLICY.plan(), tmp_path / "out", to=f"{address}?table=open")
    assert left(tmp_path) == []


def test_counting_goes_no_further_than_it_must(database: str) -> None:
    assert sql.count_sql(f"{database}?table=people", 10) == 10
    assert sql.count_sql(f"{database}?table=people", 10**6) == ROWS
    with pytest.raises(DataError):
        sql.count_sql(f"{database}?table=nobody", 10)


def test_duckdb_keeps_the_order_of_pieces(tmp_path: Path) -> None:
    place = f"duckdb:///{tmp_path / 'x.db'}"
    write_sql(pa.table({"a": np.arange(5000)}), place, table="t")
    with duckdb.connect(str(tmp_path / "x.db")) as session:
        assert session.execute("SELECT a FROM t").fetchnumpy()["a"].tolist() == list(range(5000))


@pytest.mark.parametrize("way", ["streamed", "held"])
def test_a_commit_that_fails_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    address = f"duckdb:///{tmp_path / 'clinic.db'}"
    write_sql(people(), address, table="people")
    connect = duckdb.connect

    class Full:
        """A session whose disk is full when it has to be."""

        def __init__(self, *words: Any, **more: Any) -> None:
            self._session = connect(*words, **more)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._session, name)

        def commit(self) -> None:
            raise duckdb.TransactionException("Failed to commit: Could not write all required bytes")

    def run(source: str, out: Path, to: str) -> None:
        if way == "streamed":
            run_files([source], POLICY.plan(), out, to=to)
        else:
            ht.run(source, POLICY, out, engine="local", to=to)

    monkeypatch.setattr(duckdb, "connect", Full)
    with pytest.raises(OutputError, match="or the disk is full"):
        run(f"{address}?table=people", tmp_path / "out", f"{address}?table=open")
    monkeypatch.undo()
    assert left(tmp_path) == []
    with pytest.raises(DataError, match="no such table"):
        read_sql(address, table="open")
