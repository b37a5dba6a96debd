"""What the server may read and write: files below the folders named at its start, and nothing else.

Links are resolved before a path is checked, so a link cannot lead out of a folder. Addresses of databases and stores
are refused, and so are folders and patterns: a table is one file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.errors import UsageError


@dataclass(frozen=True)
class AllowedFolders:
    """The folders.

    Attributes
    ----------
    read : tuple of path
    write : path, optional
        This folder may be read too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("age")
    ...     access = AllowedFolders.of([folder])
    ...     access.file("people.csv").name
    'people.csv'
    >>> access.file("../people.csv")
    Traceback (most recent call last):
    hushtable.errors.UsageError: This path is outside the folders that the server may read.
    """

    read: tuple[Path, ...]
    write: Path | None = None

    @classmethod
    def of(cls, read: list[str], write: str | None = None) -> AllowedFolders:
        """Resolve the folders.

        Raises
        ------
        UsageError
            If one does not exist.
        """
        folders = [Path(folder).resolve() for folder in (*read, *([] if write is None else [write]))]
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"{str(folder)!r} is not a folder.", code="not-a-folder", hint="Create it first.")
        return cls(tuple(folders), None if write is None else folders[-1])

    def file(self, given: str) -> Path:
        """Return a file to read, with links resolved.

        Raises
        ------
        UsageError
            If it is outside, or not a file. The error does not reveal whether a file outside exists.
        """
        for folder in self.read:
            place = _resolved(folder, given)
            if _below(place, folder) and os.path.isfile(place):
                return place
        inside = any(_below(_resolved(folder, given), folder) for folder in self.read)
        raise (
            UsageError("There is no such file.", code="not-a-file")
            if inside
            else UsageError("This path is outside the folders that the server may read.", code="outside")
        )

    def folder(self, given: str) -> Path:
        """Return a folder to read."""
        return self.file(f"{given}/release.json").parent

    def target(self, given: str) -> Path:
        """Return a path to write to, which must not exist yet.

        Raises
        ------
        UsageError
            If it is outside the folder for writing, or there is none.
        """
        if self.write is None:
            raise UsageError("The server was started without a folder to write to.", code="read-only")
        place = _resolved(self.write, given)
        if not _below(place, self.write) or place == self.write:
            raise UsageError("This path is outside the folder that the server may write to.", code="outside")
        if os.path.lexists(place) or not os.path.isdir(place.parent):
            raise UsageError("The file exists, or its folder does not.", code="exists")
        return place

    def check_policy(self, document: Mapping[str, Any], base: Path) -> None:
        """Refuse a policy with a file outside the folders, or with a ledger that the server may not write.

        Every text that could be a path is checked as one, wherever it is in the policy.
        """
        for place, text in _texts(document):
            folders = [self.write] if place[0] == "ledger" else self.read
            if "://" in text or not any(f is not None and _below(_resolved(base, text), f) for f in folders):
                raise UsageError("The policy names a file outside the folders of the server.", code="outside")


def _resolved(folder: Path, given: str) -> Path:
    try:
        # not strict: links are resolved as far as the path exists
        return (folder / given).resolve()
    except (OSError, ValueError, RuntimeError):
        return Path("/")


def _below(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _texts(item: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of a document with its place, without the lists of values of the table."""
    if isinstance(item, Mapping):
        for name, value in item.items():
            yield from _texts(value, (*place, str(name)))
    elif isinstance(item, list | tuple):
        for value in item:
            yield from _texts(value, place)
    elif isinstance(item, str) and not _lists_values(place):
        yield place, item


def _lists_values(place: tuple[str, ...]) -> bool:
    """Whether a setting lists values of the table; a column may have the name of such a setting."""
    of_column = place[:1] == ("columns",) and len(place) > 2 and place[2] in ("categories", "order")
    return of_column or place[:1] == ("missing_values",)
