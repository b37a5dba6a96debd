"""SQLite: values have their own types, so a first pass over the rows decides the type of each column."""

from __future__ import annotations

import decimal
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, OutputError
from hushtable.io.dictionaries import decode, value_type
from hushtable.io.layout import Rows
from hushtable.io.names import check_names
from hushtable.io.sql_base import (
    FOREIGN,
    PRIMARY,
    FileDatabase,
    TableKeys,
    Written,
    batches_of,
    check_file,
    declared_type,
    failed_write,
    keys_of,
    moments,
    new_file,
    select_text,
)
from hushtable.io.sql_place import SqlPlace, quoted
from hushtable.io.text import is_text, type_words


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
        found = session.execute("SELECT count(*) FROM sqlite_master WHERE lower(name) = lower(?)", (place.table,))
        return bool(found.fetchone()[0])

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
                        self._create(session, place, rows, overwrite)
                    yield
                    session.execute("COMMIT")
            except sqlite3.Error as error:
                raise failed_write(tables[0][0], self.reason(error)) from None

    def _create(self, session: sqlite3.Connection, place: SqlPlace, rows: Rows, overwrite: bool) -> None:
        if self.replaces(session, place, overwrite=overwrite):
            session.execute(f"DROP TABLE {place.relation()}")
        columns = ", ".join(f"{quoted(f.name)} {lite_type(f)}" for f in rows.schema)
        session.execute(f"CREATE TABLE {place.relation()} ({columns})")
        marks = ", ".join("?" * len(rows.schema))
        for batch in batches_of(rows):
            session.executemany(f"INSERT INTO {place.relation()} VALUES ({marks})", lite_rows(batch))

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


# SQLite's types: the declared and the stored types of a column as one Arrow type, and back.


_DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC|DECIMAL_TEXT)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_FRACTIONS = re.compile("REAL|FLOA|DOUB|NUMERIC|NUMBER|DECIMAL")
"""Declarations of columns with fractions; SQLite itself stores 2.0 as 2 in some of them."""

_EXACT_DIGITS = 15
"""Digits that survive as doubles, into which SQLite may convert decimals."""

_UTC = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class LiteColumn:
    """A column and the Arrow type that all its values fit."""

    name: str
    type: pa.DataType


def look(session: sqlite3.Connection, select: str, columns: Sequence[tuple[str, str]]) -> list[LiteColumn]:
    """Return the columns of a SELECT with their types; none if it has no rows.

    Parameters
    ----------
    session : connection
    select : str
    columns : sequence of (name, declared type)
    """
    asked = ["count(*)"]
    for name, _ in columns:
        q = quoted(name)
        zoned = f"{q} GLOB '*[Zz]' OR {q} GLOB '*[+-][0-9][0-9]:[0-9][0-9]'"
        asked += [
            f"group_concat(DISTINCT typeof({q}))",
            f"count(CASE WHEN typeof({q}) = 'integer' AND {q} NOT IN (0, 1) THEN 1 END)",
            f"count(CASE WHEN typeof({q}) = 'text' AND ({zoned}) THEN 1 END)",
            f"count({q})",
        ]
    count, *facts = session.execute(f"SELECT {', '.join(asked)} FROM (\n{select}\n)").fetchone()
    if not count:
        return []
    found = []
    for at, (name, declared) in enumerate(columns):
        stored, not_bits, zoned_texts, known = facts[4 * at : 4 * at + 4]
        kinds = set((stored or "null").split(",")) - {"null"}
        found.append(LiteColumn(name, _type(name, declared.upper(), kinds, not_bits, zoned_texts, known)))
    return found


def _type(name: str, declared: str, kinds: set[str], not_bits: int, zoned: int, known: int) -> pa.DataType:
    fixed = _DECIMAL.search(declared)
    if fixed and "blob" not in kinds and int(fixed[1]) <= 38 and int(fixed[2] or 0) <= int(fixed[1]):
        return pa.decimal128(max(int(fixed[1]), 1), int(fixed[2] or 0))
    if kinds <= {"integer", "real"} and _FRACTIONS.search(declared):
        return pa.float64()
    if len(kinds) > 1:
        words = {"integer": "whole numbers", "real": "fractions", "text": "text", "blob": "bytes"}
        kind = "REAL" if kinds == {"integer", "real"} else "TEXT"
        raise DataError(
            f"Column {name!r} mixes {' and '.join(sorted(words[kind] for kind in kinds))}.",
            code="mixed-types",
            hint=f"Convert it in a query, for example with CAST(... AS {kind}).",
        )
    if "BOOL" in declared and kinds <= {"integer"}:
        if not_bits:
            raise DataError(
                f"Column {name!r} was declared as a boolean but contains numbers other than 0 and 1.",
                code="declared-type",
                hint="Convert it in a query, for example with CAST(... AS INTEGER).",
            )
        return pa.bool_()
    # a column without any value has its declared type too: its only value may be that of a suppressed record
    if kinds <= {"text"} and re.search("DATETIME|TIMESTAMP", declared):
        if zoned not in (0, known):
            raise DataError(
                f"Column {name!r} mixes times with and without a time zone.",
                code="mixed-types",
                hint="Convert it in a query, for example with datetime(...).",
            )
        return _UTC if zoned else pa.timestamp("us")
    if kinds <= {"text"} and declared.strip() == "DATE":
        return pa.date32()
    if not kinds:
        return pa.int64() if "INT" in declared else pa.binary() if "BLOB" in declared else pa.string()
    return {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}[kinds.pop()]


def read_column(column: LiteColumn, values: list[Any]) -> pa.Array:
    """Return stored values as an Arrow array.

    Examples
    --------
    >>> read_column(LiteColumn("day", pa.date32()), ["2024-02-29", None]).to_pylist()
    [datetime.date(2024, 2, 29), None]
    """
    kind = column.type
    try:
        if pa.types.is_decimal(kind):
            exact = decimal.Context(prec=76, traps=[decimal.Inexact, decimal.InvalidOperation])
            unit = decimal.Decimal(1).scaleb(-kind.scale)
            cells = [None if v is None else _decimal(v).quantize(unit, context=exact) for v in values]
            return pa.array(cells, kind)
        if pa.types.is_temporal(kind):
            texts = pa.array([None if v is None else v.strip() for v in values], pa.string())
            return pc.cast(texts, kind)
        return pa.array([None if v is None else bool(v) for v in values] if pa.types.is_boolean(kind) else values, kind)
    except (pa.ArrowException, ArithmeticError, ValueError, OverflowError):
        pass
    raise DataError(
        f"Column {column.name!r} was declared as a {type_words(kind)} but contains something else.",
        code="declared-type",
        hint="Convert it in a query, for example with CAST(... AS TEXT) or CAST(... AS REAL).",
    )


def _decimal(value: Any) -> decimal.Decimal:
    # the shortest text of a double is what was written into the column
    return decimal.Decimal(repr(value) if isinstance(value, float) else value)


_WRITTEN_AS: tuple[tuple[Callable[[pa.DataType], Any], str], ...] = (
    (is_text, "TEXT"), (pa.types.is_boolean, "BOOLEAN"), (pa.types.is_integer, "INTEGER"),
    (pa.types.is_floating, "REAL"), (pa.types.is_date, "DATE"), (pa.types.is_timestamp, "TIMESTAMP"),
    (pa.types.is_null, "TEXT"), (pa.types.is_binary, "BLOB"), (pa.types.is_large_binary, "BLOB"),
)  # fmt: skip


def lite_type(field: pa.Field) -> str:
    """Return the type to declare a column with, such that reading it gives the same Arrow values.

    Examples
    --------
    >>> lite_type(pa.field("a", pa.decimal128(10, 2))), lite_type(pa.field("a", pa.decimal128(30, 2)))
    ('DECIMAL(10, 2)', 'DECIMAL_TEXT(30, 2)')
    """
    kind = value_type(field.type)
    if pa.types.is_decimal(kind):
        # a declaration with TEXT keeps SQLite from converting them to doubles
        name = "DECIMAL" if kind.precision <= _EXACT_DIGITS else "DECIMAL_TEXT"
        return f"{name}({kind.precision}, {kind.scale})"
    return declared_type(field, _WRITTEN_AS, "SQLite")


def lite_rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Return rows in the form that SQLite accepts.

    Examples
    --------
    >>> import datetime as dt
    >>> list(lite_rows(pa.record_batch({"a": [True], "b": [dt.date(2024, 2, 29)]})))
    [(1, '2024-02-29')]
    """
    columns = [_cells(name, decode(c)) for name, c in zip(batch.schema.names, batch.columns, strict=True)]
    return zip(*columns, strict=True)


def _cells(name: str, column: pa.Array) -> list[Any]:
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_date(kind):
        column = column.cast(pa.date32()).cast(pa.string())
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.string())
    elif pa.types.is_timestamp(kind):
        return [None if v is None else v.isoformat(" ") for v in moments(name, column)]
    elif pa.types.is_uint64(kind) and (pc.max(column).as_py() or 0) >= 2**63:
        raise OutputError(
            f"Column {name!r} has whole numbers of 2^63 and more, which SQLite cannot hold.", code="unsupported-type"
        )
    cells: list[Any] = column.to_pylist()
    return cells
