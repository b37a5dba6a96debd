"""Reading CSV: every column as dictionary-encoded text.

Types are decided later, by ``hushtable.schema``: a postcode keeps its leading zero and an empty cell stays ``''``.
UTF-8 with or without a byte-order mark, any line endings, quoted line breaks, and .gz are supported. Empty lines are
skipped, except in files with one column, where an empty line is an empty cell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from hushtable.errors import DataError
from hushtable.io.formulas import bare_formulas
from hushtable.io.formulas import unescape_formulas as unescape
from hushtable.io.names import select_names
from hushtable.io.sniff import CsvHead, diagnose, ends_inside_quotes, not_utf8, read_head

_TEXT = pa.dictionary(pa.int32(), pa.string())
_Escapes = set[tuple[str, bool]]
_BLOCK = 1 << 22

T = TypeVar("T")


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    unescape_formulas: bool = False,
) -> pa.Table:
    r"""Read a CSV file; every column is dictionary-encoded text.

    Parameters
    ----------
    path : path
        A name that ends in .gz is decompressed.
    delimiter : str, optional
        Defaults to the one detected: comma, semicolon, tab or bar.
    columns : sequence of str, optional
        Read only these, in this order.
    unescape_formulas : bool
        Remove the apostrophes that ``hushtable.io.formulas.guard_table`` puts before cells a spreadsheet would run.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    DataError
        If the file cannot be read; the message gives line numbers and counts, never cells.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("zip;age\n01234;22\n01234;\n")
    ...     read_csv(Path(folder, "t.csv"))["zip"].to_pylist()
    ['01234', '01234']
    """
    file = Path(path)
    head, names, options = _prepare(file, delimiter, columns, unescape_formulas)
    table = _guarded(file, head, lambda: pa_csv.read_csv(os.fspath(file), **options))
    table = _finish(file, table.unify_dictionaries(), names, set() if unescape_formulas else None)
    _check_nul(file, table)
    return table


def iter_csv(
    path: str | os.PathLike[str],
    batch_rows: int = 65_536,
    *,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    unescape_formulas: bool = False,
) -> Iterator[pa.RecordBatch]:
    r"""Read a CSV file in batches of ``batch_rows`` rows (the last may be shorter); see ``read_csv``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("a\n1\n2\n3\n")
    ...     [b.num_rows for b in iter_csv(Path(folder, "t.csv"), 2)]
    [2, 1]
    """
    file = Path(path)
    head, names, options = _prepare(file, delimiter, columns, unescape_formulas)
    reader = _guarded(file, head, lambda: pa_csv.open_csv(os.fspath(file), **options))

    def blocks() -> Iterator[pa.Table]:
        escapes: _Escapes | None = set() if unescape_formulas else None
        while True:
            block = _guarded(file, head, lambda: next(reader, None))
            if block is None:
                return
            table = _finish(file, pa.Table.from_batches([block]), names, escapes)
            _check_nul(file, table)
            yield table

    from hushtable.io.batches import rebatch

    yield from rebatch(blocks(), batch_rows)


def csv_names(
    path: str | os.PathLike[str], *, delimiter: str | None = None, unescape_formulas: bool = False
) -> list[str]:
    r"""Return the column names of a CSV file without reading its rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("age|sex\n")
    ...     csv_names(Path(folder, "t.csv"))
    ['age', 'sex']
    """
    return _names(read_head(Path(path), delimiter), unescape_formulas)


def _names(head: CsvHead, unescape_formulas: bool) -> list[str]:
    if not unescape_formulas:
        return list(head.names)
    names: list[str] = unescape(pa.array(head.names, pa.string())).to_pylist()
    return names


def _prepare(
    path: Path, delimiter: str | None, columns: Sequence[str] | None, unescape_formulas: bool
) -> tuple[CsvHead, list[str], dict[str, object]]:
    """The file's head, the names of the columns to return, and the options for Arrow's reader."""
    head = read_head(path, delimiter)
    shown = _names(head, unescape_formulas)
    wanted = select_names(shown, columns, f"The file {str(path)!r}")
    if not head.rows:
        raise DataError(
            f"The file {str(path)!r} has a header but no rows.",
            code="no-rows",
            hint="Check that the export ran to its end.",
        )
    if _guarded(path, head, lambda: ends_inside_quotes(path, head.delimiter)):
        raise DataError(
            f"The file {str(path)!r} ends inside a quoted field.",
            code="unclosed-quote",
            hint="Look for a quotation mark that is not closed; the text after it was read as one cell.",
        )
    written = dict(zip(shown, head.written, strict=True))
    options: dict[str, object] = {
        "read_options": pa_csv.ReadOptions(skip_rows=head.skip, block_size=_BLOCK),
        "parse_options": pa_csv.ParseOptions(
            delimiter=head.delimiter, newlines_in_values=True, ignore_empty_lines=len(head.names) > 1
        ),
        "convert_options": pa_csv.ConvertOptions(
            column_types=dict.fromkeys(head.written, _TEXT),
            strings_can_be_null=False,
            include_columns=[written[name] for name in wanted],
        ),
    }
    return head, wanted, options


def _guarded(path: Path, head: CsvHead, step: Callable[[], T]) -> T:
    """Run one step of Arrow's reader; its messages quote rows, so they are replaced, never forwarded."""
    problem = ""
    try:
        return step()
    except pa.ArrowInvalid as error:
        problem = "encoding" if "invalid UTF8" in str(error) else "rows"
    except OSError:
        problem = "damaged"
    if problem == "encoding":
        raise not_utf8(path)
    if problem == "damaged":
        raise DataError(
            f"The file {str(path)!r} cannot be read to its end.",
            code="damaged-file",
            hint="Copy or export it again.",
        )
    raise diagnose(path, head)


def _finish(path: Path, table: pa.Table, names: list[str], escapes: _Escapes | None) -> pa.Table:
    """Name the columns, and remove the apostrophes of guarded cells if ``escapes`` tracks them."""
    table = table.rename_columns(names)
    if escapes is None:
        return table
    columns = []
    for name, column in zip(names, table.columns, strict=True):
        chunks = []
        for chunk in column.chunks:
            plain = unescape(chunk.dictionary)
            if not plain.equals(chunk.dictionary):
                escapes.add((name, True))
            if pc.any(bare_formulas(chunk.dictionary)).as_py():
                escapes.add((name, False))
            chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, plain))
        if {(name, True), (name, False)} <= escapes:
            # two cells that differ in the file would become equal
            raise DataError(
                f"Column {name!r} of the file {str(path)!r} has cells that a spreadsheet would run both with the "
                "apostrophe that guards them and without.",
                code="half-escaped",
                hint="Use the file as it was written, or write all of them in one way.",
            )
        columns.append(pa.chunked_array(chunks, type=_TEXT))
    return pa.table(columns, names=names)


def _check_nul(path: Path, table: pa.Table) -> None:
    for name, column in zip(table.column_names, table.columns, strict=True):
        dictionaries = {id(c.dictionary): c.dictionary for c in column.chunks}
        if any(pc.any(pc.match_substring(d, "\0")).as_py() for d in dictionaries.values()):
            raise DataError(
                f"Column {name!r} of the file {str(path)!r} contains NUL bytes.",
                code="nul-bytes",
                hint="Export it again as UTF-8 text.",
            )
