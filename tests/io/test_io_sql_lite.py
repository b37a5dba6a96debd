"""SQLite, where a declaration binds nobody."""

from __future__ import annotations

import datetime as dt
import decimal
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest
from support_sql import CANARY, execute, plain

from hushtable.errors import DataError, OutputError
from hushtable.io.sql import read_sql, write_sql

D = decimal.Decimal
UTC = dt.UTC


def test_what_sqlite_stores_decides_where_it_differs_from_the_declaration(tmp_path):
    address = f"sqlite:///{tmp_path / 'x.db'}"
    execute(
        address,
        "CREATE TABLE t (n NUMERIC, d DATE, b BOOLEAN, m DECIMAL(5,2), u, ts TIMESTAMP, z DATETIME, e TEXT)",
        "INSERT INTO t VALUES (1, '2024-02-29', 1, 12.5, 1, '2024-02-29 01:02:03', '2024-02-29T01:02:03+02:00', NULL)",
        "INSERT INTO t VALUES (1.5, 20240229, 0, '7', 2, '2024-02-29', '2024-02-29T01:02:03Z', NULL)",
    )
    found = read_sql(address, query="SELECT n, b, m, u, ts, z, e FROM t")
    numbers = ["double", "bool", "decimal128(5, 2)", "int64"]
    assert plain(found)[1] == [*numbers, "timestamp[us]", "timestamp[us, tz=UTC]", "string"]
    assert found["m"].to_pylist() == [D("12.50"), D("7.00")]
    assert found["z"].to_pylist()[0] == dt.datetime(2024, 2, 28, 23, 2, 3, tzinfo=UTC)
    with pytest.raises(DataError, match="'d' mixes text and whole numbers"):
        read_sql(address, table="t")
    for cell, words in (("x" + CANARY, "'m' was declared as a decimal"), ("1.234", "'m' was declared as a decimal")):
        execute(address, f"UPDATE t SET m = '{cell}'")
        with pytest.raises(DataError, match=words) as caught:
            read_sql(address, query="SELECT m FROM t")
        assert CANARY not in str(caught.value)
    execute(address, f"UPDATE t SET d = '{CANARY}'")
    with pytest.raises(DataError, match="'d' was declared as a date but contains something else"):
        read_sql(address, query="SELECT d FROM t")
    execute(address, "UPDATE t SET ts = '2024-02-29 01:02:03Z' WHERE n = 1")
    with pytest.raises(DataError, match="mixes times with and without a time zone"):
        read_sql(address, query="SELECT ts FROM t")


@pytest.mark.parametrize(("declared", "published"), [("", None), ("INTEGER", None), ("NUMERIC", "double")])
def test_one_fraction_does_not_decide_the_type_of_a_column(tmp_path, declared, published):
    # the record with the fraction may be suppressed: the type of the published column would reveal it
    address = f"sqlite:///{tmp_path / 'x.db'}"
    execute(address, f"CREATE TABLE t (pay {declared})", "INSERT INTO t VALUES (1), (2)")
    assert plain(read_sql(address, table="t"))[1] == [published or "int64"]
    execute(address, "INSERT INTO t VALUES (2.5)")
    if published:
        assert plain(read_sql(address, table="t"))[1] == [published]
        return
    with pytest.raises(DataError, match=r"'pay' mixes fractions and whole numbers.*CAST\(... AS REAL\)"):
        read_sql(address, table="t")
    assert plain(read_sql(address, query="SELECT CAST(pay AS REAL) AS pay FROM t"))[1] == ["double"]


def test_one_number_does_not_decide_whether_a_column_is_boolean(tmp_path):
    address = f"sqlite:///{tmp_path / 'x.db'}"
    execute(address, "CREATE TABLE t (b BOOLEAN)", "INSERT INTO t VALUES (1), (0), (2)")
    with pytest.raises(DataError, match="'b' was declared as a boolean but contains numbers other than 0 and 1"):
        read_sql(address, table="t")
    assert plain(read_sql(address, query="SELECT CAST(b AS INTEGER) AS b FROM t"))[1] == ["int64"]


def test_what_sqlite_cannot_hold(tmp_path):
    address = f"sqlite:///{tmp_path / 'x.db'}?table=t"
    with pytest.raises(OutputError, match=r"'a' has whole numbers of 2\^63"):
        write_sql(pa.table({"a": pa.array([2**63], pa.uint64())}), address)
    with pytest.raises(OutputError, match="'a' has times finer than a microsecond"):
        write_sql(pa.table({"a": pa.array([1], pa.timestamp("ns"))}), address)
    with pytest.raises(OutputError, match="'a' of type list or struct"):
        write_sql(pa.table({"a": [[1]]}), address)
    assert list(tmp_path.iterdir()) == []


def test_sqlite_that_is_locked_or_no_database(tmp_path):
    address = f"sqlite:///{tmp_path / 'x.db'}?table=t"
    write_sql(pa.table({"a": [1]}), address)
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(DataError, match="locked"):
            read_sql(address)
    finally:
        other.close()
    (tmp_path / "text.db").write_text("no database " * 100)
    with pytest.raises(DataError, match="not a database"):
        read_sql(f"sqlite:///{tmp_path / 'text.db'}?table=t")


def test_text_that_is_not_utf8_is_not_quoted(tmp_path):
    with closing(sqlite3.connect(tmp_path / "x.db")) as session:
        session.execute("CREATE TABLE t (a TEXT)")
        # the driver's message ends with the cell, whatever stands in it
        session.execute("INSERT INTO t VALUES (CAST(? AS TEXT))", (b"no such table \xff CANARY",))
        session.commit()
    with pytest.raises(DataError, match="a text is not UTF-8") as caught:
        read_sql(f"sqlite:///{tmp_path / 'x.db'}?table=t")
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "cell"),
    [
        ("DATE", "'2024-02-29'"),
        ("TIMESTAMP", "'2024-02-29 01:02:03'"),
        ("BOOLEAN", "1"),
        ("INTEGER", "7"),
        ("BLOB", "x'01'"),
        ("REAL", "7"),
        ("DECIMAL(5,2)", "7"),
        ("TEXT", "'x'"),
    ],
)
def test_the_only_value_of_a_column_does_not_decide_its_type(tmp_path, declared, cell):
    # its record may be suppressed, and the published column has no value
    address = f"sqlite:///{tmp_path / 'x.db'}"
    execute(address, f"CREATE TABLE t (a {declared})", "INSERT INTO t VALUES (NULL), (NULL)")
    before = plain(read_sql(address, table="t"))[1]
    execute(address, f"INSERT INTO t VALUES ({cell})")
    assert plain(read_sql(address, table="t"))[1] == before
