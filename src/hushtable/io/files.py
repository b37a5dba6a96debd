"""Tables in files: the ending of the name decides the format.

========================== ===== =====
ending                     read  write
========================== ===== =====
.csv .txt .csv.gz .txt.gz  yes   yes
.tsv .tsv.gz               yes   yes
.parquet .pq               yes   yes
.arrow .feather            yes   yes
.xlsx                      yes   no
========================== ===== =====

Reading .xlsx needs the package openpyxl. Writing is atomic: the file is complete or absent. Instead of a path, there
may be an address: of a table in a database (``hushtable.io.sql``) or of Parquet in a store (``hushtable.io.remote``).
Modules for formats other than CSV are imported on first use.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import feather

from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io.atomic import atomic_file
from hushtable.io.csv import csv_names, iter_csv, read_csv
from hushtable.io.csv_write import write_csv
from hushtable.io.dictionaries import compact
from hushtable.io.names import check_names
from hushtable.io.partitions import PartitionFile, own_columns, with_values
from hushtable.io.urls import DATABASES, SheetFile, Source, Url, is_url, redacted

_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".xlsx": "excel",
}
_COMPRESSED = ("csv", "tsv")


def _format(path: Path) -> tuple[str, bool]:
    """The format that a name stands for, and whether it is compressed; ``""`` if it is unknown."""
    name = path.name.lower()
    compressed = name.endswith(".gz")
    ending = os.path.splitext(name.removesuffix(".gz"))[1]
    found = _ENDINGS.get(ending, "")
    return ("" if compressed and found not in _COMPRESSED else found), compressed


def is_table_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name has a suffix of tables.

    Examples
    --------
    >>> is_table_file("a.csv.gz"), is_table_file("a.crc")
    (True, False)
    """
    return bool(_format(Path(path))[0])


def _kind_of(source: Source) -> tuple[str, Path]:
    """Whether a source is a database (``"sql"``), a store (``"store"``) or a file (its format), and the file."""
    if is_url(source):
        url = Url.of(str(source))
        if url.scheme != "file":
            return ("sql" if url.scheme in DATABASES else "store"), Path()
        source = url.path
    return _readable(Path(source)), Path(source)


def _readable(path: Path) -> str:
    found, _ = _format(path)
    if not found and not path.exists():
        raise DataError(f"There is no file {str(path)!r}.", code="no-file", hint="Check the path.")
    if not found:
        raise DataError(
            f"The format of {str(path)!r} is not known by its suffix.",
            code="unknown-format",
            hint=_address_hint(path)
            or f"Known suffixes: {' '.join(sorted(_ENDINGS))}, and .gz after .csv, .txt and .tsv.",
        )
    return found


def _address_hint(path: Path) -> str:
    """How to write the address of a database file, if it begins like one."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return ""
    known = "sqlite" if start.startswith(b"SQLite format 3") else "duckdb" if start[8:12] == b"DUCK" else ""
    slashes = ":////" if path.is_absolute() else ":///"
    return f"Write a table of this database as {known}{slashes}{str(path).lstrip('/')}?table=NAME." if known else ""


def _delimiter(found: str, given: str | None) -> str | None:
    return given or ("\t" if found == "tsv" else None)


def read_table(
    path: Source,
    columns: Sequence[str] | None = None,
    *,
    delimiter: str | None = None,
    unescape_formulas: bool = False,
    sheet: str | None = None,
) -> pa.Table:
    r"""Read a table from a file, a database or a store.

    Parameters
    ----------
    path : path or address
        The ending of a path decides the format.
    columns : sequence of str, optional
        Read only these, in this order.
    delimiter : str, optional
        For CSV. Defaults to the detected one.
    unescape_formulas : bool
        For CSV: undo what ``guard_table`` does to cells that a spreadsheet would run.
    sheet : str, optional
        For Excel: the sheet's name; defaults to the first one.

    Returns
    -------
    pyarrow.Table
        CSV: all columns as dictionary-encoded text. Excel: all as text. Parquet and databases: text dictionary-encoded.
        Arrow: as stored.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": ["01", None]}), Path(folder, "t.csv"))
    ...     read_table(Path(folder, "t.csv"))["a"].to_pylist()
    ['01', '']
    """
    if isinstance(path, PartitionFile):
        names = column_names(Path(path), delimiter=delimiter, unescape_formulas=unescape_formulas)
        own, wanted = own_columns(path, columns, names)
        whole = read_table(Path(path), own, delimiter=delimiter, unescape_formulas=unescape_formulas)
        return with_values(whole, path, wanted)
    found, file = _kind_of(path)
    if sheet is not None and found != "excel":
        raise UsageError(f"{redacted(path)!r} has no sheets.", code="no-sheet", hint="Only .xlsx files have.")
    if found == "sql":
        from hushtable.io.sql import read_sql

        return read_sql(str(path), columns=columns)
    if found in ("store", "parquet"):
        from hushtable.io.parquet import read_parquet

        return read_parquet(path if found == "store" else file, columns=columns)
    if found == "arrow":
        from hushtable.io.ipc import read_ipc

        return read_ipc(file, columns=columns)
    if found == "excel":
        from hushtable.io.excel import read_excel

        chosen = sheet if sheet is not None or not isinstance(path, SheetFile) else path.sheet
        return read_excel(file, columns=columns, sheet=chosen)
    return read_csv(file, delimiter=_delimiter(found, delimiter), columns=columns, unescape_formulas=unescape_formulas)


def iter_batches(
    path: Source,
    columns: Sequence[str] | None = None,
    batch_rows: int = 65_536,
    *,
    delimiter: str | None = None,
    unescape_formulas: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Read a table in batches of ``batch_rows`` rows; CSV, Parquet and databases are never completely in memory.

    Dictionaries differ from batch to batch; otherwise see ``read_table``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": [1, 2, 3]}), Path(folder, "t.parquet"))
    ...     [b.num_rows for b in iter_batches(Path(folder, "t.parquet"), batch_rows=2)]
    [2, 1]
    """
    from hushtable.io.batches import rebatch

    if isinstance(path, PartitionFile):
        names = column_names(Path(path), delimiter=delimiter, unescape_formulas=unescape_formulas)
        own, wanted = own_columns(path, columns, names)
        batches = iter_batches(Path(path), own, batch_rows, delimiter=delimiter, unescape_formulas=unescape_formulas)
        return rebatch((with_values(pa.Table.from_batches([b]), path, wanted) for b in batches), batch_rows)
    found, file = _kind_of(path)
    if found == "sql":
        from hushtable.io.sql import iter_sql

        return iter_sql(str(path), columns, batch_rows)
    if found in ("store", "parquet"):
        from hushtable.io.parquet import iter_parquet

        return iter_parquet(path if found == "store" else file, batch_rows, columns=columns)
    if found in ("arrow", "excel"):
        return rebatch([read_table(path, columns)], batch_rows)
    return iter_csv(
        file,
        batch_rows,
        delimiter=_delimiter(found, delimiter),
        columns=columns,
        unescape_formulas=unescape_formulas,
    )


def column_names(path: Source, *, delimiter: str | None = None, unescape_formulas: bool = False) -> list[str]:
    """Return the column names of a table, without reading its rows if the format allows that.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": [1], "b": [2]}), Path(folder, "t.tsv"))
    ...     column_names(Path(folder, "t.tsv"))
    ['a', 'b']
    """
    if isinstance(path, PartitionFile):
        own_names = column_names(Path(path), delimiter=delimiter, unescape_formulas=unescape_formulas)
        return own_columns(path, None, own_names)[1]
    found, file = _kind_of(path)
    if found == "sql":
        from hushtable.io.sql import sql_names

        return sql_names(str(path))
    if found in ("store", "parquet"):
        from hushtable.io.parquet import parquet_names

        return parquet_names(path if found == "store" else file)
    if found in ("arrow", "excel"):
        names: list[str] = read_table(path).column_names
        return names
    return csv_names(file, delimiter=_delimiter(found, delimiter), unescape_formulas=unescape_formulas)


def write_table(table: pa.Table, path: Source) -> None:
    """Write a table to a file, a store or a new table of a database, completely or not at all.

    In CSV files, cells and column names that a spreadsheet would run get a leading apostrophe: they begin with ``=``,
    ``+``, ``-`` or ``@``, possibly after white space, or with a tab or a line ending, and are not plain numbers. Values
    that no longer occur are dropped from dictionaries, and schema metadata is not written.

    Parameters
    ----------
    table : pyarrow.Table
    path : path or address
        The ending of a path decides the format. A file is replaced, a database's table is not.

    Raises
    ------
    OutputError
        If the file cannot be written or the format cannot be.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"a": ["x,y"]}), Path(folder, "t.csv"))
    ...     Path(folder, "t.csv").read_text().split()
    ['a', '"x,y"']
    """
    if is_url(path):
        url = Url.of(str(path))
        if url.scheme in DATABASES:
            from hushtable.io.sql import write_sql

            write_sql(table, str(path))
            return
        if url.scheme != "file":
            from hushtable.io.remote import write_remote

            check_names(table.column_names, "The table")
            write_remote(table, str(path))
            return
        path = url.path
    file = Path(path)
    found, compressed = _format(file)
    if found in ("", "excel"):
        endings = " ".join(sorted(e for e, f in _ENDINGS.items() if f != "excel"))
        raise OutputError(
            f"A table cannot be written as {file.suffix or file.name!r}.",
            code="unknown-format",
            hint=f"Use one of {endings}.",
        )
    check_names(table.column_names, "The table")
    with atomic_file(file) as out:
        if found == "parquet":
            from hushtable.io.layout import row_groups, write_parquet

            write_parquet(row_groups(table), table.schema, out)
        elif found == "arrow":
            feather.write_feather(compact(table), out)
        elif compressed:
            # a fixed time and no file name, so that the bytes depend only on the table
            with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as packed:
                write_csv(table, packed, delimiter=_delimiter(found, None) or ",")
        else:
            write_csv(table, out, delimiter=_delimiter(found, None) or ",")
