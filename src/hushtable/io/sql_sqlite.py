"""SQLite: values have their own types, so a first pass over the rows decides the type of each column."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from hushtable.io.layout import Rows
from hushtable.io.names import check_names
from hushtable.io.sql_base import (
    FOREIGN,
    PRIMARY,
    TableKeys,
    Written,
    exists_error,
    keys_of,
    select_text,
)
from hushtable.io.sql_file import FileDatabase, check_file, failed_write, new_file
from hushtable.io.sql_place import SqlPlace
from hushtable.io.sql_sqlite_types import lite_rows, lite_type, look, read_column
from hushtable.io.sql_text import quoted

_WRITTEN = 10_000
"""Number of rows to convert to Python values at a time."""


class LiteDatabase(FileDatabase):
    """A SQLite file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = SqlPlace.of(f"sqlite:///{Path(folder, 'clinic.db')}?table=people")
    ...     with LiteDatabase().writing([(place, Rows.of(pa.table({"a": [True, None]})))], overwrite=False):
    ...         pass
    ...     [batch.to_pydict() for batch in LiteDatabase().batches(place, None, 10)]
    [{'a': [True, None]}]
    """

    remedy = "Check the table and the query."

    def errors(self) -> tuple[type[Exception], ...]:
        """Those of Python's own driver."""
        return (sqlite3.Error, sqlite3.Warning)

    def reason(self, error: Exception) -> str:
        """Return SQLite's message if it names what was requested, but not if it could quote a row."""
        text = str(error)
        if text.startswith("Could not decode"):  # what follows is the cell
            return "a text is not UTF-8"
        known = ("no such table", "no such column", "no such function", "database is locked", "file is not a database",
                 "attempt to write a readonly database", "use DROP VIEW", "disk is full", "disk I/O error")  # fmt: skip
        said = next((words for words in known if words in text), "")
        if said == "use DROP VIEW":
            return "it is a view, which is not replaced"
        if said:
            return text if text.startswith("no such") else said
        if "syntax error" in text:
            return "the syntax is not SQLite's"
        return "the database reports an error"

    def answer(
        self, session: Any, place: SqlPlace, columns: Sequence[str] | None, rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Find the types that occur, then read, both in one transaction."""
        with self.worded(place):
            types = dict(_declared(session, place))
            text = select_text(place, list(types), columns)
            found = look(session, text, [(name, types[name]) for name in (types if columns is None else columns)])
            if not found:
                return
            cursor = session.execute(text)
        for some in self.fetched(place, cursor, rows):
            cells = zip(*some, strict=True)
            arrays = [read_column(column, list(values)) for column, values in zip(found, cells, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=[column.name for column in found])

    def keys(self, place: SqlPlace) -> dict[str, TableKeys]:
        """Read the declarations of the tables."""
        found: list[tuple[str, str, Sequence[str], str | None, Sequence[str]]] = []
        with self.reading(place) as session, self.worded(place):
            listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            tables = [str(name) for (name,) in session.execute(listed)]
            for table in tables:
                own = session.execute("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,)).fetchall()
                found.append((table, PRIMARY, [name for (name,) in own], None, ()))
                parts = session.execute(
                    'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', (table,)
                ).fetchall()
                for number in dict.fromkeys(row[0] for row in parts):
                    rows = [row for row in parts if row[0] == number]
                    to = [row[3] for row in rows if row[3] is not None]
                    found.append((table, FOREIGN, [row[2] for row in rows], rows[0][1], to))
        return keys_of(tables, found)

    def names_in(self, session: Any, place: SqlPlace) -> list[str]:
        """Request only the columns."""
        return check_names([name for name, _ in _declared(session, place)], f"{str(place)!r}")

    def exists_in(self, session: Any, place: SqlPlace) -> bool:
        """Query the catalog."""
        return _exists(session, place)

    @contextmanager
    def writing(self, tables: Written, *, overwrite: bool) -> Iterator[None]:
        """Drop, create and fill inside one transaction: others see the old table, or the whole new one."""
        with new_file(tables[0][0].path) as path:
            try:
                with closing(sqlite3.connect(path, isolation_level=None)) as session:
                    # the rows of a replaced table would stay in the file
                    session.execute("PRAGMA secure_delete = ON")
                    session.execute("BEGIN IMMEDIATE")
                    for place, rows in tables:
                        _create(session, place, rows, overwrite)
                    yield
                    session.execute("COMMIT")
            except sqlite3.Error as error:
                raise failed_write(tables[0][0], self.reason(error)) from None

    @contextmanager
    def reading(self, place: SqlPlace) -> Iterator[sqlite3.Connection]:
        """Begin a read-only transaction."""
        check_file(place)
        address = f"file:{quote(str(place.path.resolve()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as session:
            with self.worded(place):
                session.execute("PRAGMA query_only = ON")
                session.execute("BEGIN")
            yield session


def _declared(session: sqlite3.Connection, place: SqlPlace) -> list[tuple[str, str]]:
    """The columns and their declared types, which for a query only a view shows."""
    # the view alone would not report what is wrong with a query
    session.execute(f"SELECT * FROM {place.relation()} LIMIT 0")
    if place.query is not None:
        # a subquery would quietly rename a column that occurs twice
        check_names([column[0] for column in session.execute(place.query).description], "The query's answer")
    session.execute("PRAGMA query_only = OFF")
    session.execute(f"CREATE TEMP VIEW hushtable_asked AS SELECT * FROM {place.relation()}")
    found = session.execute("PRAGMA table_info(hushtable_asked)").fetchall()
    session.execute("DROP VIEW temp.hushtable_asked")
    session.execute("PRAGMA query_only = ON")
    return [(str(row[1]), str(row[2] or "")) for row in found]


def _create(session: sqlite3.Connection, place: SqlPlace, rows: Rows, overwrite: bool) -> None:
    if _exists(session, place):
        if not overwrite:
            raise exists_error(place)
        session.execute(f"DROP TABLE {place.relation()}")
    columns = ", ".join(f"{quoted(f.name)} {lite_type(f)}" for f in rows.schema)
    session.execute(f"CREATE TABLE {place.relation()} ({columns})")
    marks = ", ".join("?" * len(rows.schema))
    for batch in (batch for piece in rows.pieces for batch in piece.to_batches(_WRITTEN)):
        session.executemany(f"INSERT INTO {place.relation()} VALUES ({marks})", lite_rows(batch))


def _exists(session: sqlite3.Connection, place: SqlPlace) -> bool:
    found = session.execute("SELECT count(*) FROM sqlite_master WHERE lower(name) = lower(?)", (place.table,))
    return bool(found.fetchone()[0])
