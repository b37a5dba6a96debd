"""Reading Arrow files (.arrow, .feather): the file and the stream format."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyarrow import feather

from hushtable.errors import DataError
from hushtable.io.dictionaries import plain_bytes, plain_types
from hushtable.io.names import check_names, select_names
from hushtable.io.sniff import open_bytes

_MAGIC = b"ARROW1"
_DICTIONARY, _BATCH = 2, 3


def read_ipc(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> pa.Table:
    """Read an Arrow file or stream.

    Parameters
    ----------
    path : path
    columns : sequence of str, optional
        Return only these, in this order.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     feather.write_feather(pa.table({"b": [1]}), str(Path(folder, "t.arrow")))
    ...     read_ipc(Path(folder, "t.arrow")).to_pydict()
    {'b': [1]}
    """
    file = Path(path)
    where = f"The file {str(file)!r}"
    with open_bytes(file):  # reports a missing file or a folder
        pass
    table = _read(file)
    if table is None:
        raise _damaged(file)
    table = table.select(select_names(check_names(table.column_names, where), columns, where))
    if not table.num_rows:
        raise DataError(f"{where} has no rows.", code="no-rows", hint="Check that the export ran to its end.")
    return plain_types(table.replace_schema_metadata(None))


def _read(path: Path) -> pa.Table | None:
    try:
        table = feather.read_table(str(path), memory_map=False)
    except (pa.ArrowException, OSError, ValueError):
        table = None
    try:
        if table is None:
            with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as reader:
                table = reader.read_all()
        # offsets and codes are used unchecked: without this, damaged ones crash the process later
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return table


def _damaged(path: Path) -> DataError:
    return DataError(
        f"The file {str(path)!r} is not a complete Arrow file.",
        code="damaged-file",
        hint="It may be truncated or have the wrong ending; copy or export it again.",
    )


def unpacked_ipc(path: Path, most: int) -> int:
    """Return the approximate unpacked size of a file in bytes; stops early with a number above ``most``.

    First the stated sizes of its parts, for which a reader allocates memory before unpacking; then, if these are within
    ``most``, the texts, once for each row that has them.

    Raises
    ------
    DataError
        If it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     feather.write_feather(pa.table({"b": [1] * 1000}), str(Path(folder, "t.arrow")), compression="zstd")
    ...     unpacked_ipc(Path(folder, "t.arrow"), 1 << 20)
    9000
    """
    claimed = 0
    try:
        with path.open("rb") as source:
            for size in _parts(source):
                claimed += size
                if claimed > most:
                    return claimed
    except (struct.error, ValueError, OverflowError, OSError):
        claimed = -1
    table = _read(path) if claimed >= 0 else None
    if table is None:
        raise _damaged(path)
    return max(claimed, sum(plain_bytes(batch) for batch in table.to_batches()))


def _parts(source: IO[bytes]) -> Iterator[int]:
    """The stated unpacked size of each part of a file or stream, in bytes."""
    head = source.read(8)
    size = source.seek(0, os.SEEK_END)
    if head.startswith(_MAGIC):
        source.seek(-10, os.SEEK_END)
        (length,) = struct.unpack("<i", source.read(4))
        source.seek(-10 - length, os.SEEK_END)
        footer = _Flat(source.read(length))
        for list_ in (2, 3):  # dictionaries, batches
            for at in footer.members(footer.root, list_, 24):
                (place,) = struct.unpack_from("<q", footer.data, at)
                yield _part(source, place, size)[0]
    elif not head.startswith(b"FEA1"):  # the first Feather format does not compress
        place, after = 0, 0
        while place < size:
            unpacked, after = _part(source, place, size)
            if after <= place:
                raise ValueError("a part ends before it begins")
            place = after
            yield unpacked


def _part(source: IO[bytes], place: int, end: int) -> tuple[int, int]:
    """The unpacked size of the part at a place, and the place of the next one."""
    source.seek(place)
    (length,) = struct.unpack("<i", source.read(4))
    if length == -1:  # files from before 2019 have no such mark
        (length,) = struct.unpack("<i", source.read(4))
    if length == 0:
        return 0, end
    message = _Flat(source.read(length))
    body = source.tell()
    kind = message.number(message.root, 1, "<B")
    after = body + message.number(message.root, 3, "<q")
    batch = message.table(message.root, 2)
    if kind == _DICTIONARY:
        batch = message.table(batch, 1)
    elif kind != _BATCH:
        return 0, after
    packed = bool(message.field(batch, 3))
    total = message.number(batch, 0, "<q")
    for at in message.members(batch, 2, 16):
        offset, size = struct.unpack_from("<qq", message.data, at)
        if packed and size:
            source.seek(body + offset)
            (own,) = struct.unpack("<q", source.read(8))
            size = size if own == -1 else own
        if size < 0:
            raise ValueError("a negative size")
        total += size
    return total, after


class _Flat:
    """The flatbuffers that describe the parts of an Arrow file: tables of numbered fields."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root: int = struct.unpack_from("<I", data)[0]

    def field(self, table: int, number: int) -> int:
        """The place of a field; 0 if it is absent."""
        fields = table - struct.unpack_from("<i", self.data, table)[0]
        place = 4 + 2 * number
        if fields < 0 or place >= struct.unpack_from("<H", self.data, fields)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self.data, fields + place)[0]
        return table + offset if offset else 0

    def number(self, table: int, number: int, form: str) -> int:
        """A number; 0 if it is absent."""
        place = self.field(table, number)
        found: int = struct.unpack_from(form, self.data, place)[0] if place else 0
        return found

    def table(self, table: int, number: int) -> int:
        """The place of the table that a field refers to."""
        place = self.field(table, number)
        if not place:
            raise ValueError("a part is missing")
        found: int = place + struct.unpack_from("<I", self.data, place)[0]
        return found

    def members(self, table: int, number: int, size: int) -> range:
        """The places of the members of a list."""
        if not self.field(table, number):
            return range(0)
        at = self.table(table, number)
        (count,) = struct.unpack_from("<I", self.data, at)
        if at + 4 + count * size > len(self.data):
            raise ValueError("a list is cut off")
        return range(at + 4, at + 4 + count * size, size)
