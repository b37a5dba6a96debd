"""Pages of large tables: only the row groups that hold a page's rows are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

GROUP_ROWS = 2_000
"""Rows per row group in the files that pages are read from."""


def write_paged(table: pa.Table, path: Path) -> None:
    """Write a table so that pages of it can be read, completely or not at all."""
    from hushtable.io.atomic import atomic_file

    with atomic_file(path) as out:
        pq.write_table(table, out, row_group_size=GROUP_ROWS)


def page(path: Path, offset: int, limit: int) -> pa.Table:
    """Return some rows of a Parquet file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"a": list(range(9))}), Path(folder, "t.parquet"), row_group_size=4)
    ...     page(Path(folder, "t.parquet"), 3, 2)["a"].to_pylist()
    [3, 4]
    """
    with pq.ParquetFile(path) as source:
        wanted, skipped = [], None
        for group, first, last in _groups(source):
            if first < offset + limit and last > offset:
                wanted.append(group)
                skipped = first if skipped is None else skipped
        if skipped is None:
            return source.schema_arrow.empty_table()
        found = source.read_row_groups(wanted)
    return found.slice(offset - skipped, limit)


def rows_at(path: Path, numbers: Sequence[int]) -> pa.Table:
    """Return the rows with these numbers, in this order."""
    wanted = np.asarray(numbers, dtype=np.int64)
    parts, order = [], []
    with pq.ParquetFile(path) as source:
        for group, first, last in _groups(source):
            here = np.flatnonzero((wanted >= first) & (wanted < last))
            if len(here):
                parts.append(source.read_row_groups([group]).take(pa.array(wanted[here] - first)))
                order.append(here)
        if not parts:
            return source.schema_arrow.empty_table()
    back = np.argsort(np.concatenate(order), kind="stable")
    return pa.concat_tables([_plain(part) for part in parts]).take(pa.array(back))


def text_cells(table: pa.Table) -> list[list[str | None]]:
    """Return a table's cells row by row as text; None is missing."""
    columns = [[None if v is None else str(v) for v in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _groups(source: pq.ParquetFile) -> Iterator[tuple[int, int, int]]:
    first = 0
    for group in range(source.metadata.num_row_groups):
        last = first + source.metadata.row_group(group).num_rows
        yield group, first, last
        first = last


def _plain(table: pa.Table) -> pa.Table:
    """Unify dictionaries, which differ between row groups."""
    columns: list[Any] = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)
