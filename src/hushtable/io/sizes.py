"""Whether a table in files is too large to be held in memory as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet as pq

__all__ = ["LARGE_BYTES", "LARGE_CELLS", "is_large"]

LARGE_CELLS = 50_000_000
"""Cells of Parquet files from which a table is large: held in memory, they take about 1.5 GiB while it is published."""

LARGE_BYTES = 256 << 20
"""Bytes of other files from which a table is large."""


def is_large(files: Sequence[Path]) -> bool:
    """Whether a table should rather be streamed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"a": [1]}), Path(folder, "t.parquet"))
    ...     is_large([Path(folder, "t.parquet")])
    False
    """
    cells, size = 0, 0
    for file in files:
        found = _parquet_cells(file) if file.suffix.lower() in (".parquet", ".pq") else None
        if found is not None:
            cells += found
        elif file.is_file():
            size += file.stat().st_size
    return cells / LARGE_CELLS + size / LARGE_BYTES >= 1


def _parquet_cells(file: Path) -> int | None:
    """How many cells a Parquet file has; None where it is none, which reading it will tell."""
    try:
        facts = pq.read_metadata(file)
    except (pa.ArrowException, OSError):
        return None
    return int(facts.num_rows) * int(facts.num_columns)
