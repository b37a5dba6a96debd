"""Reading Parquet, from a file or a store: text columns as dictionaries, in one piece or in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.errors import DataError
from hushtable.io.batches import rebatch
from hushtable.io.dictionaries import plain_bytes, plain_types
from hushtable.io.footer import claimed_values
from hushtable.io.names import check_names, select_names
from hushtable.io.remote import open_remote
from hushtable.io.sniff import open_bytes
from hushtable.io.text import is_text
from hushtable.io.urls import Source, is_url, redacted

# UnicodeDecodeError, among the ValueErrors: a column's name that is not UTF-8
_FAULTS = (pa.ArrowException, OSError, ValueError)
_COUNTED = 4096


def read_parquet(path: Source, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file; text columns are dictionary-encoded, the others keep their types.

    Parameters
    ----------
    path : path
    columns : sequence of str, optional
        Read only these, in this order.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"a": ["x"], "b": [1]}), Path(folder, "t.parquet"))
    ...     read_parquet(Path(folder, "t.parquet"), columns=["b"]).to_pydict()
    {'b': [1]}
    """
    with _open(path) as source:
        wanted = _wanted(path, source, columns)
        table = None
        try:
            table = source.read(columns=wanted).select(wanted)
            table.validate(full=True)  # text may not be UTF-8
        except _FAULTS:
            table = None
    if table is None:
        raise _damaged(path)
    return plain_types(table.replace_schema_metadata(None).unify_dictionaries())


def iter_parquet(
    path: Source, batch_rows: int = 65_536, *, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a Parquet file in batches of ``batch_rows`` rows; see ``read_parquet``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"b": [1, 2, 3]}), Path(folder, "t.parquet"))
    ...     [b.num_rows for b in iter_parquet(Path(folder, "t.parquet"), 2)]
    [2, 1]
    """
    with _open(path) as source:
        wanted = _wanted(path, source, columns)

        def tables() -> Iterator[pa.Table]:
            batches = source.iter_batches(batch_size=max(batch_rows, 1), columns=wanted)
            while True:
                try:
                    batch = next(batches, None)
                    if batch is None:
                        return
                    batch.validate(full=True)
                except _FAULTS:
                    break
                yield plain_types(pa.Table.from_batches([batch]).select(wanted).replace_schema_metadata(None))
            raise _damaged(path)

        yield from rebatch(tables(), batch_rows)


def parquet_pieces(path: Path, columns: Sequence[str], rows: int, size: int) -> list[Callable[[], pa.Table]] | None:
    """Return functions that read adjacent row groups, of at most ``rows`` rows and ``size`` bytes, in order.

    None if a row group is larger than that.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"b": [1, 2, 3]}), Path(folder, "t.parquet"), row_group_size=1)
    ...     [read()["b"].to_pylist() for read in parquet_pieces(Path(folder, "t.parquet"), ["b"], 2, 1 << 20)]
    [[1, 2], [3]]
    """
    with _open(path) as source:
        wanted = _wanted(path, source, columns)
        metadata, schema = source.metadata, source.schema_arrow
    texts = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    pieces: list[list[int]] = [[]]
    held = taken = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        if group.num_rows > rows or group.total_byte_size > size:
            return None
        if held + group.num_rows > rows or taken + group.total_byte_size > size:
            pieces.append([])
            held = taken = 0
        pieces[-1].append(i)
        held, taken = held + group.num_rows, taken + group.total_byte_size

    def read(groups: list[int]) -> pa.Table:
        table = None
        try:
            # readers are not shared: each thread opens its own file
            with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts) as own:
                table = own.read_row_groups(groups, columns=wanted, use_threads=False).select(wanted)
            table.validate(full=True)
        except _FAULTS:
            table = None
        if table is None:
            raise _damaged(path)
        return plain_types(table.replace_schema_metadata(None))

    return [partial(read, groups) for groups in pieces]


def parquet_names(path: Source) -> list[str]:
    """Return the column names of a Parquet file without reading its rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"b": [1]}), Path(folder, "t.parquet"))
    ...     parquet_names(Path(folder, "t.parquet"))
    ['b']
    """
    with _open(path) as source:
        return check_names(source.schema_arrow.names, f"The file {redacted(path)!r}")


def unpacked_parquet(path: Path, most: int) -> int:
    """Return the approximate unpacked size of a file in bytes; stops early with a number above ``most``.

    Texts count once for each row that has them: a file stores them once, and may have billions of rows in a few bytes.

    Raises
    ------
    DataError
        If it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"b": ["x" * 100] * 1000}), Path(folder, "t.parquet"))
    ...     unpacked_parquet(Path(folder, "t.parquet"), 1 << 20)
    108000
    """
    with _open(path) as source:
        metadata, schema = source.metadata, source.schema
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        claimed: int = max(sum(one.total_byte_size for one in groups), metadata.num_rows * len(source.schema_arrow))
        leaves = [schema.column(i) for i in range(len(schema))]
    if any(leaf.max_repetition_level for leaf in leaves):
        values = claimed_values(path)
        if values < 0:
            raise _damaged(path)
        claimed = max(claimed, values)
    if claimed > most:
        return claimed
    seen = 0
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    try:
        with pq.ParquetFile(path, read_dictionary=texts) as source:
            for batch in source.iter_batches(batch_size=_COUNTED):
                seen += plain_bytes(batch)
                if seen > most:
                    break
    except (*_FAULTS, IndexError):  # rows of a damaged file may refer to texts that it does not have
        seen = -1
    if seen < 0:
        raise _damaged(path)
    return max(seen, claimed)


@contextmanager
def _open(path: Source) -> Iterator[pq.ParquetFile]:
    with ExitStack() as held:
        if is_url(path):
            file: Any = held.enter_context(open_remote(str(path)))
        else:
            with open_bytes(Path(path)):  # reports a missing file or a folder
                file = Path(path)
        try:
            schema = pq.read_schema(file)
            texts = [field.name for field in schema if is_text(field.type)]
            source = held.enter_context(pq.ParquetFile(file, read_dictionary=texts))
            sound = _counts_agree(source.metadata)
        except _FAULTS:
            source, sound = None, False
        if source is None or not sound:
            raise _damaged(path)
        yield source


def _counts_agree(metadata: pq.FileMetaData) -> bool:
    """Whether the rows of the parts sum to those of the file: Arrow allocates memory for what a part claims.

    The columns of a part are not queried: if they are damaged, PyArrow crashes the process.
    """
    rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    return min(rows, default=0) >= 0 and sum(rows) == metadata.num_rows


def _wanted(path: Source, source: pq.ParquetFile, columns: Sequence[str] | None) -> list[str]:
    where = f"The file {redacted(path)!r}"
    wanted = select_names(check_names(source.schema_arrow.names, where), columns, where)
    if source.metadata.num_rows == 0:
        raise DataError(f"{where} has no rows.", code="no-rows", hint="Check that the export ran to its end.")
    return wanted


def _damaged(path: Source) -> DataError:
    return DataError(
        f"The file {redacted(path)!r} is not a complete Parquet file.",
        code="damaged-file",
        hint="It may be truncated or have the wrong ending; copy or export it again.",
    )
