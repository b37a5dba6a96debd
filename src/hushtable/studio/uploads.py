"""Checks of uploads: file types, sizes, and whether a file's content matches its name."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from hushtable.errors import DataError, UsageError
from hushtable.io.excel import stated_size, unpacked_excel
from hushtable.io.ipc import unpacked_ipc
from hushtable.io.parquet import unpacked_parquet
from hushtable.parallel import whole_number
from hushtable.studio.projects import safe_name

LARGEST = 4 * 2**30
"""Largest upload in bytes."""

TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq", ".arrow", ".feather", ".xlsx")
"""Suffixes of tables."""

UPLOADS = (*TABLES, ".zip")
"""Suffixes of data that may be uploaded: a ZIP file contains linked tables and their policy."""

HIERARCHIES = (".csv", ".tsv", ".txt", ".yaml", ".yml")
"""Suffixes of the other files of a project: hierarchies and additional tables."""

OUTSIDE = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")
"""Suffixes of population and background tables."""

UNPACKED = "HUSHTABLE_STUDIO_UNPACKED"
"""Environment variable: limit in MiB on the unpacked size of an upload in any project."""

_BEGINS = {".parquet": b"PAR1", ".pq": b"PAR1", ".xlsx": b"PK", ".zip": b"PK", ".gz": b"\x1f\x8b", ".arrow": b"ARROW1"}


def check_upload_name(name: str, endings: tuple[str, ...] = UPLOADS) -> str:
    """Return the name of an upload if the studio accepts its type.

    Examples
    --------
    >>> check_upload_name("patients.exe")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The studio does not accept this file type. Use one of .csv .tsv .txt .csv.gz .tsv.gz
    ...
    """
    safe_name(name)
    if not name.lower().endswith(endings):
        raise UsageError(
            "The studio does not accept this file type.", code="file-type", hint=f"Use one of {' '.join(endings)}."
        )
    return name


def check_content(path: Path, name: str) -> None:
    """Refuse a file whose content obviously does not match its name, before anything tries to read it.

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
            hint="Correct its suffix, or save it again.",
        )
    if ending in (".xlsx", ".zip") and not zipfile.is_zipfile(path):
        raise _damaged(ending)


def check_unpacked(path: Path, name: str, given: int | None = None) -> None:
    """Refuse a small file that unpacks to more than the machine can handle; stops at the limit.

    Parameters
    ----------
    path : Path
    name : str
        Its suffix determines its type.
    given : int, optional
        Limit in MiB that the project sets. Defaults to 1 GiB, or for small files to 250 times the file's size and
        at least 64 MiB: real tables stay far below.

    Raises
    ------
    DataError
    """
    ending = Path(name.lower()).suffix
    count = _COUNTS.get(ending)
    if count is None:
        return
    limit = _limit(path.stat().st_size, given)
    try:
        seen = count(path, limit)
    except DataError as error:
        # the message has a temporary name
        raise (_damaged(ending) if error.code == "damaged-file" else error) from None
    if seen > limit:
        raise DataError(
            f"The file unpacks to more than {limit >> 20} MiB.",
            code="too-large",
            hint="If you trust it, raise the limit of this project; otherwise check where the file comes from.",
        )


def check_limit(given: int | None) -> int | None:
    """Return a project's limit in MiB, if it is valid and the studio allows it.

    Examples
    --------
    >>> check_limit(2048), check_limit(None)
    (2048, None)
    """
    most = _most()
    if given is not None and not 1 <= given <= (most or 2**20):
        raise UsageError(
            f"The limit must be from 1 to {most or 2**20} MiB.",
            code="unpacked",
            hint=f"{UNPACKED} sets the maximum that this studio allows." if most else "",
        )
    return given


def _most() -> int | None:
    """Return the limit in MiB that the studio sets for all projects, if it does."""
    return whole_number(UNPACKED, "MiB", "unpacked")


def _limit(packed: int, given: int | None) -> int:
    most = _most()
    if given is not None:
        return min(given, most or given) << 20
    return most << 20 if most else min(2**30, max(64 * 2**20, 250 * packed))


def _damaged(ending: str) -> DataError:
    return DataError(f"The {ending} file is damaged or not complete.", code="file-content", hint="Save it again.")


def _unpacked_gz(path: Path, limit: int) -> int:
    seen = 0
    try:
        with gzip.open(path) as stream:
            while seen <= limit and (part := stream.read(2**20)):
                seen += len(part)
    except (OSError, EOFError, zlib.error):
        raise _damaged(".gz") from None
    return seen


# formats whose files may be far smaller than what is in them; each counts until the limit is passed
_COUNTS: dict[str, Callable[[Path, int], int]] = {
    ".gz": _unpacked_gz,
    ".xlsx": unpacked_excel,
    ".zip": lambda path, limit: stated_size(path),
    ".parquet": unpacked_parquet,
    ".pq": unpacked_parquet,
    ".arrow": unpacked_ipc,
    ".feather": unpacked_ipc,
}
