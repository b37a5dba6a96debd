"""The public files of a release, however it was made: by which engine, from which kind of source, in which format.

Everything that may be handed over is in them, byte by byte, so that releases can be compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.api import run_plan
from hushtable.engines import stream
from hushtable.engines.release import Release
from hushtable.errors import HushtableError
from hushtable.io.files import read_table, write_table
from hushtable.release.plan import Plan
from hushtable.testing.replay import by_content

Files = dict[str, bytes]
"""The files of a public folder by name."""

_SHARED = "/dev/shm"  # noqa: S108 (folders in it are made by tempfile)
MEMORY = _SHARED if os.access(_SHARED, os.W_OK | os.X_OK) else None
"""A folder in memory, if there is one: releases are flushed to disk, and there are many here."""


def local_files(table: pa.Table, plan: Plan) -> Files:
    """Return the public files of a release made in memory, as CSV and as Parquet."""
    return _saved(run_plan(table, plan))


def _saved(release: Release) -> Files:
    found: Files = {}
    with TemporaryDirectory(dir=MEMORY) as name:
        for format in ("csv", "parquet"):
            found |= _read(release.save(Path(name) / format, format=format), format)
    return found


def sampled_files(table: pa.Table, plan: Plan) -> Files:
    """Return the public files of a release made in memory, with a sample drawn from it if there can be one."""
    release = run_plan(table, plan)
    found = _saved(release)
    try:
        drawn: Any = release.sample(seed=1)
    except HushtableError as error:
        drawn = error
    return found | {"sample": repr(drawn.to_pydict() if isinstance(drawn, pa.Table) else drawn).encode()}


def frame_files(table: pa.Table, plan: Plan, library: str = "pandas") -> Files:
    """Return the public files of a release of a frame of pandas or polars, and the published frame with its types."""
    if library == "pandas":
        import pandas as pd

        # pandas infers the types, as its readers do
        frame: Any = pd.DataFrame({name: table.column(name).to_pylist() for name in table.column_names})
    else:
        import polars as pl

        frame = pl.from_arrow(table)
    release: Release[Any] = run_plan(frame, plan)
    shown = {name: (str(release.frame[name].dtype), release.frame[name].to_list()) for name in release.frame.columns}
    return _saved(release) | {"frame": repr(shown).encode()}


def file_files(table: pa.Table, plan: Plan, source: str = "t.csv") -> Files:
    """Return the public files of a release of a file or an SQLite database, and the same published as a database."""
    with TemporaryDirectory(dir=MEMORY) as name:
        place = f"sqlite:///{name}/{source}?table=t" if source.endswith(".db") else Path(name) / source
        write_table(table, place)
        release = run_plan(read_table(place), plan)
        write_table(release.table, f"sqlite:///{name}/published.db?table=t")
        return _saved(release) | {"published.db": Path(name, "published.db").read_bytes()}


def spreadsheet_files(table: pa.Table, plan: Plan) -> Files:
    """Return the public files of a release for spreadsheets."""
    document = {**plan.document, "output": {"reader": "spreadsheet"}}
    found = replace(plan, guards=(), document=document)
    # replayed decisions of guards do not suit the checks of a new plan
    object.__setattr__(found, "guards", plan.guards)
    return local_files(table, found)


def streamed_files(table: pa.Table, plan: Plan, formats: Sequence[str] = ("csv", "parquet")) -> Files:
    """Return the public files of a release streamed from a file."""
    found: Files = {}
    with TemporaryDirectory(dir=MEMORY) as name:
        pq.write_table(table, Path(name) / "t.parquet")
        for format in formats:
            stream.run_files([Path(name) / "t.parquet"], plan, Path(name) / format, format=format)
            found |= _read(Path(name) / format, format)
    return found


def spark_files(table: pa.Table, plan: Plan, *, parts: int = 3, part_rows: int = 7) -> Files:
    """Return the public files of a release made by Spark from several files: as CSV, as Parquet, and in parts.

    Needs pyspark and Java; uses the running session, or starts one.

    Parameters
    ----------
    table : pyarrow.Table
    plan : Plan
    parts : int
        Number of input files.
    part_rows : int
        Rows per output part.
    """
    from hushtable.engines.spark import part_files
    from hushtable.engines.spark.release import run_frame
    from hushtable.engines.spark.session import parquet_files, read_frame, spark_session

    plan = by_content(table, plan)
    found: Files = {}
    one_file = part_files.ONE_FILE
    with spark_session(None) as spark, TemporaryDirectory(dir=MEMORY) as name:
        sources = [Path(name) / f"{number}.parquet" for number in range(parts)]
        for number, source in enumerate(sources):
            begin, end = (table.num_rows * at // parts for at in (number, number + 1))
            pq.write_table(table.slice(begin, end - begin), source)
        paths = list(map(str, sources))
        release = run_frame(read_frame(spark, paths), plan, files=parquet_files(paths))
        try:
            part_files.ONE_FILE = part_rows
            for where, more in (("csv", {}), ("parquet", {"parts": False}), ("parts", {"parts": True})):
                format = "csv" if where == "csv" else "parquet"
                found |= _read(release.save(Path(name) / where, format=format, **more), where)
        finally:
            part_files.ONE_FILE = one_file
            release.unpersist()
    return found


def _read(folder: Path, format: str) -> Files:
    files = (path for path in sorted(folder.rglob("*")) if not path.is_dir())
    return {f"{format}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}


SOURCES: dict[str, Callable[[pa.Table, Plan], Files]] = {
    "in memory": sampled_files,
    "pandas": frame_files,
    "polars": partial(frame_files, library="polars"),
    "CSV": file_files,
    "SQLite": partial(file_files, source="t.db"),
    "spreadsheet": spreadsheet_files,
    "streamed": streamed_files,
}
"""Ways to make a release on one machine."""
