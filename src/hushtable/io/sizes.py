"""Whether a table is too large to be held in memory as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.io.sources import is_address
from hushtable.io.urls import DATABASES, Source, Url

__all__ = ["LARGE_BYTES", "LARGE_CELLS", "is_large"]

LARGE_CELLS = 50_000_000
"""Cells of Parquet files and databases from which a table is large: held in memory, they take about 1.5 GiB while it is
published."""

LARGE_BYTES = 256 << 20
"""Bytes of other files from which a table is large."""


def is_large(sources: Sequence[Source]) -> bool:
    """Whether a table should rather be streamed.

    Databases are asked to count, and only as far as it takes to know.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"a": [1]}), Path(folder, "t.parquet"))
    ...     is_large([Path(folder, "t.parquet")])
    False
    """
    cells, size = 0, 0
    for source in sources:
        if is_address(source):
            cells += _cells_at(str(source))
            continue
        file = source if isinstance(source, Path) else Path(source)
        found = _parquet_cells(file) if file.suffix.lower() in (".parquet", ".pq") else None
        if found is not None:
            cells += found
        elif file.is_file():
            size += file.stat().st_size
    return cells / LARGE_CELLS + size / LARGE_BYTES >= 1


def _cells_at(address: str) -> int:
    """How many cells a database's table or a store's file has, or enough of them to be large."""
    if Url.of(address).scheme in DATABASES:
        from hushtable.io.sql.access import count_sql, sql_names

        columns = max(len(sql_names(address)), 1)
        return columns * count_sql(address, LARGE_CELLS // columns + 1)
    from hushtable.io.remote import open_remote

    with open_remote(address) as file:
        return _parquet_cells(file) or 0


def _parquet_cells(file: Path | IO[bytes]) -> int | None:
    """How many cells a Parquet file has; None where it is none, which reading it will tell."""
    try:
        facts = pq.read_metadata(file)
    except (pa.ArrowException, OSError):
        return None
    return int(facts.num_rows) * int(facts.num_columns)
