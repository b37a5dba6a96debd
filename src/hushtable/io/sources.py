"""A table in several files: finding them, checking that they match, reading them as one, and detecting changes."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.dictionaries import decode, encode, from_codes, to_codes, value_type
from hushtable.io.files import column_names, is_table_file, iter_batches, read_table
from hushtable.io.partitions import PartitionFile, files_below
from hushtable.io.urls import DELTA, SheetFile, Source, Url, is_url, redacted, source_of

_log = logging.getLogger(__package__)

RUN_BYTES = 1 << 28
"""Maximum number of bytes in a run."""

_BATCH_ROWS = 1 << 16

R = TypeVar("R")


class Stamp(NamedTuple):
    """Facts that identify an unchanged file."""

    path: str
    size: int
    modified: int
    number: int


def table_files(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    r"""Return the files that paths stand for: files, folders of files, and patterns such as ``day-*.parquet``.

    In a folder, all files of a known format count, by name, except hidden ones and those that begin with ``_``. Folders
    in it named ``column=value`` are parts of a table that has that column too. For a Delta or Iceberg table, the files
    of its current version count.

    Raises
    ------
    DataError
        If a folder or a pattern has no such file, or a file is given twice: its people would be counted twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.csv", "_SUCCESS", ".b.csv.crc"):
    ...         _ = Path(folder, name).write_text("age\n1\n")
    ...     [file.name for file in table_files([folder])], [file.name for file in table_files([folder + "/b*.csv"])]
    (['a.csv', 'b.csv'], ['b.csv'])
    """
    found: list[Path] = []
    for given in paths:
        # unchanged, since it has the values from its folders' names
        path = given if isinstance(given, Path) else Path(given)
        if path.is_dir():
            found += _lake(path) or _some(
                files_below(path, is_table_file), f"The folder {str(path)!r} has no file of a known format."
            )
        elif not path.exists() and glob.has_magic(str(path)):
            matching = sorted(Path(p) for p in glob.glob(str(path)) if os.path.isfile(p))
            found += _some(matching, f"No file is named like {str(path)!r}.")
        else:
            found.append(path)
    once: set[str] = set()
    for file in found:
        place = os.path.realpath(file)
        if place in once:
            raise DataError(
                f"The file {str(file)!r} is given twice.",
                code="file-twice",
                hint="Its people would be counted twice; name every file once.",
            )
        once.add(place)
    return found


def _lake(folder: Path) -> list[Path] | None:
    """The files of a Delta or Iceberg table; None for any other folder."""
    if not (folder / "_delta_log").is_dir() and not (folder / "metadata").is_dir():
        return None
    from hushtable.io.lake import lake_files

    return lake_files(folder)


def table_sources(sources: Sequence[Source]) -> list[str | Path]:
    """Return the sources of a table's rows: addresses of databases and stores unchanged, and the files of the rest.

    Raises
    ------
    DataError
        If one is given twice, or a folder or a pattern has no file of a table.

    Examples
    --------
    >>> table_sources(["a.csv", "sqlite:///clinic.db?table=people", "file:///srv/b.csv"]) == [
    ...     "sqlite:///clinic.db?table=people", Path("a.csv"), Path("/srv/b.csv")]
    True
    """
    outside = [str(source) for source in sources if is_address(source)]
    for at, address in enumerate(outside):
        if address in outside[:at]:
            raise DataError(
                f"{redacted(address)!r} is given twice.",
                code="file-twice",
                hint="Its people would be counted twice; name every table once.",
            )
    return [*outside, *table_files([_local(source) for source in sources if not is_address(source)])]


def _local(source: Source) -> Source:
    return Url.of(str(source)).path if is_url(source) else source


def is_address(source: Source) -> bool:
    """Whether a source is a database or a store: ``file://`` and ``delta://`` are files and folders like others.

    Examples
    --------
    >>> is_address("sqlite:///clinic.db?table=people"), is_address("file:///srv/b.csv"), is_address("a.csv")
    (True, False, False)
    """
    return is_url(source) and Url.of(str(source)).scheme not in ("file", DELTA)


def _some(files: list[Path], message: str) -> list[Path]:
    if not files:
        raise DataError(message, code="no-files", hint="Check the path; quote patterns where the shell expands them.")
    return files


def same_columns(files: Sequence[Source], names: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns of a table's files, in the first file's order, or raise if they differ.

    Examples
    --------
    >>> same_columns([Path("a.csv"), Path("b.csv")], [["age", "sex"], ["sex", "age"]])
    ['age', 'sex']
    """
    for file, here in zip(files[1:], names[1:], strict=True):
        if sorted(here) != sorted(names[0]):
            differing = sorted(set(names[0]).symmetric_difference(here))
            raise DataError(
                f"{redacted(files[0])!r} and {redacted(file)!r} do not have the same columns. Only in one of them: "
                f"{', '.join(map(repr, differing))}.",
                code="different-columns",
                hint="The files of one table must have the same columns.",
            )
    return list(names[0])


def same_types(schemas: Sequence[pa.Schema]) -> None:
    """Raise if a column has different types in some of the files.

    Examples
    --------
    >>> same_types([pa.schema({"n": pa.int64()}), pa.schema({"n": pa.string()})])
    Traceback (most recent call last):
    hushtable.errors.DataError: These columns have different types in some of the files: 'n'. Give all files in one ...
    """
    mixed = [
        name for name in schemas[0].names if len({str(value_type(schema.field(name).type)) for schema in schemas}) > 1
    ]
    if mixed:
        raise DataError(
            f"These columns have different types in some of the files: {', '.join(map(repr, mixed))}.",
            code="different-types",
            hint="Give all files in one format.",
        )


def in_types_of(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with its text dictionary-encoded or not, like another file of the same types.

    Examples
    --------
    >>> coded = pa.table({"w": pa.array(["x", "x"]).dictionary_encode()})
    >>> in_types_of(pa.table({"w": ["y"]}), coded.schema).schema == coded.schema
    True
    """
    columns = []
    for name, wanted in zip(schema.names, schema.types, strict=True):
        column = table.column(name)
        if not pa.types.is_dictionary(wanted):
            column = decode(column)
        elif column.type != wanted:
            coded = encode(column)
            column = from_codes(to_codes(coded), coded.dictionary, wanted.index_type)
        columns.append(column)
    return pa.table(columns, names=schema.names)


def read_tables(sources: Sequence[Source], *, table: str | None = None, query: str | None = None) -> pa.Table:
    r"""Read a table from sources that each have some of its rows; a folder or a pattern stands for its files.

    Parameters
    ----------
    sources : sequence of path or address
    table, query : str, optional
        The table of a database, the sheet of a workbook, or a query for a database.

    Raises
    ------
    DataError
        If a file cannot be read, or the files do not have the same columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"a.csv": "age,sex\n1,m\n", "b.csv": "sex,age\nf,2\n"}.items():
    ...         _ = Path(folder, name).write_text(text)
    ...     read_tables([Path(folder, "a.csv"), Path(folder, "b.csv")]).to_pydict()
    {'age': ['1', '2'], 'sex': ['m', 'f']}
    """
    chosen = [
        # the sheet of a workbook may already be given
        source if isinstance(source, SheetFile) else source_of(str(source), table=table, query=query)
        for source in sources
    ]
    found = table_sources(chosen)
    tables = [read_table(source) for source in found]
    rows = sum(one.num_rows for one in tables)
    _log.info("Read %d rows from %d sources", rows, len(tables), extra={"rows": rows, "sources": len(tables)})
    if len(tables) == 1:
        return tables[0]
    names = same_columns(found, [table.column_names for table in tables])
    parts = [table.select(names) for table in tables]
    same_types([part.schema for part in parts])
    return pa.concat_tables([in_types_of(part, parts[0].schema) for part in parts]).unify_dictionaries()


def each_run(
    files: Sequence[Source],
    columns: Sequence[str],
    rows: int,
    work: Callable[[pa.Table], R],
    *,
    unescape_formulas: bool = False,
) -> Iterator[R]:
    r"""Apply ``work`` to some columns of a table in several files or databases, at most ``rows`` rows at a time.

    Runs are processed on all cores, which also read local Parquet files; results are in the order of the rows. Runs of
    long texts have fewer rows, so that each stays within a few hundred megabytes. A database is read in one
    transaction, so that it does not change meanwhile.

    Raises
    ------
    DataError
        If a file cannot be read, differs from the others, or changes while it is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"a.csv": "age,sex\n1,m\n2,f\n", "b.csv": "sex,age\nf,3\n"}.items():
    ...         _ = Path(folder, name).write_text(text)
    ...     list(each_run(table_files([folder]), ["age"], 2, lambda run: run["age"].to_pylist()))
    [['1', '2'], ['3']]
    """
    from hushtable.parallel import each  # a plain run of few rows needs no threads

    same_columns(files, [column_names(file, unescape_formulas=unescape_formulas) for file in files])
    before = stamps(files)
    try:
        yield from each(lambda load: work(load()), _runs(files, columns, rows, unescape_formulas))
    except DataError:
        check_unchanged(before)  # a file that is being written looks damaged
        raise
    check_unchanged(before)


def _runs(
    files: Sequence[Source], columns: Sequence[str], rows: int, unescape_formulas: bool
) -> Iterator[Callable[[], pa.Table]]:
    """Functions that return the runs, in order: some read theirs, others only combine what was read."""
    first: list[pa.Schema] = []
    held: list[pa.Table] = []

    def alike(table: pa.Table) -> pa.Table:
        if not first:
            first.append(table.schema)
        same_types([first[0], table.schema])
        return in_types_of(table, first[0])

    def run() -> Callable[[], pa.Table]:
        parts = held.copy()
        held.clear()
        return lambda: _whole(pa.concat_tables(parts))

    for file in files:
        pieces = _parquet_runs(file, columns, rows)
        if pieces is not None:
            if held:
                yield run()
            if not first:
                first.append(pieces[0]().schema)
            yield from (partial(_read_whole, piece, alike) for piece in pieces)
            continue
        for batch in iter_batches(file, columns, min(rows, _BATCH_ROWS), unescape_formulas=unescape_formulas):
            table = alike(pa.Table.from_batches([batch]))
            while table.num_rows:
                free = rows - sum(part.num_rows for part in held)
                held.append(table.slice(0, free))
                table = table.slice(free)
                if held[-1].num_rows == free or sum(part.nbytes for part in held) >= RUN_BYTES:
                    yield run()
    if held:
        yield run()


def _whole(table: pa.Table) -> pa.Table:
    return table.unify_dictionaries().combine_chunks()


def _read_whole(read: Callable[[], pa.Table], alike: Callable[[pa.Table], pa.Table]) -> pa.Table:
    return _whole(alike(read()))


def _parquet_runs(file: Source, columns: Sequence[str], rows: int) -> list[Callable[[], pa.Table]] | None:
    """Functions that read the runs of a local Parquet file; None for other files, and for too large row groups."""
    if is_address(file) or isinstance(file, PartitionFile) or Path(file).suffix.lower() not in (".parquet", ".pq"):
        return None
    from hushtable.io.parquet import parquet_pieces

    return parquet_pieces(Path(file), columns, rows, RUN_BYTES)


def stamps(files: Sequence[Source]) -> list[Stamp]:
    """Return facts that show whether files have changed: size, time and inode number; contents are not read.

    Databases and stores have no such facts, and are skipped.

    Raises
    ------
    DataError
        If a file does not exist.
    """
    found = []
    for file in files:
        if is_address(file):
            continue
        try:
            facts = os.stat(file)
        except OSError as error:
            raise DataError(
                f"The file {str(file)!r} cannot be read: {os.strerror(error.errno or 0)}.",
                code="no-file",
                hint="Check the path and its permissions.",
            ) from None
        found.append(Stamp(os.path.realpath(file), facts.st_size, facts.st_mtime_ns, facts.st_ino))
    return found


def check_unchanged(before: Sequence[Stamp]) -> None:
    """Raise if a file has changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv")
    ...     _ = file.write_text("1")
    ...     seen = stamps([file])
    ...     _ = file.write_text("12")
    ...     check_unchanged(seen)
    Traceback (most recent call last):
    hushtable.errors.DataError: The file '...a.csv' changed while it was read. Run again when nothing writes to it.
    """
    now: Mapping[str, Stamp] = {stamp.path: stamp for stamp in stamps([Path(stamp.path) for stamp in before])}
    for stamp in before:
        if now[stamp.path] != stamp:
            raise DataError(
                f"The file {stamp.path!r} changed while it was read.",
                code="input-changed",
                hint="Run again when nothing writes to it.",
            )
