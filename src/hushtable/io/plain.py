"""Convert types that Arrow hardly supports in computations to others with the same values."""

from __future__ import annotations

import pyarrow as pa

from hushtable.io.dictionaries import value_type

__all__ = ["plain_types"]


def plain_types(table: pa.Table) -> pa.Table:
    """Return the table with views as plain types, and small floats and decimals in more bits.

    Other types are unchanged.

    Examples
    --------
    >>> plain_types(pa.table({"a": pa.array(["x"], pa.string_view()), "b": [1]})).schema.types
    [DataType(large_string), DataType(int64)]
    """
    wanted = [_plain(field.type) for field in table.schema]
    if wanted == table.schema.types:
        return table
    columns = [column.cast(type_) for column, type_ in zip(table.columns, wanted, strict=True)]
    return pa.table(columns, names=table.column_names)


def _plain(type_: pa.DataType) -> pa.DataType:
    values = value_type(type_)
    if pa.types.is_string_view(values):
        values = pa.large_string()
    elif pa.types.is_binary_view(values):
        values = pa.large_binary()
    elif pa.types.is_float16(values):
        values = pa.float32()
    elif pa.types.is_decimal(values) and values.bit_width < 128:
        values = pa.decimal128(values.precision, values.scale)
    else:
        return type_
    return pa.dictionary(type_.index_type, values) if pa.types.is_dictionary(type_) else values
