"""Databases to test with, past hushtable."""

from __future__ import annotations

import sqlite3

import duckdb
import psycopg
import pyarrow as pa

from hushtable.io.sql_place import SqlPlace

# stands for any value of a person, and for any password: no message may repeat it
CANARY = "CANARYBIRD"


def execute(address, *statements):
    """Run statements on a database, past hushtable."""
    if address.startswith("postgresql"):
        with psycopg.connect(address, autocommit=True) as session:
            return [s.fetchall() if (s := session.execute(text)).description else None for text in statements][-1]
    path = SqlPlace.of(address).path
    if address.startswith("duckdb"):
        with duckdb.connect(str(path)) as session:
            return [session.execute(text).fetchall() for text in statements][-1]
    session = sqlite3.connect(path, isolation_level=None)
    try:
        return [session.execute(text).fetchall() for text in statements][-1]
    finally:
        session.close()


def plain(table):
    """Values and value types, dictionaries decoded."""
    types = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in table.schema]
    return table.to_pydict(), [str(kind) for kind in types]
