"""Reading Excel workbooks (.xlsx): one sheet, with column names in the first row. Needs openpyxl."""

from __future__ import annotations

import datetime as dt
import importlib
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pyarrow as pa

from hushtable.errors import DataError, counted
from hushtable.io.frames import mixed_kinds
from hushtable.io.names import check_names, name_rows, select_names
from hushtable.io.sniff import open_bytes
from hushtable.io.text import to_labels

_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
_READABLE = ("text and numbers", "text and dates")
_ITEM = 32
"""Bytes that an element, an attribute or an empty cell counts as."""


def read_excel(
    path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, sheet: str | None = None
) -> pa.Table:
    """Read one sheet of a workbook, formulas as their last computed values.

    All columns are text, as in CSV: a sheet declares no types, and one inferred from its cells would depend on records
    that may be suppressed.

    Parameters
    ----------
    path : path
    columns : sequence of str, optional
        Return only these, in this order.
    sheet : str, optional
        Its name; defaults to the first one.

    Raises
    ------
    DataError
        Also if formulas have no stored result: these cells would be silently missing.

    Examples
    --------
    >>> import tempfile, openpyxl
    >>> book = openpyxl.Workbook()
    >>> book.active.append(["age", "sex"]); book.active.append([22, "m"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book.save(Path(folder, "t.xlsx"))
    ...     read_excel(Path(folder, "t.xlsx")).to_pydict(), sheet_names(Path(folder, "t.xlsx"))
    ({'age': ['22'], 'sex': ['m']}, ['Sheet'])
    """
    file = Path(path)
    where = f"The file {str(file)!r}"
    with open_bytes(file):  # reports a missing file or a folder
        pass
    with _book(file) as book:
        found = _sheet(book, sheet, where)
        rows = _rows(found, file)
        header = list(next(rows, ()))
        while header and header[-1] is None:
            header.pop()
        if not header:
            raise DataError(f"{where} is empty.", code="empty-file", hint="Put the column names into its first row.")
        names = check_names(["" if name is None else name for name in name_rows(header)], where)
        wanted = select_names(names, columns, where)
        body = [row for row in rows if any(cell is not None for cell in row)]
        if not body:
            raise DataError(f"{where} has a header but no rows.", code="no-rows", hint=_others(found))
        extra = sum(any(cell is not None for cell in row[len(names) :]) for row in body)
        if extra:
            raise DataError(
                f"{where} has {counted(extra, 'row', 'rows')} with cells beyond the named columns.",
                code="ragged-rows",
                hint="Name every column in the first row, or clear those cells.",
            )
        _check_formulas(file, found, names, where)
    places = [names.index(name) for name in wanted]
    data = [_column(names[p], [row[p] if p < len(row) else None for row in body], where) for p in places]
    return pa.table(data, names=wanted)


def sheet_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of a workbook's sheets, in their order."""
    with _book(Path(path)) as book:
        return [sheet.title for sheet in book.worksheets]


def unpacked_excel(path: str | os.PathLike[str], most: int) -> int:
    """Return the approximate unpacked size of a workbook in bytes; stops early with a number above ``most``.

    Raises
    ------
    DataError
        If it is damaged.

    Examples
    --------
    >>> import tempfile, openpyxl
    >>> book = openpyxl.Workbook()
    >>> book.active.append(["age"]); book.active.append([22])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book.save(Path(folder, "t.xlsx"))
    ...     unpacked_excel(Path(folder, "t.xlsx"), 1 << 20) < 1 << 20, unpacked_excel(Path(folder, "t.xlsx"), 9) > 9
    (True, True)
    """
    file = Path(path)
    seen = stated_size(file)
    try:
        with zipfile.ZipFile(file) as packed:
            items = 0
            for part in packed.infolist():
                if seen <= most and items * _ITEM <= most:
                    items += _items(packed, part, most // _ITEM - items)
            seen = max(seen, items * _ITEM)
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, NotImplementedError, expat.ExpatError):
        seen = -1
    if seen < 0:
        raise _damaged(file)
    if seen > most:
        return seen
    return max(seen, _text_bytes(file, most))


def stated_size(path: Path) -> int:
    """Return the unpacked size of a ZIP file as stated; no program unpacks more of it.

    Raises
    ------
    DataError
        If it is damaged, or a part is compressed with another method than Deflate: Python unpacks those without a
        limit, whatever size is stated.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            parts = packed.infolist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        raise _damaged(path) from None
    if any(part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in parts):
        raise DataError(
            "The file has parts that are compressed with another method than Deflate.",
            code="compression",
            hint="Save or pack it again with the usual compression.",
        )
    return sum(part.file_size for part in parts)


def _items(packed: zipfile.ZipFile, part: zipfile.ZipInfo, most: int) -> int:
    """Number of elements and attributes of a part, which a reader turns into objects; counts up to about ``most``."""
    items = 0

    def begin(_: str, attributes: list[str]) -> None:
        nonlocal items
        items += 1 + len(attributes) // 2

    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    parser.StartElementHandler = begin
    with packed.open(part) as stream:
        while items <= most and (piece := stream.read(1 << 16)):
            try:
                parser.Parse(piece)
            except expat.ExpatError:
                # a picture, for example; a sheet that is not XML is detected on reading
                return items
    return items


def _text_bytes(path: Path, most: int) -> int:
    """The size of the sheets as text: cells may share one long text, and rows and columns may be omitted."""
    seen = 0
    with _book(path) as book:
        for sheet in book.worksheets:
            for row in _rows(sheet, path):
                seen += _ITEM * (1 + len(row)) + sum(len(cell) for cell in row if isinstance(cell, str))
                if seen > most:
                    return seen
    return seen


@contextmanager
def _book(path: Path, *, formulas: bool = False) -> Iterator[Any]:
    try:
        openpyxl: Any = importlib.import_module("openpyxl")
    except ImportError:
        raise DataError(
            "Reading .xlsx files needs the package openpyxl.",
            code="needs-openpyxl",
            hint="Install it with: pip install 'hushtable[excel]', or save the sheet as CSV.",
        ) from None
    with path.open("rb") as stream:
        book = None
        try:
            # rows are read on demand, so that a large sheet is never in memory as objects
            book = openpyxl.load_workbook(stream, data_only=not formulas, read_only=True, keep_links=False)
        except MemoryError:
            raise
        except Exception:  # a damaged file may cause any error: zlib, XML, a missing attribute, ...
            book = None
        if book is None or not book.worksheets:
            raise _damaged(path)
        yield book


def _rows(sheet: Any, path: Path, *, values_only: bool = True) -> Iterator[tuple[Any, ...]]:
    # some writers get the declared size wrong
    sheet.reset_dimensions()
    rows = iter(sheet.iter_rows(values_only=values_only))
    while True:
        row = None
        try:
            row = next(rows)
        except StopIteration:
            return
        except MemoryError:
            raise
        except Exception:
            row = None
        if row is None:
            raise _damaged(path)
        yield row


def _damaged(path: Path) -> DataError:
    return DataError(
        f"The file {str(path)!r} is not a complete Excel workbook.",
        code="damaged-file",
        hint="Save it again as .xlsx, or as CSV.",
    )


def _sheet(book: Any, wanted: str | None, where: str) -> Any:
    if wanted is None:
        return book.worksheets[0]
    found = next((sheet for sheet in book.worksheets if sheet.title == wanted), None)
    if found is None:
        names = ", ".join(repr(sheet.title) for sheet in book.worksheets)
        raise DataError(f"{where} has no sheet {wanted!r}.", code="no-sheet", hint=f"Its sheets: {names}.")
    return found


def _others(sheet: Any) -> str:
    others = [repr(other.title) for other in sheet.parent.worksheets if other is not sheet]
    return f"The sheet {sheet.title!r} was read; others: {', '.join(others)}." if others else "Add the rows."


def _check_formulas(path: Path, sheet: Any, names: Sequence[str], where: str) -> None:
    """Refuse a sheet with formulas that no program has computed: they are read as empty cells."""
    if not _may_have_formulas(path):
        return
    lacking: dict[str, int] = {}
    with _book(path, formulas=True) as book:
        written = next(s for s in book.worksheets if s.title == sheet.title)
        rows = zip(_rows(written, path, values_only=False), _rows(sheet, path), strict=True)
        for row, values in islice(rows, 1, None):
            for i, cell in enumerate(row):
                if cell.data_type == "f" and values[i] is None:
                    name = names[i] if i < len(names) else "(no name)"
                    lacking[name] = lacking.get(name, 0) + 1
    if lacking:
        said = ", ".join(f"{name!r} ({n:,})" for name, n in lacking.items())
        raise DataError(
            f"{where} has formulas whose results are not stored, in {said}.",
            code="formulas",
            hint="Open it in a spreadsheet program and save it, or replace the formulas with their values.",
        )


def _may_have_formulas(path: Path) -> bool:
    """Whether any sheet has a formula at all: most have none, and need not be read twice."""
    with zipfile.ZipFile(path) as packed:
        for name in packed.namelist():
            if "worksheets/" in name and name.endswith(".xml"):
                before = b""
                with packed.open(name) as stream:
                    while piece := stream.read(1 << 20):
                        # in a sheet, only a formula is an element named f
                        if _FORMULA.search(before + piece):
                            return True
                        before = piece[-16:]
    return False


def _label(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if type(cell) is int or isinstance(cell, dt.time | dt.timedelta):
        return str(cell)  # Arrow's largest number has 64 bits
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        cell = cell.date()
    text: str | None = to_labels(pa.array([cell], from_pandas=True))[0].as_py()
    return text


def _column(name: str, cells: list[Any], where: str) -> pa.Array:
    mixed = mixed_kinds(cells)
    if mixed and mixed not in _READABLE:
        raise DataError(
            f"Column {name!r} of {where[0].lower()}{where[1:]} mixes {mixed}.",
            code="mixed-types",
            hint="Give all cells of the column one format.",
        )
    labels = {cell: _label(cell) for cell in set(cells)}
    return pa.array([labels[cell] for cell in cells], pa.string())
