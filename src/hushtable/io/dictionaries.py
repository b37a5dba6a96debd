"""Dictionary-encoded columns: one dictionary per column, with only values that occur.

After a filter, a dictionary still has the values of the removed rows, and Arrow and Parquet files store it completely:
a suppressed person's value would be published. Everything that is written goes through ``compact``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_SLICE = 1 << 20


def encode(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """Return the column as one dictionary array whose dictionary has exactly the values that occur, once each.

    Examples
    --------
    >>> old = pa.DictionaryArray.from_arrays(pa.array([1, 1, None]), pa.array(["gone", "here"]))
    >>> encode(old).dictionary.to_pylist()
    ['here']
    >>> encode(pa.chunked_array([["a"], ["b", None]])).indices.to_pylist()
    [0, 1, None]
    """
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if pa.types.is_string_view(chunked.type):
        chunked = chunked.cast(pa.large_string())
    if not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    if chunked.num_chunks == 0:
        return from_codes(np.empty(0, dtype=np.int64), pa.array([], chunked.type.value_type))
    if chunked.num_chunks == 1 and _is_proper(chunked.chunk(0)):
        whole = chunked.chunk(0)
        used = counts(whole) > 0
        if used.all():
            return whole
        codes = to_codes(whole)
    else:
        # Dictionaries with nulls or repeated values are legal Arrow but break both unification and counting.
        proper = pa.chunked_array([_proper(chunk) for chunk in _join_chunks(chunked.chunks)])
        whole = proper.unify_dictionaries().combine_chunks()
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.chunk(0)
        codes = to_codes(whole)
        used = np.bincount(codes + 1, minlength=len(whole.dictionary) + 1)[1:] > 0
    if used.all():
        return from_codes(codes, whole.dictionary)
    remap = np.append(np.cumsum(used, dtype=np.int64) - 1, -1)
    return from_codes(remap[codes], whole.dictionary.filter(pa.array(used)))


def _join_chunks(chunks: list[pa.DictionaryArray]) -> list[pa.DictionaryArray]:
    """Join chunks that share one dictionary, which may be long, so that it is processed once."""
    places = {_place(chunk.dictionary) for chunk in chunks}
    if len(chunks) == 1 or len(places) > 1:
        return chunks
    indices = pa.concat_arrays([chunk.indices for chunk in chunks])
    return [pa.DictionaryArray.from_arrays(indices, chunks[0].dictionary)]


def _place(values: pa.Array) -> tuple[int, ...]:
    """The memory address of an array."""
    buffers = (0 if buffer is None else buffer.address for buffer in values.buffers())
    return len(values), values.offset, *buffers


def _is_proper(array: pa.DictionaryArray) -> bool:
    values = array.dictionary
    return not (pa.types.is_string_view(values.type) or values.null_count or len(values.unique()) < len(values))


def _proper(array: pa.DictionaryArray) -> pa.DictionaryArray:
    values = array.dictionary
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    again = values.dictionary_encode()
    remap = np.append(to_codes(again), -1)
    return from_codes(remap[to_codes(array)], again.dictionary, pa.int32())


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, in a dictionary or not.

    Examples
    --------
    >>> value_type(pa.dictionary(pa.int8(), pa.string())), value_type(pa.int64())
    (DataType(string), DataType(int64))
    """
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def value_ranks(values: pa.Array) -> npt.NDArray[np.int64]:
    """Return the rank of each value, from 1; equal ones share a rank, but -0.0 (a different cell) precedes 0.0.

    Examples
    --------
    >>> value_ranks(pa.array([0.0, 1.5, -0.0, 0.0])).tolist()
    [2, 3, 1, 2]
    """
    if not len(values):
        return np.empty(0, dtype=np.int64)
    ranks: npt.NDArray[np.int64]
    ranks = pc.rank(values, tiebreaker="dense").to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy(zero_copy_only=False)
        zero = numbers == 0
        below = zero & np.signbit(numbers)
        if below.any() and (zero != below).any():
            ranks[(ranks >= ranks[below][0]) & ~below] += 1
    return ranks


def null_last(array: pa.DictionaryArray) -> pa.Array:
    """Return the positions in the dictionary; null is one after the last.

    Examples
    --------
    >>> null_last(pa.array(["x", None, "y"]).dictionary_encode()).to_pylist()
    [0, 2, 1]
    """
    if not array.indices.null_count:
        return array.indices
    # the type of the indices may be too small for one more
    return array.indices.cast(pa.int64()).fill_null(len(array.dictionary))


def to_codes(array: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """Return the positions in the dictionary, -1 for null.

    Examples
    --------
    >>> to_codes(pa.array(["x", None, "x"]).dictionary_encode()).tolist()
    [0, -1, 0]
    """
    indices = array.indices
    if indices.null_count:
        signed = indices if pa.types.is_signed_integer(indices.type) else pc.cast(indices, pa.int64())
        indices = pc.fill_null(signed, -1)
    return np.asarray(indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def look_up(table: npt.NDArray[Any], array: pa.DictionaryArray) -> npt.NDArray[Any]:
    """Return ``table[i]`` for every position i in the dictionary, and its last entry for null.

    Works slice by slice: NumPy would turn all positions into 8 bytes each first.

    Examples
    --------
    >>> look_up(np.array([7, 8, -1], dtype=np.int8), pa.array(["x", None, "y"]).dictionary_encode()).tolist()
    [7, -1, 8]
    """
    out = np.empty(len(array), dtype=table.dtype)
    for start in range(0, len(array), _SLICE):
        out[start : start + _SLICE] = table[to_codes(array.slice(start, _SLICE))]
    return out


def counts(array: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """Return how often each value of the dictionary occurs.

    Examples
    --------
    >>> counts(pa.array(["x", None, "x"]).dictionary_encode()).tolist()
    [2]
    """
    found = np.zeros(len(array.dictionary) + 1, dtype=np.int64)
    for start in range(0, len(array), _SLICE):
        part = array.slice(start, _SLICE)
        if part.indices.null_count:
            found += np.bincount(to_codes(part) + 1, minlength=len(found))
        else:
            found[1:] += np.bincount(part.indices.to_numpy(), minlength=len(found) - 1)
    return found[1:]


def from_codes(
    codes: npt.NDArray[np.integer], dictionary: pa.Array, index_type: pa.DataType | None = None
) -> pa.DictionaryArray:
    """Return the dictionary array with these positions; a negative one is null.

    Parameters
    ----------
    codes : integer array
    dictionary : pyarrow.Array
    index_type : pyarrow.DataType, optional
        Defaults to the smallest signed type that fits.

    Examples
    --------
    >>> from_codes(np.array([0, -1]), pa.array(["x"])).to_pylist()
    ['x', None]
    """
    kind = index_type or smallest_index(len(dictionary))
    null = codes < 0
    small = codes.astype(kind.to_pandas_dtype(), copy=False)
    indices = pa.array(small, mask=null if null.any() else None)
    return pa.DictionaryArray.from_arrays(indices, dictionary)


def smallest_index(size: int) -> pa.DataType:
    """Return the smallest signed type for positions in a dictionary of this size.

    Examples
    --------
    >>> smallest_index(128), smallest_index(129)
    (DataType(int8), DataType(int16))
    """
    return pa.int8() if size <= 2**7 else pa.int16() if size <= 2**15 else pa.int32()


def compact(table: pa.Table) -> pa.Table:
    """Return the table with dictionaries that depend only on its cells, and without metadata.

    A dictionary has the values that occur, sorted: in the input's order, it would reveal the value of the first row.
    The index type depends on them too: any other would reveal whether a value of the input is not published.

    Examples
    --------
    >>> t = pa.table({"a": pa.array(["z", "x", "y"]).dictionary_encode()}).slice(0, 2)
    >>> compact(t)["a"].chunk(0).dictionary.to_pylist()
    ['x', 'z']
    """
    columns = [with_sorted_dictionary(c) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)


def with_sorted_dictionary(
    column: pa.Array | pa.ChunkedArray, index_type: pa.DataType | None = None
) -> pa.DictionaryArray:
    """Return the column as one dictionary array with a sorted dictionary of the values that occur.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
    index_type : pyarrow.DataType, optional
        Defaults to the smallest signed type that fits.

    Examples
    --------
    >>> with_sorted_dictionary(pa.array(["y", "x", None])).indices.to_pylist()
    [1, 0, None]
    """
    coded = encode(column)
    rank = np.append(value_ranks(coded.dictionary) - 1, -1)
    return from_codes(rank[to_codes(coded)], coded.dictionary.take(pa.array(np.argsort(rank[:-1]))), index_type)


def decode(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a dictionary column as plain values; any other column unchanged.

    Examples
    --------
    >>> decode(pa.array(["x", "x"]).dictionary_encode()).type
    DataType(string)
    """
    if isinstance(column, pa.ChunkedArray):
        if not pa.types.is_dictionary(column.type):
            return column
        return pa.chunked_array([decode(c) for c in column.chunks], type=column.type.value_type)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def plain_bytes(batch: pa.RecordBatch) -> int:
    """Return the approximate size in bytes if each row has its own value: a dictionary may be far smaller.

    Examples
    --------
    >>> coded = pa.array(["a" * 1000] * 500).dictionary_encode()
    >>> coded.nbytes < 4000, plain_bytes(pa.record_batch([coded], names=["a"]))
    (True, 504000)
    """
    return sum(_plain_bytes(column) for column in batch.columns)


def _plain_bytes(column: pa.Array) -> int:
    kind = column.type
    if pa.types.is_dictionary(kind):
        lengths = _lengths(column.dictionary)
        codes = column.indices.drop_null().to_numpy()
        return 8 * len(column) + int(lengths[codes].sum())
    if pa.types.is_run_end_encoded(kind):
        runs = np.diff(column.run_ends.to_numpy().astype(np.int64), prepend=0)
        return 8 * len(column) + int((runs * _lengths(column.values)).sum())
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return 8 * len(column) + int(_lengths(column).sum())
    if pa.types.is_struct(kind):
        return sum(map(_plain_bytes, column.flatten()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return 8 * len(column) + _plain_bytes(column.flatten())
    if pa.types.is_map(kind):
        return 8 * len(column) + _plain_bytes(column.keys) + _plain_bytes(column.items)
    return int(column.nbytes)


def _lengths(values: pa.Array) -> npt.NDArray[np.int64]:
    """Bytes of each text; 0 for other values."""
    kind = values.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        # a view begins with the length of its text
        views = np.frombuffer(values.buffers()[1], np.int32)[4 * values.offset :: 4][: len(values)]
        return np.where(values.is_valid().to_numpy(zero_copy_only=False), views, 0).astype(np.int64)
    sized = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if sized or pa.types.is_string(kind) or pa.types.is_binary(kind):
        found: npt.NDArray[np.int64] = pc.fill_null(pc.binary_length(values), 0).to_numpy().astype(np.int64)
        return found
    return np.zeros(len(values), np.int64)


def plain_types(table: pa.Table) -> pa.Table:
    """Return the table with views as plain types, and small floats and decimals in more bits.

    Other types are unchanged, and notes in the fields are kept.

    Examples
    --------
    >>> plain_types(pa.table({"a": pa.array(["x"], pa.string_view()), "b": [1]})).schema.types
    [DataType(large_string), DataType(int64)]
    """
    wanted = [_plain(field.type) for field in table.schema]
    if wanted == table.schema.types:
        return table
    columns = [column.cast(type_) for column, type_ in zip(table.columns, wanted, strict=True)]
    fields = [field.with_type(type_) for field, type_ in zip(table.schema, wanted, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


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
