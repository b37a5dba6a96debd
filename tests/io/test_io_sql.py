"""DuckDB, SQLite and PostgreSQL: the same table comes back, reading never writes, writing is all or nothing."""

from __future__ import annotations

import datetime as dt
import decimal
import sqlite3

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support_sql import CANARY, execute, plain

import hushtable as ht
from hushtable.errors import DataError, HushtableError, OutputError
from hushtable.io.files import column_names, iter_batches, read_table, write_table
from hushtable.io.sql import check_sql_target, read_sql, sql_names, write_sql, writing_sql
from hushtable.io.sql_place import SqlPlace

D = decimal.Decimal
ODD = "we\"ird na'me; -- ü"
UTC = dt.UTC


EVERYTHING = pa.table(
    {
        "whole": pa.array([1, None, -(2**63) + 1], pa.int64()),
        "number": pa.array([0.1, None, 1e300], pa.float64()),
        "money": pa.array([D("12.50"), None, D("-99999999.99")], pa.decimal128(10, 2)),
        "long": pa.array([D("1234567890123456789012345678.12"), None, D("0.01")], pa.decimal128(30, 2)),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1899, 12, 31)], pa.date32()),
        "moment": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 4), None, dt.datetime(1999, 1, 1)], pa.timestamp("us")),
        "instant": pa.array(
            [dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), None, dt.datetime(1999, 1, 1, 12, tzinfo=UTC)],
            pa.timestamp("us", "UTC"),
        ),
        "yes": pa.array([True, None, False], pa.bool_()),
        "word": pa.array(["01", None, "ß'\"; DROP"], pa.string()),
        "coded": pa.array(["x", None, "x"]).dictionary_encode(),
    }
)


def test_every_type_comes_back(address):
    write_sql(EVERYTHING, address, table="people")
    values, types = plain(read_sql(address, table="people"))
    assert values == EVERYTHING.to_pydict()
    assert types == plain(EVERYTHING)[1]
    assert sql_names(f"{address}?table=people") == EVERYTHING.column_names


def test_names_with_quotes_and_spaces(address):
    table = pa.table({ODD: [1, 2], "SELECT": ["a", "b"], "a.b%s": [True, False]})
    write_sql(table, address, table=ODD)
    assert plain(read_sql(address, table=ODD))[0] == table.to_pydict()
    assert read_sql(address, table=ODD, columns=["a.b%s", ODD]).to_pydict() == {"a.b%s": [True, False], ODD: [1, 2]}
    write_sql(table.slice(0, 1), address, table=ODD, overwrite=True)
    assert read_sql(address, table=ODD).num_rows == 1


def test_a_query(address):
    write_sql(pa.table({"age": [31, 45, 27], "town": ["Oslo", "Rome", None]}), address, table="people")
    query = "SELECT town, age + 1 AS next FROM people WHERE town LIKE '%m%' OR town IS NULL ORDER BY age; -- done;"
    assert read_sql(address, query=query).to_pydict() == {"town": [None, "Rome"], "next": [28, 46]}
    oldest = read_sql(address, query="WITH x AS (SELECT age FROM people) SELECT max(age) AS m FROM x")
    assert oldest["m"].to_pylist() == [45]
    assert read_sql(address, query=query, columns=["next"]).column_names == ["next"]


def test_batches_and_the_common_calls(address):
    table = pa.table({"n": list(range(10)), "w": ["a", "b"] * 5})
    place = f"{address}?table=people"
    write_table(table, place)
    assert [b.num_rows for b in iter_batches(place, batch_rows=4)] == [4, 4, 2]
    assert column_names(place) == ["n", "w"]
    assert read_table(place, ["w"]).to_pydict() == {"w": ["a", "b"] * 5}
    assert ht.read_sql(place).to_pydict() == table.to_pydict()
    with pytest.raises(OutputError, match="exists"):
        write_table(table, place)


def test_an_existing_table_is_refused_or_replaced_whole(address):
    old, new = pa.table({"a": [1, 2]}), pa.table({"b": ["x"]})
    write_sql(old, address, table="people")
    place = SqlPlace.of(f"{address}?table=people")
    with pytest.raises(OutputError, match="The table 'people' exists") as caught:
        write_sql(new, address, table="people")
    assert caught.value.code == "exists"
    with pytest.raises(OutputError, match="exists"):
        check_sql_target(place, overwrite=False)
    check_sql_target(place, overwrite=True)
    check_sql_target(SqlPlace.of(f"{address}?table=others"), overwrite=False)
    assert read_sql(address, table="people").to_pydict() == {"a": [1, 2]}
    write_sql(new, address, table="people", overwrite=True)
    assert read_sql(address, table="people").to_pydict() == {"b": ["x"]}


def test_the_rows_of_a_replaced_table_do_not_stay_in_the_file(address, monkeypatch):
    if address.startswith("postgresql"):
        return  # its files are not handed over
    connect = sqlite3.connect

    def careless(*args, **more):
        session = connect(*args, **more)
        session.execute("PRAGMA secure_delete = OFF")  # the default of SQLite as it comes
        return session

    monkeypatch.setattr(sqlite3, "connect", careless)
    path = SqlPlace.of(address).path
    write_sql(pa.table({"a": [f"{CANARY}{i}" for i in range(5000)]}), address, table="people")
    write_sql(pa.table({"b": ["kept"]}), address, table="others")
    path.chmod(0o640)
    assert CANARY.encode() in path.read_bytes()
    write_sql(pa.table({"a": ["new"]}), address, table="people", overwrite=True)
    assert CANARY.encode() not in path.read_bytes()
    assert read_sql(address, table="people")["a"].to_pylist() == ["new"]
    assert read_sql(address, table="others")["b"].to_pylist() == ["kept"]
    assert path.stat().st_mode & 0o777 == 0o640 and [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_failure_inside_the_block_leaves_everything_as_it_was(address):
    write_sql(pa.table({"a": [1, 2]}), address, table="people")
    places = [SqlPlace.of(f"{address}?table={name}") for name in ("people", "others")]
    with pytest.raises(KeyboardInterrupt), writing_sql([(p, pa.table({"b": [3]})) for p in places], overwrite=True):
        raise KeyboardInterrupt
    assert read_sql(address, table="people").to_pydict() == {"a": [1, 2]}
    with pytest.raises(DataError, match="no such table"):
        read_sql(address, table="others")
    if address.startswith("postgresql"):
        assert execute(address, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("people",)]


def test_both_tables_of_a_block_appear_together(address):
    places = [SqlPlace.of(f"{address}?table={name}") for name in ("people", "others")]
    with writing_sql([(p, pa.table({"b": [3]})) for p in places]):
        if address.startswith("postgresql"):
            with pytest.raises(DataError, match="no such table"):
                read_sql(address, table="people")
    assert [read_sql(address, table=p.table).num_rows for p in places] == [1, 1]


def test_a_new_file_is_removed_when_nothing_was_written(tmp_path):
    for scheme in ("duckdb", "sqlite"):
        address = f"{scheme}:///{tmp_path / 'new.db'}?table=people"
        with pytest.raises(KeyboardInterrupt), writing_sql([(SqlPlace.of(address), pa.table({"a": [1]}))]):
            raise KeyboardInterrupt
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="type list or struct"):
        write_sql(pa.table({"a": [[1]]}), address)
    assert list(tmp_path.iterdir()) == []


WRITES = [
    "DROP TABLE people",
    "DELETE FROM people",
    "SELECT 1; DROP TABLE people",
    "SELECT 1 AS a) AS x; DROP TABLE people; SELECT * FROM (SELECT 1 AS b",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "SELECT * INTO copy FROM people",
    "CREATE TABLE copy AS SELECT * FROM people",
    "EXPLAIN SELECT 1",
    "PRAGMA table_info(people)",
    "COPY people TO 'out.csv'",
    "ATTACH 'other.db'",
    "",
    "SELECT 'open",
]


@pytest.mark.parametrize("query", WRITES)
def test_queries_only_read(address, query):
    write_sql(pa.table({"a": [1, 2]}), address, table="people")
    with pytest.raises(HushtableError):
        read_sql(address, query=query)
    assert read_sql(address, table="people").num_rows == 2
    with pytest.raises(DataError):
        read_sql(address, table="copy")


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"table": "nobody"}, "no such table"),
        ({"query": "SELECT nought FROM people"}, "no such column"),
        ({"query": "SELECT FROM WHERE"}, "syntax|not a single SELECT"),
        ({"table": "people", "columns": ["agee"]}, "has no column 'agee'. Did you mean 'age'"),
        ({}, "neither a table nor a query"),
        ({"query": "SELECT * FROM people WHERE age > 99"}, "has no rows"),
    ],
)
def test_what_is_wrong_is_said(address, what, words):
    write_sql(pa.table({"age": [31]}), address, table="people")
    with pytest.raises(HushtableError, match=words):
        read_sql(address, **what)


def test_a_column_twice(address):
    write_sql(pa.table({"age": [31]}), address, table="people")
    with pytest.raises(DataError, match="more than one column named 'age'"):
        read_sql(address, query="SELECT age, age FROM people -- twice")
    assert read_sql(address, query="SELECT age, age AS again FROM people").column_names == ["age", "again"]


def test_no_message_quotes_a_row(address):
    write_sql(pa.table({"word": [CANARY, "1"]}), address, table="people")
    cast = "CAST(word AS INTEGER)" if not address.startswith("sqlite") else "json(word)"
    with pytest.raises(DataError) as caught:
        read_sql(address, query=f"SELECT {cast} AS n FROM people")
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_view_is_not_replaced(address):
    write_sql(pa.table({"a": [1]}), address, table="people")
    execute(address, "CREATE VIEW seen AS SELECT * FROM people")
    assert read_sql(address, table="seen").to_pydict() == {"a": [1]}
    with pytest.raises(OutputError, match=r"it is a view|it is not a table"):
        write_sql(pa.table({"a": [2]}), address, table="seen", overwrite=True)
    assert read_sql(address, table="seen").to_pydict() == {"a": [1]}


def test_a_table_that_views_look_at(address):
    write_sql(pa.table({"a": [1]}), address, table="people")
    execute(address, "CREATE VIEW seen AS SELECT a FROM people")
    if address.startswith("postgresql"):
        with pytest.raises(OutputError, match="depend on the table"):
            write_sql(pa.table({"a": [2]}), address, table="people", overwrite=True)
        assert read_sql(address, table="seen").to_pydict() == {"a": [1]}
    else:
        write_sql(pa.table({"a": [2]}), address, table="people", overwrite=True)
        assert read_sql(address, table="seen").to_pydict() == {"a": [2]}


TYPES = {
    "whole": pa.int64(),
    "word": pa.string(),
    "number": pa.float64(),
    "money": pa.decimal128(6, 2),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
}
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
        st.none() | st.floats(allow_nan=False),
        st.none() | st.decimals(-9999, 9999, places=2),
        st.none() | st.dates(),
        st.none() | st.datetimes(),
    ),
    min_size=1,
    max_size=8,
)


@given(rows=ROWS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_values_come_back(address, rows):
    columns = dict(zip(TYPES, zip(*rows, strict=True), strict=True))
    table = pa.table({name: pa.array(columns[name], kind) for name, kind in TYPES.items()})
    write_sql(table, address, table="t", overwrite=True)
    back = read_sql(address, table="t")
    assert back.to_pydict() == table.to_pydict()
    for name, kind, stored in zip(TYPES, plain(table)[1], plain(back)[1], strict=True):
        assert stored == kind or table[name].null_count == table.num_rows


def test_duckdb_open_elsewhere(tmp_path):
    address = f"duckdb:///{tmp_path / 'x.db'}?table=t"
    write_sql(pa.table({"a": [1]}), address)
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(DataError, match="cannot be opened"):
        read_sql(f"duckdb:///{tmp_path / 'text.db'}?table=t")
    execute(address, "CREATE TABLE odd AS SELECT [1, 2] AS a, 1::HUGEINT AS h, 'x'::ENUM('x', 'y') AS e")
    assert read_sql(address, query="SELECT h, e FROM odd").to_pydict() == {"h": [D(1)], "e": ["x"]}


def test_files_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for scheme in ("duckdb", "sqlite"):
        with pytest.raises(DataError, match=r"There is no database 'no\.db'"):
            read_sql(f"{scheme}:///no.db?table=t")
        with pytest.raises(OutputError, match="its folder does not exist"):
            write_sql(pa.table({"a": [1]}), f"{scheme}:///no/no.db?table=t")
        with pytest.raises(DataError, match="is a folder"):
            read_sql(f"{scheme}:///{tmp_path}?table=t")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.db").write_text("")
    with pytest.raises(DataError, match=f"four slashes: sqlite:////{str(tmp_path / 'x.db')[1:]}"):
        read_sql(f"sqlite://{tmp_path / 'x.db'}?table=t")


def test_what_may_not_be_written_is_told_before_the_work(tmp_path):
    for kind in ("duckdb", "sqlite"):
        with pytest.raises(OutputError, match="its folder does not exist"):
            check_sql_target(SqlPlace.of(f"{kind}:///{tmp_path}/nowhere/x.db?table=t"), overwrite=False)
        with pytest.raises(OutputError, match="it is a folder"):
            check_sql_target(SqlPlace.of(f"{kind}:///{tmp_path}?table=t"), overwrite=False)
        assert list(tmp_path.iterdir()) == []


def test_duckdb_draws_nothing_on_stdout(tmp_path, monkeypatch):
    address = f"duckdb:///{tmp_path / 'x.db'}"
    opened = []
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: opened.append(connect(*a, **k)) or opened[-1])
    asked = "SELECT current_setting('enable_progress_bar') AS drawn"
    with writing_sql([(SqlPlace.of(f"{address}?table=t"), pa.table({"a": [1]}))]):
        assert opened[-1].execute(asked).fetchall() == [(False,)]
    assert read_sql(address, query=asked).to_pydict() == {"drawn": [False]}
