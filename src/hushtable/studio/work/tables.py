"""A project's table in memory; the last one is kept, since consecutive jobs usually share a project."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.errors import DataError
from hushtable.io.files import read_table
from hushtable.studio.projects import Project

_last: dict[tuple[Path, float], pa.Table] = {}


def table_of(project: Project) -> pa.Table:
    """Return the project's table."""
    path = project.data
    if path is None:
        raise DataError("The project has no data yet.", code="no-data", hint="Upload a table first.")
    key = (path, path.stat().st_mtime)
    if key not in _last:
        _last.clear()
        _last[key] = _workbook(project) if path.suffix.lower() == ".xlsx" else read_table(path)
    return _last[key]


def column_of(project: Project, name: str) -> pa.ChunkedArray:
    """Return one column of the project's table, from the copy that pages are read from; the rest stays on disk."""
    place = project.facts["columns"].index(name)
    return pq.read_table(project.folder / "preview.parquet", columns=[f"c{place}"]).column(0)


def source_of(project: Project) -> Path | pa.Table:
    """Return the source of the project's table, so that large ones are streamed; a workbook as it was read.

    Linked tables are in a folder.
    """
    if project.linked:
        return project.tables
    path = project.data
    return table_of(project) if path is None or path.suffix.lower() == ".xlsx" else path


def _workbook(project: Project) -> pa.Table:
    """Return a workbook as it was read when it was opened: reading it again takes a hundred times longer."""
    kept = pq.read_table(project.folder / "preview.parquet")
    return kept.rename_columns(project.facts["columns"]).replace_schema_metadata(None)
