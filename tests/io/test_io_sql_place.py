"""Addresses and queries: what they say, what is refused, and what is never shown."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_sql import CANARY

import hushtable as ht
from hushtable.errors import PolicyError, UsageError
from hushtable.io.sql_place import SqlPlace, one_select, quoted
from hushtable.io.urls import Url, is_url, redacted, source_of


@given(query=st.text(alphabet="ab ();'\"-/*$\\\n", max_size=24))
@settings(max_examples=300)
def test_whatever_is_taken_for_a_select_is_one_statement_to_sqlite(query):
    try:
        text = one_select(f"SELECT 1 AS a {query}")
    except UsageError:
        return
    session = sqlite3.connect(":memory:")
    said = ""
    try:
        session.execute(f"SELECT * FROM (\n{text}\n)")
    except (sqlite3.Error, sqlite3.Warning) as error:
        # much may be wrong with such a text, but that it is two
        said = str(error)
    finally:
        session.close()
    assert "one statement" not in said


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12))
def test_any_name_is_a_name_once_quoted(name):
    session = sqlite3.connect(":memory:")
    try:
        session.execute(f"CREATE TABLE {quoted(name)} ({quoted(name)} TEXT)")
        ((found,),) = session.execute("SELECT name FROM sqlite_master").fetchall()
    finally:
        session.close()
    assert found == name


@given(
    table=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12),
    password=st.text("abc@:/?#%&= ", min_size=1, max_size=8),
)
def test_addresses_survive_writing_and_reading_and_show_no_password(table, password):
    secret = f"{CANARY}{password}"
    url = Url.of(f"postgresql://ann:{quote(secret, safe='')}@host:5/db").with_options(table=table, password=secret)
    again = Url.of(url.secret())
    assert again == url
    assert again.options == {"table": table, "password": secret}
    place = SqlPlace.of(url.secret())
    assert place.table == table
    for text in (str(url), repr(url), str(place), repr(place), redacted(url.secret())):
        assert CANARY not in text
    assert url.has_password
    assert not Url.of(str(url)).has_password


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sqlite:///x.db?table", "not name=value"),
        ("sqlite:///x.db?table=a&table=b", "gives 'table' twice"),
        ("sqlite:///x.db?table=a&query=SELECT 1", "both a table or schema and a query"),
        ("sqlite:///x.db?tabel=a", "no option 'tabel'"),
        ("sqlite:///x.db?schema=a&table=b", "no schemas"),
        ("sqlite:///?table=a", "names no file"),
        ("duckdb://?table=a", "names no file"),
        ("duckdb:///x.db?table=", "empty or broken table name"),
        ("mysql://ann@host/db?table=a", "not a database that hushtable supports"),
        ("sqlite:///x.db?query=SELECT '", "does not end"),
        ("sqlite:///x.db?query=SELECT (1", "parentheses"),
        ("sqlite:///x.db?query=SELECT 1)", "parentheses"),
        ("sqlite:///x.db?query=/* SELECT */ VACUUM", "not a SELECT"),
        ("sqlite:///x.db?query=SELECT 1%00", "zero byte"),
    ],
)
def test_addresses_that_are_refused(address, words):
    with pytest.raises(UsageError, match=words):
        SqlPlace.of(address)


QUERIES = [
    "SELECT 1",
    "select ';'",
    "(SELECT 1) UNION (SELECT 2)",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "SELECT $$ ; ' $$",
    "SELECT $x$ ; $$ $x$",
    r"SELECT E'\'; '",
    "/* ; */ VALUES (1)",
    'SELECT ";"',
]


@pytest.mark.parametrize("text", QUERIES)
def test_what_follows_a_query_is_left_out(text):
    assert one_select(text) == text
    assert one_select(f"{text} ;\n -- the end; /* or not") == text
    with pytest.raises(UsageError, match="more than one"):
        one_select(f"{text}; {text}")


def test_a_backslash_ends_no_string_but_an_escaped_one():
    with pytest.raises(UsageError, match="more than one"):
        one_select(r"SELECT dateE'\'; DROP TABLE people; --'")


def test_paths_and_addresses():
    assert SqlPlace.of("sqlite:///a/b.db?table=t").path == Path("a/b.db")
    assert SqlPlace.of("sqlite:////a/b c.db?table=t").path == Path("/a/b c.db")
    assert SqlPlace.of("duckdb:///a%20b.db?table=t").path == Path("a b.db")
    assert Url.of("file:///a/b.csv").path == Path("/a/b.csv")
    assert Url.of("postgres://ann@h/db").scheme == "postgresql"
    assert not is_url("C:/data.csv")
    assert not is_url("a:b")
    assert source_of("a.csv", Path("/base")) == Path("/base/a.csv")
    assert source_of("sqlite:///a.db?table=x", table="y") == "sqlite:///a.db?table=y"
    assert source_of("sqlite:///a.db?table=x", query="SELECT 1") == "sqlite:///a.db?query=SELECT 1"
    for wrong in ("a.csv", "memory://a.parquet"):
        with pytest.raises(UsageError, match="is not a database"):
            source_of(wrong, table="t")


def test_the_same_table_is_known_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = SqlPlace.of("sqlite:///x.db?table=t")
    assert one.may_be_read_by(SqlPlace.of(f"sqlite:///{tmp_path}/x.db?table=t"))
    assert not one.may_be_read_by(SqlPlace.of("sqlite:///x.db?table=u"))
    assert not one.may_be_read_by(SqlPlace.of("duckdb:///x.db?table=t"))
    server = SqlPlace.of("postgresql://ann:a@h/db?table=t")
    assert server.may_be_read_by(SqlPlace.of("postgresql://ann:b@h/db?table=t"))
    assert not server.may_be_read_by(SqlPlace.of("postgresql://ann@h/db?schema=s&table=t"))
    assert server.may_be_read_by(SqlPlace.of("postgresql://ann@h/db?schema=public&table=t"))
    assert not server.may_be_read_by(SqlPlace.of("postgresql://ann@h/db?table=T"))
    people = SqlPlace.of("sqlite:///x.db?table=people")
    # whoever replaces People there replaces people
    assert people.may_be_read_by(SqlPlace.of("sqlite:///x.db?table=People"))
    duck = SqlPlace.of("duckdb:///x.db?table=people")
    assert duck.may_be_read_by(SqlPlace.of("duckdb:///x.db?schema=Main&table=PEOPLE"))
    assert not duck.may_be_read_by(SqlPlace.of("duckdb:///x.db?schema=other&table=people"))
    assert people.may_be_read_by(SqlPlace.of("sqlite:///x.db?query=SELECT * FROM People"))
    assert not people.may_be_read_by(SqlPlace.of("sqlite:///x.db?query=SELECT * FROM others"))
    assert not people.may_be_read_by(SqlPlace.of("sqlite:///y.db?query=SELECT * FROM people"))


def test_signatures_of_stores_are_shown_nowhere():
    signed = "https://store.example/people.parquet?X-Amz-Signature=CANARY&X-Amz-Security-Token=CANARY"
    url = Url.of(signed)
    assert url.has_password and not Url.of("s3://bucket/people.parquet").has_password
    assert redacted(signed) == str(url) == "https://store.example/people.parquet"
    assert url.secret() == signed
    with pytest.raises(PolicyError, match="contains a password") as caught:
        ht.anonymize(pa.table({"a": [1, 1]}), ht.Policy(quasi=["a"], models=[ht.KMap(k=2)], population=signed))
    assert "CANARY" not in str(caught.value)
