"""Writing a table piece by piece, with the same bytes as at once."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from hushtable.io.atomic import atomic_file
from hushtable.io.csv_write import write_csv_header, write_csv_rows
from hushtable.io.layout import Repeated, write_parquet
from hushtable.parallel import each


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
