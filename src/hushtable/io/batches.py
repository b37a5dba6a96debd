"""Cutting a stream of tables into record batches of equal size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from hushtable.errors import ParameterError


def rebatch(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield record batches of ``rows`` rows; only the last may be shorter, and none is empty.

    Examples
    --------
    >>> parts = [pa.table({"a": [1, 2, 3]}), pa.table({"a": [4]})]
    >>> [b.num_rows for b in rebatch(parts, 3)]
    [3, 1]
    """
    if rows < 1:
        raise ParameterError(f"The batch size must be at least 1. Got {rows} instead.")
    held: list[pa.Table] = []
    count = 0
    for table in tables:
        held.append(table)
        count += table.num_rows
        if count >= rows:
            whole = pa.concat_tables(held)
            full = count - count % rows
            for start in range(0, full, rows):
                yield from _together(whole.slice(start, rows))
            held, count = [whole.slice(full)], count - full
    if count:
        yield from _together(pa.concat_tables(held))


def _together(table: pa.Table) -> list[pa.RecordBatch]:
    """One batch; several if a column has more than 2 GiB of text."""
    batches: list[pa.RecordBatch] = table.unify_dictionaries().combine_chunks().to_batches()
    return batches
