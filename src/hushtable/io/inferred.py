"""Column types that were inferred from the data, and what is published instead of them.

A Parquet file, a database or an Arrow table declares the types of its columns. pandas and NumPy do not: they choose a
type that fits all the values. One gap or fraction turns whole numbers into floats, one nanosecond changes the unit of
all timestamps, one long decimal the digits of all others. If only a suppressed record has it, the published type would
reveal that. So such columns are marked when they are read, and published in a type that follows from the published
cells alone.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError
from hushtable.io.dictionaries import encode
from hushtable.io.text import EXACT

_KEY = b"hushtable:type"
_MARK = {_KEY: b"inferred"}
_BEYOND = 2.0**63


def mark(field: pa.Field) -> pa.Field:
    """Return a column's field with the note that its type was inferred from its values.

    Examples
    --------
    >>> is_marked(mark(pa.field("a", pa.int64()))), is_marked(pa.field("a", pa.int64()))
    (True, False)
    """
    return field.with_metadata(_MARK)


def is_marked(field: pa.Field) -> bool:
    """Whether the type of a column was inferred from its values."""
    return bool(field.metadata) and _KEY in field.metadata


def settle(table: pa.Table, source: pa.Schema) -> pa.Table:
    """Return published columns in types that follow from their cells, if the source did not declare any.

    Parameters
    ----------
    table : pyarrow.Table
        The published columns, before the rows are sorted: cells that differed in the source may now be equal.
    source : pyarrow.Schema
        The schema of the source, with marks.

    Examples
    --------
    >>> source = pa.schema([mark(pa.field("a", pa.float64())), pa.field("b", pa.float64())])
    >>> settle(pa.table({"a": [1.0, 2.0], "b": [1.0, 2.0]}), source).schema.types
    [DataType(int64), DataType(double)]
    """
    marked = {field.name for field in source if is_marked(field)}
    named = zip(table.column_names, table.columns, strict=True)
    columns = [settled(column) if name in marked else column for name, column in named]
    return pa.table(columns, names=table.column_names)


def mixed_sizes(name: str, hint: str = "Set kind: nominal if they are codes rather than quantities.") -> DataError:
    """The error for fractions next to whole numbers that floats cannot distinguish."""
    return DataError(
        f"Column {name!r} mixes fractions with whole numbers beyond 2**53, which floats cannot distinguish.",
        code="number-too-large",
        hint=hint,
    )


def readable(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Return a column that is going to be published as text in the type that its values have as text.

    pandas makes floats of whole numbers if there is a gap or a fraction. Beyond 2**53, floats are written differently
    (``1e+18``), which would reveal a gap of a suppressed record. So they are whole numbers again, as in ``settled``.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
    field : pyarrow.Field
        With the mark, if its type was inferred.

    Raises
    ------
    DataError
        If there are fractions too, as for such a mix in a file.

    Examples
    --------
    >>> large = mark(pa.field("a", pa.float64()))
    >>> readable(pa.chunked_array([[2.0**60, None]]), large).to_pylist()
    [1152921504606846976, None]
    """
    if is_marked(field) and pa.types.is_dictionary(column.type):
        coded = encode(column)
        values = readable(pa.chunked_array([coded.dictionary]), field).combine_chunks()
        return pa.chunked_array([pa.DictionaryArray.from_arrays(coded.indices, values)])
    if not is_marked(field) or not pa.types.is_floating(column.type):
        return column
    sizes = np.abs(column.drop_null().to_numpy())
    if not ((sizes >= EXACT) & (sizes < _BEYOND)).any():
        return column
    if not _is_whole(column) or sizes.max() >= _BEYOND:
        raise mixed_sizes(field.name, hint="Convert them to text in the DataFrame if they are codes.")
    return column.cast(pa.int64())


def settled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in the type that follows from its cells, regardless of the type that it has.

    Whole numbers are int64, or uint64 if they are too large; other numbers are float64 or decimals with as many digits
    after the point as they need, and ``-0.0`` is ``0.0``. Timestamps are in microseconds, or in nanoseconds if they
    need them. A column without any value has the type null.

    Examples
    --------
    >>> settled(pa.chunked_array([[1.0, None]])).type, settled(pa.chunked_array([[1.5, None]])).type
    (DataType(int64), DataType(double))
    >>> settled(pa.chunked_array([[None]], pa.string())).type
    DataType(null)
    """
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_dictionary(column.type):
        coded = encode(column)
        values = settled(pa.chunked_array([coded.dictionary])).combine_chunks()
        return pa.chunked_array([pa.DictionaryArray.from_arrays(coded.indices, values)])
    wanted = _type(column)
    found = column if wanted == column.type else column.cast(wanted)
    # pandas takes -0.0 and 0.0 for one category, named like the first of them
    return pc.add(found, 0.0) if wanted == pa.float64() else found


def _type(column: pa.ChunkedArray) -> pa.DataType:
    kind = column.type
    if pa.types.is_integer(kind):
        return _whole_type(column) or kind
    if pa.types.is_floating(kind):
        return (_whole_type(column) if _is_whole(column) else None) or pa.float64()
    if pa.types.is_decimal(kind):
        return _decimal_type(column)
    if pa.types.is_timestamp(kind):
        return pa.timestamp(_unit(column), kind.tz)
    if pa.types.is_duration(kind):
        return pa.duration(_unit(column))
    if pa.types.is_large_string(kind) and all(chunk.nbytes < 2**31 for chunk in column.chunks):
        return pa.string()
    return kind


def _is_whole(column: pa.ChunkedArray) -> bool:
    """Whether all floats are whole; infinite ones are not."""
    for chunk in column.chunks:
        values = chunk.drop_null().to_numpy(zero_copy_only=False)
        if not (np.isfinite(values) & (values == np.floor(values))).all():
            return False
    return True


def _whole_type(column: pa.ChunkedArray) -> pa.DataType | None:
    """The type that whole numbers fit; None if there is none."""
    ends = pc.min_max(column).as_py()
    low, high = int(ends["min"]), int(ends["max"])
    return pa.int64() if low >= -(2**63) and high < 2**63 else pa.uint64() if low >= 0 and high < 2**64 else None


def _decimal_type(column: pa.ChunkedArray) -> pa.DataType:
    scale = next(s for s in range(column.type.scale + 1) if _survives(column, pa.decimal256(76, s)))
    small = pa.decimal128(38, scale)
    return (None if scale else _whole_type(column)) or (small if _survives(column, small) else pa.decimal256(76, scale))


def _unit(column: pa.ChunkedArray) -> str:
    """The unit of times: microseconds; another one only if it has to be."""
    unit: str = column.type.unit
    make = pa.duration if pa.types.is_duration(column.type) else pa.timestamp
    return "us" if _survives(column.cast(pa.int64()).cast(make(unit)), make("us")) else unit


def _survives(column: pa.ChunkedArray, wanted: pa.DataType) -> bool:
    """Whether all values fit a type exactly."""
    try:
        column.cast(wanted)
    except pa.ArrowInvalid:
        return False
    return True
