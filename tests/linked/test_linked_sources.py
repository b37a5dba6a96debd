"""Linked tables in databases: in and out, with the keys that the database knows."""

from __future__ import annotations

import sqlite3

import pyarrow as pa
import pytest

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io.sql import read_schema, schema_address, schema_keys, write_sql, writing_sql
from hushtable.io.sql_base import TableKeys
from hushtable.io.sql_place import SqlPlace
from hushtable.linked.draft import draft_policy, join_tables
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked
from hushtable.linked.sources import addresses, check_database, read_linked
from hushtable.linked.verify import verify_linked

DECLARED = """
CREATE TABLE wards (ward INTEGER PRIMARY KEY, name VARCHAR);
CREATE TABLE people (site VARCHAR, id INTEGER, age INTEGER, PRIMARY KEY (site, id));
CREATE TABLE stays (site VARCHAR, stay INTEGER, id INTEGER, ward INTEGER REFERENCES wards (ward), admitted DATE,
    PRIMARY KEY (site, stay), FOREIGN KEY (site, id) REFERENCES people (site, id));
CREATE TABLE diagnoses (site VARCHAR, stay INTEGER, id INTEGER, code VARCHAR,
    FOREIGN KEY (site, id) REFERENCES people (site, id), FOREIGN KEY (site, stay) REFERENCES stays (site, stay));
CREATE TABLE notes (line VARCHAR)
"""


def declared(address):
    """Make the tables of a small clinic, with composite keys, and fill them."""
    people = [("a", i, 30 + i % 2) for i in range(12)]
    stays = [("a", 100 + i, i % 12, 1, "2020-01-01") for i in range(24)]
    diagnoses = [("a", 100 + i, i % 12, "I10" if i % 3 else "J45") for i in range(24)]
    commands = [c for c in DECLARED.split(";") if c.strip()]
    rows = {"wards": [(1, "East")], "people": people, "stays": stays, "diagnoses": diagnoses, "notes": [("x",)]}
    if address.startswith("postgresql"):
        import psycopg

        mark, session = "%s", psycopg.connect(address)
    elif address.startswith("duckdb"):
        import duckdb

        mark, session = "?", duckdb.connect(str(SqlPlace.of(address).path))
    else:
        mark, session = "?", sqlite3.connect(SqlPlace.of(address).path)
    cursor = session.cursor()
    for command in commands:
        cursor.execute(command)
    for name, cells in rows.items():
        cursor.executemany(f"INSERT INTO {name} VALUES ({', '.join([mark] * len(cells[0]))})", cells)
    session.commit()
    session.close()


def test_foreign_keys_draft_a_policy_that_runs(address):
    declared(address)
    keys = schema_keys(address)
    assert keys["people"] == TableKeys(("site", "id"), {})
    assert keys["stays"].references == {("site", "id"): ("people", ("site", "id")), ("ward",): ("wards", ("ward",))}
    joined = join_tables(keys)
    assert {name: one.of for name, one in joined.items()} == {"people": None, "stays": "people", "diagnoses": "stays"}
    tables = read_schema(address, list(joined))
    text = draft_policy(joined, tables, "clinic", 2)
    policy = LinkedPolicy.from_yaml(text)
    assert policy.tables["stays"].key == ("site", "stay")
    assert policy.tables["stays"].columns["ward"].role == "drop"
    assert policy.tables["diagnoses"].columns["id"].role == "drop"
    assert "do not refer to people, and are not published: 2." in text
    release = anonymize_linked(tables, policy.changed(suppression=1.0))
    assert release.tables["stays"].num_rows
    assert release.verify().ok


def test_a_release_goes_into_a_database_and_is_verified_there(address, tmp_path):
    tables = hospital(120)
    write = [(SqlPlace.of(one), tables[name]) for name, one in addresses(address, tables).items()]
    with writing_sql(write):
        pass
    policy = LinkedPolicy(**{**hospital_policy(), "crowd": 60, "suppression": 1.0})
    read = read_linked([address], policy)
    assert {name: t.num_rows for name, t in read.items()} == {name: t.num_rows for name, t in tables.items()}
    release = anonymize_linked(read, policy)
    assert {n: t.to_pydict() for n, t in release.tables.items()} == {
        n: t.to_pydict() for n, t in anonymize_linked(tables, policy).tables.items()
    }
    with pytest.raises(OutputError, match="is an input"):
        check_database(address, policy, [address], overwrite=True)
    place = SqlPlace.of(address)
    target = f"{place.url.scheme}:///{tmp_path / 'open.db'}" if place.url.scheme != "postgresql" else ""
    if not target:
        import psycopg

        with psycopg.connect(address, autocommit=True) as session:
            session.execute("CREATE SCHEMA open")
        target = schema_address(address, "open")
    check_database(target, policy, [address], overwrite=False)
    release.save(tmp_path / "out", to=target)
    assert verify_linked(read_linked([target], policy), policy) == release.verification
    with pytest.raises(OutputError, match="exists"):
        release.save(tmp_path / "again", to=target)
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "again.private").exists()


def test_a_write_that_fails_leaves_no_table(address, tmp_path):
    """The third of five tables is there already: neither the others nor the folder appear."""
    policy = LinkedPolicy(**{**hospital_policy(), "crowd": 60, "suppression": 1.0})
    release = anonymize_linked(hospital(120), policy)
    write_sql(pa.table({"a": [1]}), address, table="diagnoses")
    with pytest.raises(OutputError, match="'diagnoses' exists"):
        release.save(tmp_path / "out", to=address)
    assert list(schema_keys(address)) == ["diagnoses"]
    assert not (tmp_path / "out").exists()


def test_an_empty_table_of_events_is_read(address):
    declared(address)
    place = SqlPlace.of(address)
    if place.url.scheme == "postgresql":
        import psycopg

        with psycopg.connect(address) as session:
            session.execute("DELETE FROM diagnoses")
    else:
        import duckdb

        connect = duckdb.connect if place.url.scheme == "duckdb" else sqlite3.connect
        session = connect(str(place.path))
        session.execute("DELETE FROM diagnoses")
        session.commit()
        session.close()
    found = read_schema(address, ["people", "diagnoses"])["diagnoses"]
    assert (found.num_rows, found.column_names) == (0, ["site", "stay", "id", "code"])
    joined = join_tables(schema_keys(address))
    assert "the table has no rows" in draft_policy(joined, read_schema(address, list(joined)), "clinic", 0)


def keys(**tables):
    return {name: TableKeys(("id",), {(f"{a}_id",): (a, ("id",)) for a in above}) for name, above in tables.items()}


def test_what_cannot_be_joined_is_said():
    with pytest.raises(DataError, match="No foreign key in the schema refers"):
        join_tables(keys(people=[], visits=[]))
    with pytest.raises(DataError, match="'one', 'two' could each be the table of people"):
        join_tables(keys(one=[], two=[], visits=["one", "two"]))
    assert join_tables(keys(one=[], two=[], visits=["one", "two"]), "two")["visits"].of == "two"
    with pytest.raises(UsageError, match=r"no table 'peple' in the schema\. Did you mean"):
        join_tables(keys(people=[], visits=["people"]), "peple")
    with pytest.raises(DataError, match="form a cycle"):
        join_tables(keys(people=[], visits=["people", "notes"], notes=["visits"]), "people")
    # a table may name an earlier row of its own
    assert join_tables(keys(people=[], visits=["people", "visits"]))["visits"].of == "people"


def test_one_table_is_not_a_schema():
    with pytest.raises(UsageError, match="names one table or a query"):
        schema_address("duckdb:///clinic.db?table=people", "main")
    with pytest.raises(UsageError, match="SQLite has no schemas"):
        schema_address("sqlite:///clinic.db", "other")
