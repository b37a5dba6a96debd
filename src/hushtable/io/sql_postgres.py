"""PostgreSQL: read with a server-side cursor in a read-only transaction, written with COPY; its types in Arrow."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, OutputError
from hushtable.io.dictionaries import decode, value_type
from hushtable.io.layout import Rows
from hushtable.io.names import check_names
from hushtable.io.sql_base import (
    FOREIGN,
    PRIMARY,
    Database,
    TableKeys,
    Written,
    batches_of,
    declared_type,
    failed_write,
    keys_of,
    moments,
    select_text,
)
from hushtable.io.sql_place import SqlPlace, quoted
from hushtable.io.text import is_text, type_words
from hushtable.io.urls import package_for

_NUMBERS = 1016
"""The server's number of its type bigint[]."""

_PATIENCE = "10"
"""Seconds to wait for a server, unless the address says otherwise."""


class PostgresDatabase(Database):
    """A PostgreSQL server. The address supports the options of libpq: ``host``, ``port``, ``sslmode`` and so on."""

    remedy = "Check the table and the query; values that cannot be converted can be read with a CAST to text."

    def errors(self) -> tuple[type[Exception], ...]:
        """Those of the driver."""
        return (package_for("PostgreSQL", "psycopg", "sql").Error,)

    def reason(self, error: Exception) -> str:
        """Return the server's reason by its code: its own message can quote a row."""
        state = getattr(error, "sqlstate", None) or ""
        if not state and type(error).__name__ == "DataError":
            return "a date or time is infinite, before year 1 or after 9999"
        classes = {
            "08": "the connection broke",
            "22": "a value does not fit its type",
            "57": "the server is shutting down",
        }
        if not state and type(error).__name__ == "OperationalError":
            return classes["08"]
        return _STATES.get(state) or classes.get(state[:2]) or f"the server reports error {state or 'without a code'}"

    def reading(self, place: SqlPlace) -> AbstractContextManager[Any]:
        """Begin a transaction on one snapshot."""
        return self._session(place, reading=True)

    def answer(
        self, session: Any, place: SqlPlace, columns: Sequence[str] | None, rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Read with a cursor; the server keeps the remaining rows."""
        with session.cursor(name="hushtable") as cursor:
            with self.worded(place):
                text = select_text(place, self.names_in(session, place), columns)
                found = _columns(session, f"(\n{text}\n) AS {quoted('asked')}")
                cursor.execute(text)
            for some in self.fetched(place, cursor, rows):
                cells = zip(*some, strict=True)
                arrays = [read_pg_column(column, list(values)) for column, values in zip(found, cells, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, names=[c.name for c in found])

    def keys(self, place: SqlPlace) -> dict[str, TableKeys]:
        """Ask the catalogue."""
        schema = "current_schema()" if place.schema is None else "%s::name"
        names = [] if place.schema is None else [place.schema]
        column = (
            "(SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(c.{0}) WITH ORDINALITY k(attnum, n) "
            "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.{1} AND a.attnum = k.attnum)"
        )
        with self.reading(place) as session, self.worded(place):
            tables = session.execute(
                "SELECT t.relname::text FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = "
                f"t.relnamespace WHERE t.relkind IN ('r', 'p') AND n.nspname = {schema}", names,
            ).fetchall()  # fmt: skip
            found = session.execute(
                f"SELECT t.relname::text, CASE c.contype WHEN 'p' THEN '{PRIMARY}' ELSE '{FOREIGN}' END, "
                f"{column.format('conkey', 'conrelid')}, r.relname::text, {column.format('confkey', 'confrelid')} "
                "FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid "
                "JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace LEFT JOIN pg_catalog.pg_class r "
                "ON r.oid = c.confrelid AND r.relnamespace = t.relnamespace "
                f"WHERE c.contype IN ('p', 'f') AND n.nspname = {schema} ORDER BY 1, c.conname", names,
            ).fetchall()  # fmt: skip
        return keys_of((name for (name,) in tables), found)

    def names_in(self, session: Any, place: SqlPlace) -> list[str]:
        """Request no rows."""
        described = session.execute(f"SELECT * FROM {place.relation()} LIMIT 0").description
        return check_names([c.name for c in described], f"{str(place)!r}")

    def asked(self, session: Any, text: str) -> pa.Table:
        """Convert the server's rows."""
        answer = session.execute(text)
        found = [_answered(session, text, c) for c in answer.description]
        rows = answer.fetchall()
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(found)
        arrays = [read_pg_column(column, list(own)) for column, own in zip(found, cells, strict=True)]
        return pa.table(arrays, names=[c.name for c in found])

    def same_name(self, text: str, spaces: str) -> str:
        """Trim and compose with the server's functions."""
        return f"normalize(btrim({text}, '{spaces}'))"

    def exists_in(self, session: Any, place: SqlPlace) -> bool:
        """Look up the name where an unqualified table would be created."""
        schema = "current_schema()" if place.schema is None else "%s::name"
        names = [place.table] if place.schema is None else [place.table, place.schema]
        found = session.execute(
            "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE c.relname = %s::name AND n.nspname = {schema}",
            names,
        ).fetchone()
        return bool(found[0])

    def check_writable(self, place: SqlPlace) -> None:
        """Check that the user may create tables in the schema, and replace an existing one."""
        schema = "current_schema()" if place.schema is None else "%s::text"
        names = [] if place.schema is None else [place.schema]
        with self.reading(place) as session, self.worded(place):
            may = session.execute(f"SELECT has_schema_privilege({schema}, 'CREATE')", names).fetchone()[0]
            own = session.execute(
                "SELECT bool_and(pg_has_role(c.relowner, 'USAGE')) FROM pg_catalog.pg_class c "
                "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                f"WHERE c.relname = %s::name AND n.nspname = {schema}",
                [place.table, *names],
            ).fetchone()[0]
        if not may:
            raise failed_write(place, "the user may not create tables there")
        if own is False:
            raise failed_write(place, "the table that would be replaced belongs to another user")

    @contextmanager
    def writing(self, tables: Written, *, overwrite: bool) -> Iterator[None]:
        """Fill tables under temporary names and rename them in the same transaction, so that locks are short."""
        first = tables[0][0]
        psycopg = package_for("Writing to PostgreSQL", "psycopg", "sql")
        with self._session(first, reading=False) as session:
            try:
                made = [(place, self._fill(session, place, rows, overwrite)) for place, rows in tables]
                yield
                for place, temporary in made:
                    if self.replaces(session, place, overwrite=overwrite):
                        session.execute(f"DROP TABLE {place.relation()}")
                    session.execute(f"ALTER TABLE {temporary} RENAME TO {quoted(place.table or '')}")
                session.commit()
            except psycopg.Error as error:
                raise failed_write(first, self.reason(error)) from None

    def _fill(self, session: Any, place: SqlPlace, rows: Rows, overwrite: bool) -> str:
        """Create a table under a temporary name and fill it."""
        self.replaces(session, place, overwrite=overwrite)
        temporary = quoted(f"hushtable_{secrets.token_hex(6)}")
        if place.schema is not None:
            temporary = f"{quoted(place.schema)}.{temporary}"
        columns = ", ".join(f"{quoted(f.name)} {pg_type(f)}" for f in rows.schema)
        session.execute(f"CREATE TABLE {temporary} ({columns})")
        with session.cursor() as cursor, cursor.copy(f"COPY {temporary} FROM STDIN") as copy:
            for batch in batches_of(rows):
                cells = [_cells(name, decode(c)) for name, c in zip(batch.schema.names, batch.columns, strict=True)]
                for row in zip(*cells, strict=True):
                    copy.write_row(row)
        return temporary

    @contextmanager
    def _session(self, place: SqlPlace, *, reading: bool) -> Iterator[Any]:
        psycopg = package_for("PostgreSQL", "psycopg", "sql")
        address = place.url
        if "connect_timeout" not in address.options:
            address = address.with_options(connect_timeout=_PATIENCE)
        try:
            session = psycopg.connect(address.secret(), client_encoding="utf8")
        except psycopg.Error as error:
            raise DataError(
                f"{str(place.url)!r} cannot be reached: {_refusal(error)}.",
                code="no-connection",
                hint="Check host, port, database and user; a password is best kept in ~/.pgpass or PGPASSWORD.",
            ) from None
        with closing(session):
            with self.worded(place):
                session.read_only = reading
                if reading:
                    # one snapshot for the types and the rows
                    session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                session.execute("SET LOCAL TIME ZONE 'UTC'")
            yield session


def _columns(session: Any, relation: str) -> list[PgColumn]:
    described = session.execute(f"SELECT * FROM {relation} LIMIT 0").description
    return [column_of(session, relation, c) for c in described]


def _answered(session: Any, text: str, described: Any) -> PgColumn:
    if described.type_code == _NUMBERS:
        return PgColumn(described.name, pa.list_(pa.int64()))
    return column_of(session, f"(\n{text}\n) AS {quoted('asked')}", described)


def _cells(name: str, column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return moments(name, column)
    check_text(name, column)
    cells: list[Any] = column.to_pylist()
    return cells


_STATES = {
    "42P01": "there is no such table or view",
    "42703": "there is no such column",
    "42883": "there is no such function, or it does not accept these types",
    "42601": "the syntax is not PostgreSQL's",
    "42501": "the user may not do that",
    "3F000": "there is no such schema",
    "25006": "the query would write",
    "2BP01": "other objects, such as views, depend on the table that would be replaced",
    "42809": "it is not a table",
    "53100": "the server's disk is full",
    "57014": "the server canceled it",
}


def _refusal(error: Any) -> str:
    """Why there is no connection; libpq gives no code, and its message has at most host, port and user."""
    text = str(error)
    for words, reason in (
        ("password authentication failed", "the user or the password is refused"),
        ("no password supplied", "a password is needed"),
        ("no pg_hba.conf entry", "the server does not allow connections from here"),
        ("Peer authentication failed", "the server does not accept this system user as that user"),
        ("does not exist", "there is no such database or user"),
        ("timeout", "no answer in time"),
        ("could not translate host name", "there is no such host"),
        ("resolve", "there is no such host"),
        ("Connection refused", "no server is listening there"),
        ("No such file", "no server is listening there"),
        ("invalid", "the address is not valid"),
    ):
        if words in text:
            return reason
    return "the server does not respond like PostgreSQL"


_TYPES = {
    16: pa.bool_(), 17: pa.binary(), 20: pa.int64(), 21: pa.int16(), 23: pa.int32(), 26: pa.int64(),
    18: pa.string(), 19: pa.string(), 25: pa.string(), 1042: pa.string(), 1043: pa.string(), 700: pa.float32(),
    701: pa.float64(), 1082: pa.date32(), 1083: pa.time64("us"), 1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"), 2950: pa.string(),
}  # fmt: skip
"""Types by the server's type numbers, which never change."""

_NUMERIC = 1700
_WIDEST = 38


@dataclass(frozen=True)
class PgColumn:
    """A column and the Arrow type that its values fit."""

    name: str
    type: pa.DataType


def column_of(session: Any, relation: str, described: Any) -> PgColumn:
    """Return a column with its type; numbers without a declared precision are doubles.

    Raises ``DataError`` if the type is a list, a range or anything else but a number, date or text.
    """
    name, code = described.name, described.type_code
    if code in _TYPES:
        return PgColumn(name, _TYPES[code])
    if code == _NUMERIC:
        return PgColumn(name, _numeric(session, relation, described))
    kind, word = session.execute("SELECT typtype, typname FROM pg_catalog.pg_type WHERE oid = %s", [code]).fetchone()
    if kind == "e":
        return PgColumn(name, pa.string())
    raise DataError(
        f"Column {name!r} has PostgreSQL's type {word}, which is not a number, date or text.",
        code="unsupported-type",
        hint="Convert it in a query, for example with CAST(... AS text).",
    )


def _numeric(session: Any, relation: str, described: Any) -> pa.DataType:
    precision, scale = described.precision, described.scale
    if precision is None:
        # the digits of the longest number, possibly of a suppressed record, must not decide the published type
        q = quoted(described.name)
        (long,) = session.execute(f"SELECT bool_or({q}::float8::numeric <> {q}) FROM {relation}").fetchone()
        if not long:
            return pa.float64()
        raise DataError(
            f"Column {described.name!r} has decimal numbers of more than 15 digits, without a declared precision.",
            code="unsupported-type",
            hint="Convert it in a query, for example with CAST(... AS numeric(20, 2)) or CAST(... AS text).",
        )
    if not 0 <= scale <= precision <= _WIDEST:
        raise DataError(
            f"Column {described.name!r} has decimal numbers of more than {_WIDEST} digits.",
            code="unsupported-type",
            hint="Convert it in a query, for example with CAST(... AS double precision).",
        )
    return pa.decimal128(precision, scale)


def read_pg_column(column: PgColumn, values: list[Any]) -> pa.Array:
    """Return the driver's values as an Arrow array.

    >>> from decimal import Decimal
    >>> read_pg_column(PgColumn("a", pa.decimal128(4, 2)), [Decimal("1.5"), None]).to_pylist()
    [Decimal('1.50'), None]
    """
    try:
        if pa.types.is_decimal(column.type) and any(v is not None and not v.is_finite() for v in values):
            raise ValueError("not finite")
        if pa.types.is_float64(column.type):
            values = [None if v is None else float(v) for v in values]
        if is_text(column.type):
            values = [v if v is None or isinstance(v, str) else str(v) for v in values]
        return pa.array(values, column.type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        pass
    raise DataError(
        f"Column {column.name!r} holds values that a {type_words(column.type)} cannot be, such as NaN.",
        code="unsupported-type",
        hint="Convert it in a query, for example with CAST(... AS text).",
    )


_WRITTEN_AS: tuple[tuple[Callable[[pa.DataType], Any], str], ...] = (
    (is_text, "text"), (pa.types.is_null, "text"), (pa.types.is_boolean, "boolean"),
    (pa.types.is_date, "date"), (pa.types.is_time, "time"), (pa.types.is_uint64, "numeric(20, 0)"),
    (pa.types.is_float32, "real"), (pa.types.is_float16, "real"), (pa.types.is_float64, "double precision"),
    (lambda k: k in (pa.int8(), pa.uint8(), pa.int16()), "smallint"),
    (lambda k: k in (pa.uint16(), pa.int32()), "integer"), (pa.types.is_integer, "bigint"),
    (pa.types.is_binary, "bytea"), (pa.types.is_large_binary, "bytea"),
)  # fmt: skip


def pg_type(field: pa.Field) -> str:
    """Return the PostgreSQL type for a column.

    >>> pg_type(pa.field("a", pa.timestamp("us", "UTC"))), pg_type(pa.field("a", pa.decimal128(9, 2)))
    ('timestamptz', 'numeric(9, 2)')
    """
    kind = value_type(field.type)
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    return declared_type(field, _WRITTEN_AS, "PostgreSQL")


def check_text(name: str, column: pa.Array) -> None:
    """Refuse text that PostgreSQL cannot hold."""
    if is_text(column.type) and pc.any(pc.match_substring(column, "\0")).as_py():
        raise OutputError(
            f"Column {name!r} has text with a zero character, which PostgreSQL cannot hold.",
            code="unsupported-type",
            hint="Remove it.",
        )
