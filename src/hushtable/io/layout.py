"""The layout of a table in a Parquet file, so that its bytes depend only on its cells.

Row groups have ``GROUP_ROWS`` rows. In each, a dictionary has exactly the values that occur there, sorted: their order
of occurrence would reveal something about the input's order, and a dictionary of the whole table would be repeated in
every row group. So a table written piece by piece has the same bytes as one written at once.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.arrays import IntArray
from hushtable.errors import OutputError
from hushtable.io.atomic import atomic_file
from hushtable.io.csv_write import Writer, write_csv_header, write_csv_rows
from hushtable.io.dictionaries import with_sorted_dictionary
from hushtable.parallel import each

GROUP_ROWS = 1 << 20
"""Number of rows in a row group; only the last one of a file has fewer."""


@dataclass(frozen=True)
class Repeated:
    """Rows that each represent several equal ones.

    Attributes
    ----------
    table : pyarrow.Table
    times : int64 array
        How often each row occurs, one after the other.

    Examples
    --------
    >>> Repeated(pa.table({"a": [1, 2]}), np.array([2, 1])).rows()["a"].to_pylist()
    [1, 1, 2]
    """

    table: pa.Table
    times: IntArray

    def rows(self) -> pa.Table:
        """Return every row as often as it occurs."""
        return self.table.take(pa.array(np.repeat(np.arange(len(self.times)), self.times)))


@dataclass(frozen=True)
class Rows:
    """A table that is written piece by piece, and need not fit in memory.

    Attributes
    ----------
    schema : pyarrow.Schema
    pieces : iterable of pyarrow.Table
        In order; iterated once. For Parquet, each is a row group.

    Examples
    --------
    >>> rows = Rows.of(pa.table({"a": [1, 2, 3]}))
    >>> rows.schema.names, [piece.num_rows for piece in rows.pieces]
    (['a'], [3])
    """

    schema: pa.Schema
    pieces: Iterable[pa.Table]

    @classmethod
    def of(cls, table: pa.Table) -> Rows:
        """Return the rows of a table that is in memory."""
        return cls(table.schema, row_groups(table))


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema in which a table is stored: one type of index for all dictionaries, no metadata.

    Examples
    --------
    >>> str(stored_schema(pa.schema({"a": pa.dictionary(pa.int8(), pa.string())})).field("a").type)
    'dictionary<values=string, indices=int32, ordered=0>'
    """
    return pa.schema([pa.field(field.name, _stored_type(field.type)) for field in schema])


def _stored_type(kind: pa.DataType) -> pa.DataType:
    if not pa.types.is_dictionary(kind):
        return kind
    values = pa.large_string() if pa.types.is_string_view(kind.value_type) else kind.value_type
    return pa.dictionary(pa.int32(), values)


def row_groups(table: pa.Table) -> Iterator[pa.Table]:
    """Cut a table into row groups.

    Examples
    --------
    >>> [group.num_rows for group in row_groups(pa.table({"a": [1, 2, 3]}))]
    [3]
    """
    for start in range(0, table.num_rows, GROUP_ROWS):
        yield table.slice(start, GROUP_ROWS)


def write_parquet(groups: Iterable[pa.Table | Repeated], schema: pa.Schema, out: Writer) -> None:
    """Write row groups of ``GROUP_ROWS`` rows each (the last may be smaller), on all cores.

    Examples
    --------
    >>> import io
    >>> out, whole = io.BytesIO(), pa.table({"a": pa.array(["y", "x"]).dictionary_encode()})
    >>> write_parquet(row_groups(whole), whole.schema, out)
    >>> pq.read_table(io.BytesIO(out.getvalue()), read_dictionary=["a"])["a"].chunk(0).dictionary.to_pylist()
    ['x', 'y']
    """
    stored = stored_schema(schema)
    rest = iter(groups)
    first = list(itertools.islice(rest, 2))
    if len(first) < 2:
        with pq.ParquetWriter(out, stored) as writer:
            for group in first:
                _write_group(group, stored, writer)
        return
    from hushtable.io.footer import join_groups
    from hushtable.parallel import each

    def written(group: pa.Table | Repeated) -> bytes:
        own = io.BytesIO()
        with pq.ParquetWriter(own, stored) as writer:
            _write_group(group, stored, writer)
        return own.getvalue()

    join_groups(each(written, itertools.chain(first, rest)), out)


def _write_group(group: pa.Table | Repeated, stored: pa.Schema, writer: pq.ParquetWriter) -> None:
    short = group.table if isinstance(group, Repeated) else group
    table = pa.table(
        [with_sorted_dictionary(c, pa.int32()) if pa.types.is_dictionary(c.type) else c for c in short.columns],
        schema=stored,
    )
    if isinstance(group, Repeated):
        table = Repeated(table, group.times).rows()
    try:
        # one chunk per column: the ends of chunks would show in the pages
        writer.write_table(table.combine_chunks(), row_group_size=GROUP_ROWS)
    except pa.ArrowInvalid:  # its message quotes the value
        raise OutputError(
            "The table has values that Parquet cannot hold, such as times of the far future.",
            code="unsupported-type",
            hint="Convert such columns to text, or write CSV.",
        ) from None


# Writing a table piece by piece, with the same bytes as at once.


def write_pieces(pieces: Iterable[pa.Table | Repeated], schema: pa.Schema, path: Path) -> None:
    """Write a table from its pieces, completely or not at all.

    Parameters
    ----------
    pieces : iterable of pyarrow.Table or Repeated
        In order; for Parquet each is a row group (``hushtable.io.layout``).
    schema : pyarrow.Schema
    path : path
        CSV unless it ends in ``.parquet``.

    Examples
    --------
    >>> import tempfile
    >>> table = pa.table({"a": [1, 2, 3]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pieces([table.slice(0, 2), table.slice(2)], table.schema, Path(folder, "t.csv"))
    ...     Path(folder, "t.csv").read_text().split()
    ['a', '1', '2', '3']
    """
    with atomic_file(path) as out:
        if path.suffix == ".parquet":
            write_parquet(pieces, schema, out)
            return
        write_csv_header(schema.names, out)
        for text in each(_text, pieces):
            out.write(text)


def _text(piece: pa.Table | Repeated) -> bytes:
    out = io.BytesIO()
    write_csv_rows(piece.rows() if isinstance(piece, Repeated) else piece, out)
    return out.getvalue()
