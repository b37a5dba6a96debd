"""PostgreSQL: its types, its schemas, its refusals."""

from __future__ import annotations

import decimal
import secrets
import threading

import psycopg
import pyarrow as pa
import pytest
from support_sql import CANARY, execute, plain

from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io.sql import check_sql_target, read_sql, write_sql, writing_sql
from hushtable.io.sql_place import SqlPlace

D = decimal.Decimal


def test_postgres_types(postgres):
    execute(
        postgres,
        "DROP TABLE IF EXISTS odd",
        "DROP TYPE IF EXISTS mood",
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE TABLE odd (s smallint, i integer, r real, n numeric(22, 3), v varchar(9), c char(3), m mood, u uuid, "
        "t time, l integer[], d date)",
        "INSERT INTO odd VALUES (1, 2, 0.5, 1234567890123456789.125, 'x', 'ab', 'happy', "
        "'00000000-0000-0000-0000-000000000001', '01:02:03', '{1,2}', '2024-02-29')",
        "INSERT INTO odd (n) VALUES (0.1)",
    )
    found = read_sql(postgres, query="SELECT s, i, r, n, v, c, m, u, t, d FROM odd")
    types = ["int16", "int32", "float", "decimal128(22, 3)", *["string"] * 4, "time64[us]", "date32[day]"]
    assert plain(found)[1] == types
    assert found["n"].to_pylist() == [D("1234567890123456789.125"), D("0.100")]
    assert found["m"].to_pylist() == ["happy", None]
    with pytest.raises(DataError, match="'l' has PostgreSQL's type _int4"):
        read_sql(postgres, table="odd")
    for change, column, words in (
        ("n = 'NaN'", "n", "'n' holds values that a decimal number cannot be"),
        ("d = 'infinity'", "d", "infinite, before year 1"),
    ):
        execute(postgres, f"UPDATE odd SET {change}")
        with pytest.raises(DataError, match=words):
            read_sql(postgres, query=f"SELECT {column} FROM odd")
    assert read_sql(postgres, query="SELECT CAST(d AS text) AS d FROM odd")["d"].to_pylist() == ["infinity"] * 2


def test_one_long_fraction_does_not_decide_the_type_of_a_column(postgres):
    # the record with it may be suppressed: the published column's type would have as many digits
    execute(postgres, "DROP TABLE IF EXISTS pay", "CREATE TABLE pay (n numeric)", "INSERT INTO pay VALUES (1), (2.5)")
    assert plain(read_sql(postgres, table="pay")) == ({"n": [1.0, 2.5]}, ["double"])
    execute(postgres, "INSERT INTO pay VALUES (0.12345), (NULL)")
    assert plain(read_sql(postgres, table="pay")) == ({"n": [1.0, 2.5, 0.12345, None]}, ["double"])
    execute(postgres, "INSERT INTO pay VALUES (1234567890123456789.5)")
    with pytest.raises(DataError, match="'n' has decimal numbers of more than 15 digits, without a declared precision"):
        read_sql(postgres, table="pay")
    exact = read_sql(postgres, query="SELECT CAST(n AS numeric(24, 5)) AS n FROM pay")
    assert exact["n"].to_pylist()[-1] == D("1234567890123456789.5")


def test_postgres_schemas_and_what_it_cannot_hold(postgres):
    execute(postgres, 'DROP SCHEMA IF EXISTS "my open" CASCADE', 'CREATE SCHEMA "my open"')
    place = f"{postgres}?schema=my open&table=people"
    write_sql(pa.table({"a": [1]}), place)
    assert read_sql(place).to_pydict() == {"a": [1]}
    with pytest.raises(OutputError, match="exists"):
        write_sql(pa.table({"a": [1]}), place)
    with pytest.raises(DataError, match="no such table"):
        read_sql(f"{postgres}?schema=public&table=people")
    with pytest.raises(OutputError, match="no such schema"):
        write_sql(pa.table({"a": [1]}), f"{postgres}?schema=nowhere&table=people")
    with pytest.raises(OutputError, match="'a' has text with a zero character"):
        write_sql(pa.table({"a": ["x\0" + CANARY]}), f"{postgres}?table=zero")
    write_sql(pa.table({"a": pa.array([2**64 - 1], pa.uint64())}), f"{postgres}?table=large", overwrite=True)
    assert read_sql(postgres, table="large")["a"].to_pylist() == [D(2**64 - 1)]


def test_connection_errors_show_no_password(postgres):
    base, _, rest = postgres.partition("ann:sesame@")
    for wrong, words in (
        (f"{base}ann:{CANARY}@{rest}", "the user or the password is refused"),
        (f"{base}ann@{rest}?password={CANARY}", "the user or the password is refused"),
        (f"{base}ann:sesame@{rest.rpartition('/')[0]}/nobase", "no such database"),
        (f"{base}ann:{CANARY}@127.0.0.1:1/x", "no server is listening there"),
        (f"{base}ann:{CANARY}@nowhere.invalid/x", "no such host"),
    ):
        with pytest.raises(DataError, match=words) as caught:
            read_sql(wrong, table="t")
        shown = str(caught.value) + repr(caught.value) + str(caught.value.as_dict())
        assert CANARY not in shown
        assert "sesame" not in shown
        assert caught.value.__cause__ is None


def test_readers_see_the_old_table_until_the_new_one_is_complete(postgres):
    write_sql(pa.table({"a": [1]}), postgres, table="swap", overwrite=True)
    place = SqlPlace.of(f"{postgres}?table=swap")
    seen = []
    with writing_sql([(place, pa.table({"a": [2]}))], overwrite=True):
        reader = threading.Thread(target=lambda: seen.append(read_sql(postgres, table="swap")["a"].to_pylist()))
        reader.start()
        reader.join(20)
    assert seen == [[1]]
    assert read_sql(postgres, table="swap")["a"].to_pylist() == [2]


def test_a_missing_driver_is_named(monkeypatch):
    import importlib

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"needs the package psycopg.*hushtable\[sql\]"):
        read_sql("postgresql://ann@127.0.0.1:1/x", table="t")


def test_what_the_user_may_not_do_is_told_before_the_work(postgres):
    name = f"r{secrets.token_hex(6)}"
    write_sql(pa.table({"a": [1]}), postgres, table=f"{name}t")
    with psycopg.connect(postgres, autocommit=True) as session:
        session.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'sesame'")
        session.execute(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
    reader = postgres.replace("ann:", f"{name}:", 1)
    with pytest.raises(OutputError, match="may not create tables there"):
        check_sql_target(SqlPlace.of(f"{reader}?schema=public&table=open"), overwrite=False)
    with pytest.raises(DataError, match="no such schema"):
        check_sql_target(SqlPlace.of(f"{reader}?schema=nowhere&table=open"), overwrite=False)
    check_sql_target(SqlPlace.of(f"{reader}?schema={name}&table=open"), overwrite=False)
    with psycopg.connect(postgres, autocommit=True) as session:
        session.execute(f"GRANT CREATE ON SCHEMA public TO {name}")
    with pytest.raises(OutputError, match="belongs to another user"):
        check_sql_target(SqlPlace.of(f"{reader}?schema=public&table={name}t"), overwrite=True)
    with pytest.raises(OutputError, match="exists"):
        check_sql_target(SqlPlace.of(f"{postgres}?schema=public&table={name}t"), overwrite=False)
