"""Reading from and writing to any of the databases, by address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from hushtable.errors import DataError, UsageError
from hushtable.io.batches import rebatch
from hushtable.io.layout import Rows
from hushtable.io.names import check_names
from hushtable.io.sql_base import Database, TableKeys, Written, exists_error
from hushtable.io.sql_place import SqlPlace
from hushtable.io.urls import Source, Url, is_url, source_of
from hushtable.params import typed

__all__ = [
    "check_sql_target",
    "count_sql",
    "database_at",
    "iter_sql",
    "read_schema",
    "read_sql",
    "schema_address",
    "schema_keys",
    "sql_names",
    "write_sql",
    "writing_sql",
]


def database_at(place: SqlPlace) -> Database:
    """Return the kind of database that a place is in."""
    if place.url.scheme == "duckdb":
        from hushtable.io.sql_duckdb import DuckDatabase

        return DuckDatabase()
    if place.url.scheme == "sqlite":
        from hushtable.io.sql_sqlite import LiteDatabase

        return LiteDatabase()
    from hushtable.io.sql_postgres import PostgresDatabase

    return PostgresDatabase()


def _place(address: Source, table: str | None, query: str | None) -> SqlPlace:
    if not is_url(address):
        raise UsageError(
            f"{str(address)!r} is not the address of a database.",
            code="address",
            hint="Write it like sqlite:///clinic.db, duckdb:///clinic.db or postgresql://user@host/clinic.",
        )
    return SqlPlace.of(str(source_of(str(address), table=table, query=query)))


@typed
def read_sql(
    address: str, *, table: str | None = None, query: str | None = None, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read a table, or the answer to a SELECT, from DuckDB, SQLite or PostgreSQL.

    Parameters
    ----------
    address : str
        ``duckdb:///file``, ``sqlite:///file`` or ``postgresql://user@host/database``; it may hold ``?table=NAME``,
        ``&schema=NAME`` or ``?query=SELECT ...``.
    table, query : str, optional
        Instead of those in the address.
    columns : sequence of str, optional
        Read only these, in this order.

    Returns
    -------
    pyarrow.Table
        Decimals, dates, times, Booleans and missing values in their types; text dictionary-encoded.

    Raises
    ------
    DataError
        If it cannot be read; without passwords and values.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     address = f"sqlite:///{folder}/clinic.db"
    ...     write_sql(pa.table({"age": [31, 45], "town": ["Oslo", None]}), address, table="people")
    ...     read_sql(address, query="SELECT town FROM people WHERE age > 40").to_pydict()
    {'town': [None]}
    """
    return pa.Table.from_batches(_read(_place(address, table, query), columns, 1 << 16)).unify_dictionaries()


def _read(place: SqlPlace, columns: Sequence[str] | None, rows: int) -> Iterator[pa.RecordBatch]:
    place.relation()  # report errors of the address before anything is opened
    return database_at(place).batches(place, columns, rows)


def iter_sql(address: str, columns: Sequence[str] | None = None, batch_rows: int = 65_536) -> Iterator[pa.RecordBatch]:
    """Read a table in batches; see ``read_sql``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     address = f"sqlite:///{folder}/clinic.db?table=people"
    ...     write_sql(pa.table({"age": [31, 45, 27]}), address)
    ...     [batch.num_rows for batch in iter_sql(address, batch_rows=2)]
    [2, 1]
    """
    batches = _read(_place(address, None, None), columns, batch_rows)
    return rebatch((pa.Table.from_batches([batch]) for batch in batches), batch_rows)


def schema_address(address: str, schema: str | None) -> str:
    """Return the address of a database with the schema of the tables.

    Examples
    --------
    >>> schema_address("duckdb:///clinic.db", "ward"), schema_address("sqlite:///clinic.db", "main")
    ('duckdb:///clinic.db?schema=ward', 'sqlite:///clinic.db')
    """
    place = _place(address, None, None)
    if place.table is not None or place.query is not None:
        raise UsageError(
            f"{str(place)!r} names one table or a query; linked tables are all tables of a schema.",
            code="address",
            hint="Leave out ?table= or ?query=; add --schema NAME for tables that are not in the default schema.",
        )
    # SQLite calls its only schema main
    if schema is None or (place.url.scheme == "sqlite" and schema.casefold() == "main"):
        return address
    found = Url.of(address).with_options(schema=schema).secret()
    SqlPlace.of(found)  # report errors of the address before anything is opened
    return found


def schema_keys(address: str) -> dict[str, TableKeys]:
    """Return the tables of a schema, with the primary and foreign keys that the database knows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sql(pa.table({"age": [31]}), f"sqlite:///{folder}/clinic.db", table="people")
    ...     schema_keys(f"sqlite:///{folder}/clinic.db")
    {'people': TableKeys(key=(), references={})}
    """
    place = SqlPlace.of(address)
    return database_at(place).keys(place)


def read_schema(address: str, tables: Sequence[str]) -> dict[str, pa.Table]:
    """Read several tables of a schema, all in one snapshot; a table may be empty.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sql(pa.table({"age": [31]}), f"sqlite:///{folder}/clinic.db", table="people")
    ...     read_schema(f"sqlite:///{folder}/clinic.db", ["people"])["people"].to_pydict()
    {'age': [31]}
    """
    whole = SqlPlace.of(address)
    database = database_at(whole)
    found = {}
    with database.reading(whole) as session:
        for name in tables:
            place = replace(whole, table=name)
            try:
                found[name] = pa.Table.from_batches(database.rows(session, place, None, 1 << 16)).unify_dictionaries()
            except DataError as error:
                if error.code != "no-rows":
                    raise
                found[name] = pa.table({column: pa.array([], pa.string()) for column in database.names(place)})
    return found


def sql_names(address: str) -> list[str]:
    """Return the column names of a table in a database.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sql(pa.table({"age": [31]}), f"sqlite:///{folder}/clinic.db", table="people")
    ...     sql_names(f"sqlite:///{folder}/clinic.db?table=people")
    ['age']
    """
    place = _place(address, None, None)
    place.relation()
    return check_names(database_at(place).names(place), f"{str(place)!r}")


def count_sql(address: str, most: int) -> int:
    """Return the number of rows of a table, or ``most`` if it has more: counting ends there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sql(pa.table({"age": [31, 45, 27]}), f"sqlite:///{folder}/clinic.db", table="people")
    ...     [count_sql(f"sqlite:///{folder}/clinic.db?table=people", most) for most in (2, 9)]
    [2, 3]
    """
    place = _place(address, None, None)
    place.relation()
    return database_at(place).count(place, most)


@typed
def write_sql(data: pa.Table, address: str, *, table: str | None = None, overwrite: bool = False) -> None:
    """Write a table into a database, in one transaction.

    Parameters
    ----------
    data : pyarrow.Table
    address : str
        With ``?table=NAME``, unless ``table`` is given.
    table : str, optional
    overwrite : bool
        Whether a table of that name may be replaced; others see the old one until the new one is complete.

    Raises
    ------
    OutputError
        If it exists or cannot be written; then nothing was changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sql(pa.table({"a": [1]}), f"sqlite:///{folder}/x.db", table="people")
    ...     write_sql(pa.table({"a": [2]}), f"sqlite:///{folder}/x.db", table="people")
    Traceback (most recent call last):
    hushtable.errors.OutputError: The table 'people' exists in 'sqlite:///...'. Choose another name, or allow ...
    """
    with writing_sql([(_place(address, table, None), data)], overwrite=overwrite):
        pass


@contextmanager
def writing_sql(tables: Sequence[tuple[SqlPlace, pa.Table | Rows]], *, overwrite: bool = False) -> Iterator[None]:
    """Fill tables of one database; they appear together when the block ends without an error.

    Tables larger than memory come as ``Rows``, piece by piece.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = SqlPlace.of(f"sqlite:///{folder}/x.db?table=people")
    ...     with writing_sql([(place, pa.table({"a": [1]}))]):
    ...         pass
    ...     sql_names(str(place))
    ['a']
    """
    for place, table in tables:
        check_names(table.schema.names, "The table")
        place.named()
    rows: Written = [(place, Rows.of(data) if isinstance(data, pa.Table) else data) for place, data in tables]
    with database_at(tables[0][0]).writing(rows, overwrite=overwrite):
        yield


def check_sql_target(place: SqlPlace, *, overwrite: bool) -> None:
    """Refuse a table that exists, or a database that cannot be reached or written, before any work."""
    database = database_at(place)
    database.check_writable(place.named())
    if database.exists(place) and not overwrite:
        raise exists_error(place)
