"""Databases in files: reading does not create a missing one, and a failed write does not leave an empty one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hushtable.errors import DataError, OutputError
from hushtable.io.atomic import check_access
from hushtable.io.sql_base import Database
from hushtable.io.sql_place import SqlPlace


class FileDatabase(Database):
    """A kind of database that is one file."""

    def exists(self, place: SqlPlace) -> bool:
        """Look up the name; a missing file has no tables."""
        return place.path.exists() and super().exists(place)

    def check_writable(self, place: SqlPlace) -> None:
        """Check the file and its folder."""
        check_writable_file(place.path)


def check_file(place: SqlPlace) -> None:
    """Refuse a missing database, which would be created empty."""
    path = place.path
    if path.is_file():
        return
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder, not a database.", code="no-database")
    rooted = Path("/", path)
    absolute = not path.is_absolute() and rooted.exists()
    hint = f"A path from the root has four slashes: {place.url.scheme}:///{rooted}." if absolute else "Check the path."
    raise DataError(f"There is no database {str(path)!r}.", code="no-database", hint=hint)


def check_writable_file(path: Path) -> None:
    """Refuse a database that cannot be written: its folder does not exist, or is read-only.

    Raises
    ------
    OutputError
    """
    check_parent(path)
    if path.exists() and not path.is_file():
        raise OutputError(f"{str(path)!r} cannot be written: it is a folder.", hint="Choose a file name.")
    check_access(path if path.exists() else path.parent, path)


def check_parent(path: Path) -> None:
    """Refuse the path of an address whose folder does not exist.

    Raises
    ------
    OutputError
    """
    if path.parent.is_dir():
        return
    rooted = not path.is_absolute() and Path("/", path).parent.is_dir()
    raise OutputError(
        f"{str(path)!r} cannot be written: its folder does not exist.",
        hint="In an address, a path from the root has four slashes." if rooted else "Create the folder first.",
    )


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield the path to write to; a new database is removed if the block fails."""
    check_writable_file(path)
    fresh = not path.exists()
    try:
        yield path
    except BaseException:
        if fresh:
            for name in (path.name, f"{path.name}.wal", f"{path.name}-journal", f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
        raise


def failed_write(place: SqlPlace, reason: str) -> OutputError:
    """The error of a write that was rolled back."""
    return OutputError(
        f"{str(place)!r} cannot be written: {reason}.",
        code="database",
        hint="Nothing was changed. Check the address, the disk, and whether another program uses the database.",
    )
