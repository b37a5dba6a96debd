"""Join Parquet files of one row group each into the file that one writer would have written.

Row groups can then be compressed on all cores. Only the footer has positions: it is read, its offsets are adjusted, and
it is written again, in the compact protocol of Thrift. The Parquet format defines the fields; those that are not named
here are copied.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

_MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)

# numbers of fields
_NUM_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _META_DATA = 2, 3
_NUM_VALUES = 5
_PAGE_OFFSETS = (9, 10, 11)

Fields = dict[int, tuple[int, Any]]
"""Number -> (type, value), ascending."""


class _Out(Protocol):
    def write(self, data: bytes, /) -> object: ...


def join_groups(files: Iterable[bytes], out: _Out) -> None:
    """Write the row groups of several files, which have the same schema, as one file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pyarrow import parquet as pq
    >>> def written(*tables):
    ...     out = io.BytesIO()
    ...     with pq.ParquetWriter(out, tables[0].schema) as writer:
    ...         for table in tables:
    ...             writer.write_table(table)
    ...     return out.getvalue()
    >>> one, two, joined = pa.table({"a": [1, 2]}), pa.table({"a": [3]}), io.BytesIO()
    >>> join_groups([written(one), written(two)], joined)
    >>> joined.getvalue() == written(one, two)
    True
    """
    out.write(_MAGIC)
    at = len(_MAGIC)
    whole: Fields = {}
    groups: list[Fields] = []
    rows = 0
    for file in files:
        size = int.from_bytes(file[-8:-4], "little")
        footer = _read_struct(io.BytesIO(file[-8 - size : -8]))
        content = file[len(_MAGIC) : -8 - size]
        for group in footer[_ROW_GROUPS][1][1]:
            groups.append(_moved(group, at - len(_MAGIC), len(groups)))
        out.write(content)
        at += len(content)
        rows += footer[_NUM_ROWS][1]
        whole = whole or footer
    whole[_NUM_ROWS] = (whole[_NUM_ROWS][0], rows)
    whole[_ROW_GROUPS] = (_LIST, (_STRUCT, groups))
    footer_out = io.BytesIO()
    _write_struct(whole, footer_out)
    out.write(footer_out.getvalue() + len(footer_out.getvalue()).to_bytes(4, "little") + _MAGIC)


def claimed_values(path: Path) -> int:
    """Return the number of values that a file states for its columns; -1 if its footer is damaged.

    A list of a billion equal values takes a few bytes, and PyArrow ends the process when asked about damaged columns.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> from pyarrow import parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"a": [[1, 2, 3], [4]], "b": [1, 2]}), Path(folder, "t.parquet"))
    ...     claimed_values(Path(folder, "t.parquet"))
    6
    """
    with path.open("rb") as file:
        try:
            file.seek(-8, io.SEEK_END)
            size = int.from_bytes(file.read(4), "little")
            file.seek(-8 - size, io.SEEK_END)
            footer = _read_struct(io.BytesIO(file.read(size)))
            groups = footer[_ROW_GROUPS][1][1]
            counts = [chunk[_META_DATA][1][_NUM_VALUES][1] for group in groups for chunk in group[_COLUMNS][1][1]]
        except (OSError, ValueError, LookupError, TypeError, AssertionError, struct.error, RecursionError):
            return -1
    return sum(counts) if min(counts, default=0) >= 0 else -1


def _moved(group: Fields, by: int, number: int) -> Fields:
    """The description of a row group, moved by some bytes and renumbered."""
    _move(group, (_GROUP_OFFSET,), by)
    if _ORDINAL in group:
        group[_ORDINAL] = (group[_ORDINAL][0], number)
    for chunk in group[_COLUMNS][1][1]:
        _move(chunk, (_CHUNK_OFFSET,), by)
        _move(chunk[_META_DATA][1], _PAGE_OFFSETS, by)
    return group


def _move(fields: Fields, numbers: Iterable[int], by: int) -> None:
    for number in numbers:
        kind, value = fields.get(number, (0, 0))
        if value:  # 0 means none
            fields[number] = (kind, value + by)


def _read_int(data: io.BytesIO) -> int:
    shift = found = 0
    while True:
        byte = data.read(1)[0]
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found
        shift += 7


def _read(kind: int, data: io.BytesIO) -> Any:
    if kind in _INTEGERS:
        found = _read_int(data)
        return (found >> 1) ^ -(found & 1)
    if kind in (_TRUE, _FALSE, _BYTE):
        return data.read(1)[0]
    if kind == _DOUBLE:
        return struct.unpack("<d", data.read(8))[0]
    if kind == _BINARY:
        return data.read(_read_int(data))
    if kind in (_LIST, _SET):
        head = data.read(1)[0]
        size = head >> 4 if head >> 4 < 15 else _read_int(data)
        return head & 15, [_read(head & 15, data) for _ in range(size)]
    assert kind == _STRUCT
    return _read_struct(data)


def _read_struct(data: io.BytesIO) -> Fields:
    fields: Fields = {}
    number = 0
    while head := data.read(1)[0]:
        if head >> 4:
            number += head >> 4
        else:
            number = _read(_INTEGERS[0], data)
        kind = head & 15
        # a boolean field's value is in its type
        fields[number] = (kind, None if kind in (_TRUE, _FALSE) else _read(kind, data))
    return fields


def _write_int(value: int, out: io.BytesIO) -> None:
    while value >= 0x80:
        out.write(bytes([value & 0x7F | 0x80]))
        value >>= 7
    out.write(bytes([value]))


def _write(kind: int, value: Any, out: io.BytesIO) -> None:
    if kind in _INTEGERS:
        _write_int((value << 1) ^ (value >> 63), out)
    elif kind in (_TRUE, _FALSE, _BYTE):
        out.write(bytes([value]))
    elif kind == _DOUBLE:
        out.write(struct.pack("<d", value))
    elif kind == _BINARY:
        _write_int(len(value), out)
        out.write(value)
    elif kind in (_LIST, _SET):
        inner, members = value
        out.write(bytes([min(len(members), 15) << 4 | inner]))
        if len(members) >= 15:
            _write_int(len(members), out)
        for member in members:
            _write(inner, member, out)
    else:
        _write_struct(value, out)


def _write_struct(fields: Fields, out: io.BytesIO) -> None:
    last = 0
    for number, (kind, value) in fields.items():
        step = number - last
        out.write(bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]))
        if not 0 < step < 16:
            _write(_INTEGERS[0], number, out)
        if value is not None:
            _write(kind, value, out)
        last = number
    out.write(b"\0")
