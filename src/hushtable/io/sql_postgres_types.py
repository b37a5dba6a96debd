"""PostgreSQL's types as Arrow types, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, OutputError
from hushtable.io.dictionaries import value_type
from hushtable.io.sql_text import quoted
from hushtable.io.text import is_text, type_words

__all__ = ["PgColumn", "check_text", "column_of", "pg_type", "read_pg_column"]

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
    """Return a column with its type; numbers without a declared precision are examined.

    Raises
    ------
    DataError
        If the type is a list, a range or anything else but a number, date or text.
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
        q = quoted(described.name)
        most, large = session.execute(
            f"SELECT max(scale({q})), max(length(trunc(abs({q}))::text)) FROM {relation} "
            f"WHERE {q} NOT IN ('NaN', 'Infinity', '-Infinity')"
        ).fetchone()
        scale, precision = most or 0, (most or 0) + (large or 1)
        precision = max(precision, min(_WIDEST, scale + 18))
    if not 0 <= scale <= precision <= _WIDEST:
        raise DataError(
            f"Column {described.name!r} has decimal numbers of more than {_WIDEST} digits.",
            code="unsupported-type",
            hint="Convert it in a query, for example with CAST(... AS double precision).",
        )
    return pa.decimal128(precision, scale)


def read_pg_column(column: PgColumn, values: list[Any]) -> pa.Array:
    """Return the driver's values as an Arrow array.

    Examples
    --------
    >>> from decimal import Decimal
    >>> read_pg_column(PgColumn("a", pa.decimal128(4, 2)), [Decimal("1.5"), None]).to_pylist()
    [Decimal('1.50'), None]
    """
    try:
        if pa.types.is_decimal(column.type) and any(v is not None and not v.is_finite() for v in values):
            raise ValueError("not finite")
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


def pg_type(field: pa.Field) -> str:
    """Return the PostgreSQL type for a column.

    Examples
    --------
    >>> pg_type(pa.field("a", pa.timestamp("us", "UTC"))), pg_type(pa.field("a", pa.decimal128(9, 2)))
    ('timestamptz', 'numeric(9, 2)')
    """
    kind = value_type(field.type)
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    for test, name in (
        (is_text, "text"), (pa.types.is_null, "text"), (pa.types.is_boolean, "boolean"),
        (pa.types.is_date, "date"), (pa.types.is_time, "time"), (pa.types.is_uint64, "numeric(20, 0)"),
        (pa.types.is_float32, "real"), (pa.types.is_float16, "real"), (pa.types.is_float64, "double precision"),
        (lambda k: k in (pa.int8(), pa.uint8(), pa.int16()), "smallint"),
        (lambda k: k in (pa.uint16(), pa.int32()), "integer"), (pa.types.is_integer, "bigint"),
        (pa.types.is_binary, "bytea"), (pa.types.is_large_binary, "bytea"),
    ):  # fmt: skip
        if test(kind):
            return name
    raise OutputError(
        f"Column {field.name!r} of type {type_words(kind)} has no type in PostgreSQL.",
        code="unsupported-type",
        hint="Convert it to numbers, dates or text first.",
    )


def check_text(name: str, column: pa.Array) -> None:
    """Refuse text that PostgreSQL cannot hold."""
    if is_text(column.type) and pc.any(pc.match_substring(column, "\0")).as_py():
        raise OutputError(
            f"Column {name!r} has text with a zero character, which PostgreSQL cannot hold.",
            code="unsupported-type",
            hint="Remove it.",
        )
