"""What may be uploaded: which kinds of files, how large, and whether a file is what its name says."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from pathlib import Path

from hushtable.errors import DataError, UsageError
from hushtable.studio.home import safe_name

__all__ = [
    "HIERARCHIES",
    "LARGEST",
    "OUTSIDE",
    "TABLES",
    "UNPACKED",
    "UPLOADS",
    "check_content",
    "check_unpacked",
    "check_upload_name",
]

LARGEST = 4 * 2**30
"""Bytes of an upload."""

TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq", ".arrow", ".feather", ".xlsx")
"""Endings of tables."""

UPLOADS = (*TABLES, ".zip")
"""Endings of what may be uploaded as data: a ZIP file holds linked tables and their policy."""

HIERARCHIES = (".csv", ".tsv", ".txt", ".yaml", ".yml")
"""Endings of the other files of a project: hierarchies and tables beside the data."""

OUTSIDE = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")
"""Endings of tables of the population and of what somebody believes."""

UNPACKED = "HUSHTABLE_STUDIO_UNPACKED"
"""Environment variable: MiB that an upload may unpack to."""

_BEGINS = {".parquet": b"PAR1", ".pq": b"PAR1", ".xlsx": b"PK", ".zip": b"PK", ".gz": b"\x1f\x8b", ".arrow": b"ARROW1"}


def check_upload_name(name: str, endings: tuple[str, ...] = UPLOADS) -> str:
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
    if ending in (".xlsx", ".zip"):
        # its table of contents says how large it is; a .gz file has to be unpacked for that, which a job does
        check_unpacked(path, name)


def check_unpacked(path: Path, name: str) -> None:
    """Refuse a small file that unpacks to more than the machine can bear; stops at the limit.

    The limit is 1 GiB, and 250 times the file's own size from 64 MiB on, which real tables stay far below.
    ``HUSHTABLE_STUDIO_UNPACKED`` sets another one, in MiB.

    Raises
    ------
    DataError
    """
    ending = Path(name.lower()).suffix
    if ending not in (".gz", ".xlsx", ".zip"):
        return
    limit = _limit(path.stat().st_size)
    try:
        seen = _packed_bytes(path) if ending != ".gz" else _unpacked_bytes(path, limit)
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, NotImplementedError):
        raise DataError(
            f"The {ending} file is damaged or not complete.", code="file-content", hint="Save it again."
        ) from None
    if seen > limit:
        raise DataError(
            f"The file unpacks to more than {limit >> 20} MiB.",
            code="too-large",
            hint=f"Save it as Parquet, or set {UNPACKED} to the MiB that the studio may unpack.",
        )


def _limit(packed: int) -> int:
    given = os.environ.get(UNPACKED)
    if not given:
        return min(2**30, max(64 * 2**20, 250 * packed))
    if not given.isdecimal() or not int(given):
        raise UsageError(
            f"{UNPACKED} must be a whole number of MiB from 1 up.", code="unpacked", hint="Correct or unset it."
        )
    return int(given) << 20


def _unpacked_bytes(path: Path, limit: int) -> int:
    seen = 0
    with gzip.open(path) as stream:
        while seen <= limit and (part := stream.read(2**20)):
            seen += len(part)
    return seen


def _packed_bytes(path: Path) -> int:
    with zipfile.ZipFile(path) as book:
        return sum(entry.file_size for entry in book.infolist())
