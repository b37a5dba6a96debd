"""What may be uploaded: which kinds of files, how large, and whether a file is what its name says."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hushtable.errors import DataError, UsageError
from hushtable.studio.home import safe_name

__all__ = ["HIERARCHIES", "LARGEST", "OUTSIDE", "TABLES", "check_content", "check_upload_name"]

LARGEST = 4 * 2**30
"""Bytes of an upload."""

TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq", ".arrow", ".feather", ".xlsx")
"""Endings of the tables that may be uploaded."""

HIERARCHIES = (".csv", ".tsv", ".txt", ".yaml", ".yml")
"""Endings of the other files of a project: hierarchies and tables beside the data."""

OUTSIDE = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")
"""Endings of tables of the population and of what somebody believes."""

_SHEET = 2**30
_BEGINS = {".parquet": b"PAR1", ".pq": b"PAR1", ".xlsx": b"PK", ".gz": b"\x1f\x8b", ".arrow": b"ARROW1"}


def check_upload_name(name: str, endings: tuple[str, ...] = TABLES) -> str:
    """Return the name of an upload, if the studio takes such files.

    Examples
    --------
    >>> check_upload_name("patients.exe")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The studio does not take such files. Use one of .csv .tsv .txt .csv.gz .tsv.gz ...
    """
    safe_name(name)
    if not name.lower().endswith(endings):
        raise UsageError(
            "The studio does not take such files.", code="file-type", hint=f"Use one of {' '.join(endings)}."
        )
    return name


def check_content(path: Path, name: str) -> None:
    """Refuse a file that is obviously not what its name says, before anything tries to read it.

    Raises
    ------
    DataError
    """
    ending = Path(name.lower()).suffix
    with path.open("rb") as stream:
        head = stream.read(8)
    if not head:
        raise DataError("The file is empty.", code="empty-file", hint="Check the export and upload it again.")
    begins = _BEGINS.get(ending)
    if begins is not None and not head.startswith(begins):
        raise DataError(
            f"The file's content is not that of a {ending} file.",
            code="file-content",
            hint="Give it the ending of what it is, or save it again.",
        )
    if ending == ".xlsx":
        _check_workbook(path)


def _check_workbook(path: Path) -> None:
    """A small workbook can unpack to more than the machine has."""
    size = None
    try:
        with zipfile.ZipFile(path) as book:
            size = sum(entry.file_size for entry in book.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        size = None
    if size is None:
        raise DataError("The file is not a complete Excel workbook.", code="file-content", hint="Save it again.")
    if size > _SHEET:
        raise DataError(
            "The workbook unpacks to more than 1 GiB.", code="too-large", hint="Save the sheet as CSV or Parquet."
        )
