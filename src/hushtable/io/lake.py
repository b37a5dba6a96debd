"""Delta and Iceberg tables: the current files of a table, and Delta tables as output.

Such a folder also has files of earlier versions, with rows that were deleted later. Reading all its Parquet files would
bring deleted people back, so the table's own log decides which ones count.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyarrow import parquet as pq

from hushtable.errors import DataError, OutputError
from hushtable.io.dictionaries import value_type
from hushtable.io.files import column_names
from hushtable.io.layout import Rows, write_parquet
from hushtable.io.partitions import files_below
from hushtable.io.sql_base import check_parent
from hushtable.io.urls import Url, package_for

_LOG = "_delta_log"

_HARMLESS = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""Reader features of Delta tables with which the files still contain the whole table."""


def lake_files(folder: Path) -> list[Path] | None:
    """Return the files with the current rows of a Delta or Iceberg table; None for a folder that is neither.

    Raises
    ------
    DataError
        If the files alone do not show the table's rows and columns.
    UsageError
        If the package that reads its log is not installed.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lake_files(Path(folder)) is None
    True
    """
    if (folder / _LOG).is_dir():
        return _delta_files(folder)
    if any((folder / "metadata").glob("*.metadata.json")):
        return _iceberg_files(folder)
    return None


def _delta_files(folder: Path) -> list[Path]:
    delta = package_for("A Delta table", "deltalake", "lake")
    try:
        table = delta.DeltaTable(os.fspath(folder))
        protocol, names = table.protocol(), [field.name for field in table.schema().fields]
        listed = table.file_uris()
    except Exception:  # the library has many errors, and they may quote values from the log
        raise _unreadable(folder, "Delta") from None
    features = set(protocol.reader_features or ())
    if protocol.min_reader_version == 2 or features - _HARMLESS:
        raise DataError(
            f"The Delta table {str(folder)!r} uses features that hide the current rows and columns from its files "
            "(deletion vectors or column mapping, for example).",
            code="lake",
            hint="Read it with Delta's own Spark reader and give hushtable the DataFrame, or write a plain copy.",
        )
    current = {os.path.realpath(_local(uri)) for uri in listed}
    files = files_below(folder, lambda file: os.path.realpath(file) in current)
    _check(folder, "Delta", files, len(current), names)
    return files


def _iceberg_files(folder: Path) -> list[Path]:
    package = package_for("An Iceberg table", "pyiceberg.table", "lake")
    try:
        table = package.StaticTable.from_metadata(os.fspath(_newest(folder / "metadata")))
        names = list(table.schema().column_names)
        tasks = list(table.scan().plan_files())
    except Exception:  # as above
        raise _unreadable(folder, "Iceberg") from None
    if any(task.delete_files for task in tasks):
        raise DataError(
            f"The Iceberg table {str(folder)!r} keeps deleted rows in its data files, and lists them separately.",
            code="lake",
            hint="Rewrite its data files first, or give hushtable a DataFrame of it.",
        )
    files = sorted({Path(_local(task.file.file_path)) for task in tasks})
    _check(folder, "Iceberg", [file for file in files if file.is_file()], len(files), names)
    return files


def _newest(folder: Path) -> Path:
    """The metadata of the current version: the one in the hint file, or else the one with the highest number."""
    hint = folder / "version-hint.text"
    if hint.is_file():
        number = hint.read_text().strip()
        return folder / f"{'v' if number.isdecimal() else ''}{number}.metadata.json"
    return max(folder.glob("*.metadata.json"), key=lambda path: (_number(path.name), path.name))


def _number(name: str) -> int:
    digits = name.lstrip("v").partition("-")[0].partition(".")[0]
    return int(digits) if digits.isdecimal() else -1


def _check(folder: Path, kind: str, files: Sequence[Path], expected: int, names: Sequence[str]) -> None:
    """Check that the files exist in the table's own folder and have its columns."""
    if len(files) != expected:
        raise DataError(
            f"The {kind} table {str(folder)!r} lists files that are not in its folder.",
            code="lake",
            hint="Read it where it was written, or write a copy of it.",
        )
    if not files:
        raise DataError(f"The {kind} table {str(folder)!r} has no rows.", code="no-rows")
    for file in files:
        if sorted(column_names(file)) != sorted(names):
            raise DataError(
                f"The {kind} table {str(folder)!r} has files whose columns are not those of the table: columns were "
                "added, dropped or renamed since they were written.",
                code="lake",
                hint="Rewrite the table's files, or give hushtable a DataFrame of it.",
            )


def _local(uri: str) -> str:
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else uri


def _unreadable(folder: Path, kind: str) -> DataError:
    return DataError(
        f"The log of the {kind} table {str(folder)!r} cannot be read.",
        code="lake",
        hint="Check that the table is complete.",
    )


def check_delta_target(address: str, *, overwrite: bool) -> None:
    """Refuse a folder that a Delta table cannot be written to.

    Raises
    ------
    OutputError
        If it exists and must not be replaced, is not a Delta table, or its folder does not exist.
    """
    package_for("A Delta table", "deltalake", "lake")
    path = Url.of(address).path
    check_parent(path)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / _LOG).is_dir():
        raise OutputError(
            f"{str(path)!r} exists and is not a Delta table.", code="exists", hint="Choose another folder."
        )
    if not overwrite:
        raise OutputError(f"{str(path)!r} exists.", code="exists", hint="Choose another name, or add --overwrite.")


@contextmanager
def writing_delta(tables: Sequence[tuple[str, Rows]], *, overwrite: bool) -> Iterator[None]:
    """Write Delta tables; each gets its new version when the block ends without an error.

    Rows stay in a temporary file until then, since a Delta commit cannot be undone. Earlier versions stay readable in
    the table's history until the table is vacuumed.
    """
    delta = package_for("A Delta table", "deltalake", "lake")
    staging = Path(tempfile.mkdtemp(prefix="hushtable-"))
    try:
        for number, (_, rows) in enumerate(tables):
            with (staging / f"{number}.parquet").open("wb") as out:
                write_parquet(rows.pieces, rows.schema, out)
        yield
        for number, (address, _) in enumerate(tables):
            path = Url.of(address).path
            try:
                delta.write_deltalake(
                    path,
                    _batches(staging / f"{number}.parquet"),
                    mode="overwrite" if overwrite else "error",
                    schema_mode="overwrite" if overwrite else None,
                )
            except Exception:  # the library has many errors
                raise OutputError(
                    f"The Delta table {str(path)!r} cannot be written.", hint="Check the folder and its rights."
                ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _batches(path: Path) -> pa.RecordBatchReader:
    """The rows of a file in plain columns: Delta has no dictionaries."""
    file = pq.ParquetFile(path)
    schema = pa.schema([pa.field(f.name, value_type(f.type)) for f in file.schema_arrow])
    return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in file.iter_batches()))
