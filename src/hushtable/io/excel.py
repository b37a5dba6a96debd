"""Reading Excel workbooks (.xlsx): the first sheet, whose first row holds the names. Needs openpyxl."""

from __future__ import annotations

import datetime as dt
import importlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.kinds import mixed_kinds
from hushtable.io.names import check_names, select_names
from hushtable.io.sniff import open_bytes
from hushtable.io.text import to_labels

__all__ = ["read_excel"]

_READABLE = ("text and numbers", "text and dates")


def read_excel(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the first sheet of a workbook, formulas as their last computed values.

    A column that holds text beside numbers or dates is read as text.

    Parameters
    ----------
    path : path
    columns : sequence of str, optional
        Return only these, in this order.

    Examples
    --------
    >>> import tempfile, openpyxl
    >>> book = openpyxl.Workbook()
    >>> book.active.append(["age", "sex"]); book.active.append([22, "m"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book.save(Path(folder, "t.xlsx"))
    ...     read_excel(Path(folder, "t.xlsx")).to_pydict()
    {'age': [22], 'sex': ['m']}
    """
    file = Path(path)
    where = f"The file {str(file)!r}"
    with open_bytes(file):  # a missing file or a folder is reported in our words
        pass
    rows = _rows(file)
    header = list(next(rows, ()))
    while header and header[-1] is None:
        header.pop()
    if not header:
        raise DataError(f"{where} is empty.", code="empty-file", hint="The names belong in its first row.")
    names = check_names(["" if name is None else name for name in header], where)
    wanted = select_names(names, columns, where)
    body = [row for row in rows if any(cell is not None for cell in row)]
    if not body:
        raise DataError(f"{where} has a header but no rows.", code="no-rows", hint="Only the first sheet is read.")
    extra = sum(any(cell is not None for cell in row[len(names) :]) for row in body)
    if extra:
        raise DataError(
            f"{where} has {extra} rows with cells beyond the named columns.",
            code="ragged-rows",
            hint="Name every column in the first row, or clear those cells.",
        )
    places = [names.index(name) for name in wanted]
    data = [_column(names[p], [row[p] if p < len(row) else None for row in body], where) for p in places]
    return pa.table(data, names=wanted)


def _rows(path: Path) -> Iterator[tuple[Any, ...]]:
    try:
        openpyxl: Any = importlib.import_module("openpyxl")
    except ImportError:
        raise DataError(
            "Reading .xlsx files needs the package openpyxl.",
            code="needs-openpyxl",
            hint="Install it with: pip install 'hushtable[excel]', or save the sheet as CSV.",
        ) from None
    sheet = None
    try:
        # Not read_only: that mode trusts the sheet's declared size, which some writers get wrong.
        sheet = openpyxl.load_workbook(path, data_only=True).worksheets[0]
    except MemoryError:
        raise
    except Exception:  # what a damaged file trips in there is anybody's guess: zlib, XML, a missing attribute, ...
        sheet = None
    if sheet is None:
        raise DataError(
            f"The file {str(path)!r} is not a complete Excel workbook.",
            code="damaged-file",
            hint="Save it again as .xlsx, or as CSV.",
        )
    return iter(sheet.iter_rows(values_only=True))


def _label(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if type(cell) is int:
        return str(cell)  # Arrow's largest has 64 bits
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        cell = cell.date()
    text: str | None = to_labels(pa.array([cell]))[0].as_py()
    return text


def _column(name: str, cells: list[Any], where: str) -> pa.Array:
    mixed = mixed_kinds(cells)
    if mixed in _READABLE:
        # numbers beside "n/a": what the same sheet would be as CSV, so that missing_values can name the marker
        labels = {cell: _label(cell) for cell in set(cells)}
        return pa.array([labels[cell] for cell in cells], pa.string())
    if mixed:
        raise DataError(
            f"Column {name!r} of {where[0].lower()}{where[1:]} mixes {mixed}.",
            code="mixed-types",
            hint="Give all cells of the column one format.",
        )
    if any(isinstance(c, dt.datetime) for c in cells):
        cells = [dt.datetime(c.year, c.month, c.day) if type(c) is dt.date else c for c in cells]
    array = None
    try:
        if any(isinstance(c, float) for c in cells):
            cells = [None if c is None else float(c) for c in cells]
        array = pa.array(cells, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        array = None
    if array is None:
        raise DataError(
            f"Column {name!r} of {where[0].lower()}{where[1:]} cannot be read.",
            code="mixed-types",
            hint="It may hold numbers beyond 64 bits; format the column as text.",
        )
    return array
