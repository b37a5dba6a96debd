"""The choice of the engine: the requested one, or the one that fits the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Literal, get_args

import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.errors import UsageError, did_you_mean
from hushtable.io.sources import is_address, table_sources
from hushtable.io.urls import DATABASES, Source, Url
from hushtable.parallel import whole_number
from hushtable.release.plan import Plan

LARGE_CELLS = 50_000_000
"""Number of cells in Parquet files and databases from which a table counts as large.

In memory, they take about 1.5 GiB while the table is published.
"""

STREAM_FROM = "HUSHTABLE_STREAM_FROM"
"""Environment variable: number of cells from which a table counts as large, for machines with less or more memory."""

LARGE_BYTES = 256 << 20
"""Number of bytes of other files from which a table counts as large."""

Engine = Literal["auto", "local", "stream", "spark"]


def choose(engine: str, sources: Sequence[Source], plan: Plan, *, part_rows: int | None = None) -> Engine:
    """Return the engine for a table in files or databases.

    Parameters
    ----------
    engine : {"auto", "local", "stream", "spark"}
        ``auto`` is ``stream`` for large tables, if the policy allows that, and ``local`` otherwise.
    sources : sequence of path or address
        Files, folders, patterns, databases and stores.
    plan : Plan
    part_rows : int, optional
        Only streaming writes parts.

    Raises
    ------
    UsageError
        If there is no such engine, or the options cannot be combined.

    Examples
    --------
    >>> import hushtable as ht
    >>> plan = ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]).plan()
    >>> choose("auto", [], plan, part_rows=100)
    'stream'
    >>> choose("sprak", [], plan)
    Traceback (most recent call last):
    hushtable.errors.UsageError: There is no engine 'sprak'. Did you mean 'spark'?
    """
    known = get_args(Engine)
    if engine not in known:
        raise UsageError(f"There is no engine {engine!r}.", code="unknown-engine", hint=did_you_mean(engine, known))
    if part_rows is not None and engine in ("local", "spark"):
        raise UsageError(
            "Only streaming can write a table in parts.",
            code="part-rows",
            hint="Remove the engine, or the rows of a part.",
        )
    if engine != "auto":
        return engine  # type: ignore[return-value]
    if part_rows is not None:
        return "stream"
    if plan.table.treated or plan.table.shown_weight is not None or not is_large(table_sources(sources)):
        return "local"
    from hushtable.engines.stream import is_streamable  # small tables need no streaming engine

    return "stream" if is_streamable(plan.algorithm) else "local"


def is_large(sources: Sequence[Source]) -> bool:
    """Whether a table should be streamed.

    Databases count their rows, but only as many as needed.

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
    # the factor by which this machine's limit differs from the default
    share = (whole_number(STREAM_FROM, "cells", "stream-from") or LARGE_CELLS) / LARGE_CELLS
    return cells / LARGE_CELLS + size / LARGE_BYTES >= share


def _cells_at(address: str) -> int:
    """Number of cells in a database table or a file in a store, or enough of them to count as large."""
    if Url.of(address).scheme in DATABASES:
        from hushtable.io.sql import count_sql, sql_names

        columns = max(len(sql_names(address)), 1)
        return columns * count_sql(address, LARGE_CELLS // columns + 1)
    from hushtable.io.remote import open_remote

    with open_remote(address) as file:
        return _parquet_cells(file) or 0


def _parquet_cells(file: Path | IO[bytes]) -> int | None:
    """Number of cells in a Parquet file; None if it is not one, which reading it will report."""
    try:
        facts = pq.read_metadata(file)
    except (pa.ArrowException, OSError):
        return None
    return int(facts.num_rows) * int(facts.num_columns)
