"""A project's table in memory; the last one is kept, since most jobs in a row are about one project."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.files import read_table
from hushtable.studio.projects import Project

__all__ = ["table_of"]

_last: dict[tuple[Path, float], pa.Table] = {}


def table_of(project: Project) -> pa.Table:
    """Return the project's table."""
    path = project.data
    if path is None:
        raise DataError("The project has no data yet.", code="no-data", hint="Upload a table first.")
    key = (path, path.stat().st_mtime)
    if key not in _last:
        _last.clear()
        _last[key] = read_table(path)
    return _last[key]
