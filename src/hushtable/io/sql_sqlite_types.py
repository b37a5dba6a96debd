"""SQLite's types: the declared and the stored types of a column as one Arrow type, and back.

SQLite does not enforce declarations: any column may have any value. DATE, TIMESTAMP, BOOLEAN, NUMERIC and DECIMAL(p, s)
are used if all stored values are of this kind; otherwise, the stored values decide. No single value decides: its record
may be suppressed, and the published type would reveal it. So columns that mix text, whole numbers and fractions are
refused, unless the declaration says which of these they are.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, OutputError
from hushtable.io.dictionaries import decode, value_type
from hushtable.io.sql_text import quoted
from hushtable.io.text import is_text, type_words

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
    for test, name in (
        (is_text, "TEXT"), (pa.types.is_boolean, "BOOLEAN"), (pa.types.is_integer, "INTEGER"),
        (pa.types.is_floating, "REAL"), (pa.types.is_date, "DATE"), (pa.types.is_timestamp, "TIMESTAMP"),
        (pa.types.is_null, "TEXT"), (pa.types.is_binary, "BLOB"), (pa.types.is_large_binary, "BLOB"),
    ):  # fmt: skip
        if test(kind):
            return name
    raise OutputError(
        f"Column {field.name!r} of type {type_words(kind)} has no type in SQLite.",
        code="unsupported-type",
        hint="Convert it to numbers, dates or text first.",
    )


def lite_rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Return rows in the form that SQLite accepts.

    Examples
    --------
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


def moments(name: str, column: pa.Array) -> list[dt.datetime | None]:
    """Return times as Python objects for databases; those with a zone in UTC.

    Raises
    ------
    OutputError
        If some are finer than a microsecond, or out of the range of years.
    """
    try:
        zone = None if column.type.tz is None else "UTC"
        found: list[dt.datetime | None] = column.cast(pa.timestamp("us", zone)).to_pylist()
        return found
    except (pa.ArrowException, ValueError, OverflowError):
        pass
    raise OutputError(
        f"Column {name!r} has times finer than a microsecond, or before year 1 or after 9999.",
        code="unsupported-type",
        hint="Round them first.",
    )
