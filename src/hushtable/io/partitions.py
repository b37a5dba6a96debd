"""Folders such as ``insurer=AOK``, in which Spark, Hive and others store the rows with a common value.

The column is in no file: the folder's name gives its value. Only folders below the given one count, so that a release
in ``date=2026-01-31/release.csv`` is read without such a column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

_MISSING = "__HIVE_DEFAULT_PARTITION__"


class PartitionFile(type(Path())):  # type: ignore[misc]
    """A file with the column values from the names of its folders.

    Attributes
    ----------
    values : mapping of str to str or None
        By column, the outermost folder first.
    base : str
        The given folder.
    """

    values: Mapping[str, str | None] = {}
    base: str = ""


def files_below(folder: Path, wanted: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a folder, and of folders named ``column=value`` in it, in the order of their names.

    Hidden ones and those that begin with ``_`` are skipped.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Path(place, "town=S%C3%A3o Paulo").mkdir()
    ...     _ = Path(place, "town=S%C3%A3o Paulo", "a.csv").write_text("age")
    ...     [(file.name, file.values) for file in files_below(Path(place), lambda file: True)]
    [('a.csv', {'town': 'São Paulo'})]
    """
    return list(_walk(folder, folder, {}, wanted))


def _walk(base: Path, folder: Path, values: Mapping[str, str | None], wanted: Callable[[Path], bool]) -> Iterator[Path]:
    inside = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    for path in inside:
        if path.is_file() and wanted(path):
            if values:
                file = PartitionFile(path)
                file.values, file.base = dict(values), os.fspath(base)
                yield file
            else:
                yield path
    for path in inside:
        name, equals, value = path.name.partition("=")
        if equals and name and path.is_dir():
            text = unquote(value)
            yield from _walk(base, path, {**values, unquote(name): None if text == _MISSING else text}, wanted)


def own_columns(file: Any, columns: Sequence[str] | None, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns to read from a file, and all requested columns including those of its folders.

    Parameters
    ----------
    file : PartitionFile
    columns : sequence of str, optional
        The requested columns. Defaults to all.
    names : sequence of str
        The columns in the file. If a folder is named like one of them, the file's own column counts.
    """
    given = [name for name in file.values if name not in names]
    wanted = list(columns) if columns is not None else [*names, *given]
    # any column serves to count rows
    return [name for name in wanted if name not in given] or list(names[:1]), wanted


def with_values(table: pa.Table, file: Any, wanted: Sequence[str]) -> pa.Table:
    """Return a table of a file with the columns that its folders give, as text.

    Examples
    --------
    >>> file = PartitionFile("town=Oslo/a.parquet")
    >>> file.values = {"town": "Oslo"}
    >>> with_values(pa.table({"age": [1, 2]}), file, ["town", "age"]).to_pydict()
    {'town': ['Oslo', 'Oslo'], 'age': [1, 2]}
    """
    columns = {}
    for name in wanted:
        if name in table.column_names:
            columns[name] = table.column(name)
        else:
            places = pa.repeat(pa.scalar(0, pa.int32()), table.num_rows)
            if file.values[name] is None:
                places = pa.nulls(table.num_rows, pa.int32())
            columns[name] = pa.DictionaryArray.from_arrays(places, pa.array([file.values[name] or ""], pa.string()))
    return pa.table(columns)
