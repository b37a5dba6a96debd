"""A published table in files: where it is, and how it is read again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Recoding
from hushtable.errors import DataError
from hushtable.io.dictionaries import decode
from hushtable.io.dictionary_reader import read_coded
from hushtable.io.sources import table_files
from hushtable.release.bucket import join_tables
from hushtable.release.companion import load_evidence
from hushtable.table.plan import TablePlan

_DOCUMENTS = ("policy.yaml", "release.json")
_NAMED = 3


def sensitive_path(path: Path) -> Path:
    """Return the path of the sensitive values of a published file, if they are separate.

    Examples
    --------
    >>> sensitive_path(Path("release.csv")).name
    'release-sensitive.csv'
    """
    return path.with_name(f"{path.stem}-sensitive{path.suffix}")


def for_spreadsheets(document: Mapping[str, Any]) -> bool:
    """Whether a policy says that spreadsheets read the published files.

    Examples
    --------
    >>> for_spreadsheets({"output": {"format": "csv", "reader": "spreadsheet"}}), for_spreadsheets({})
    (True, False)
    """
    return bool(dict(document.get("output") or {}).get("reader") == "spreadsheet")


def is_guarded(folder: Path) -> bool:
    """Whether the text of a release was written for spreadsheets. Defaults to true for older releases."""
    file = folder / "release.json"
    return bool(load_evidence(file).get("guarded", True)) if file.exists() else True


def table_file(place: Path) -> Path:
    """Return the file of a published table: the given one, or the one in the folder of a release."""
    facts = place / "release.json"
    return place / str(load_evidence(facts).get("file", "release.csv")) if facts.is_file() else place


def files_of(path: Path, recoding: Recoding) -> list[Path]:
    """Return the files of a published table: its parts, its sensitive values and its patterns."""
    files: list[Path] = [*table_files([path])]
    if recoding is Recoding.BUCKET:
        files += table_files([sensitive_path(path)])
    return [*files, path.with_name("patterns.csv")] if recoding is Recoding.PATTERN else files


def check_nothing_else(folder: Path, read: Iterable[Path]) -> None:
    """Refuse a release folder with files that nobody has read: the whole folder is handed over, so all are verified.

    Parameters
    ----------
    folder : path
    read : iterable of path
        The files that were verified. Empty files are harmless.

    Raises
    ------
    DataError

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = Path(place)
    ...     for name in ("release.csv", "release.json", "people.csv"):
    ...         _ = (folder / name).write_text("x")
    ...     try:
    ...         check_nothing_else(folder, [folder / "release.csv"])
    ...     except DataError as error:
    ...         print(error.code, "'people.csv'" in str(error))
    unverified-files True
    """
    known = {os.path.abspath(path) for path in (*read, *(folder / name for name in _DOCUMENTS))}
    there = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    others = sorted(p for p in there if os.path.abspath(p) not in known and (p.is_symlink() or p.stat().st_size))
    if others:
        names = ", ".join(repr(path.relative_to(folder).as_posix()) for path in others[:_NAMED])
        raise DataError(
            f"The folder {str(folder)!r} has files that are not part of the release and were not verified: {names}"
            f"{' and others' if len(others) > _NAMED else ''}.",
            code="unverified-files",
            hint="Move them elsewhere, since the whole folder is handed over. To verify the published table alone, "
            "name its file.",
        )


def folder_hint(place: Path, otherwise: str = "Give the folder that 'hushtable run' wrote.") -> str:
    """Say what to give instead of something that is not the folder of a release.

    Examples
    --------
    >>> folder_hint(Path("bundle.zip"))
    "Unpack the ZIP file, and give the folder 'release' in it."
    """
    return "Unpack the ZIP file, and give the folder 'release' in it." if place.suffix.lower() == ".zip" else otherwise


def read_published(path: Path, linked: TablePlan | None = None) -> pa.Table:
    """Read a published file, removing the apostrophes before text that a spreadsheet would run.

    Parameters
    ----------
    path : path
    linked : TablePlan, optional
        Given if the sensitive values are in a separate file, which is read too.
    """
    guarded = is_guarded(path.parent)
    table = read_coded(path, unescape_formulas=guarded)
    if linked is None:
        return table
    return join_tables(table, read_coded(sensitive_path(path), unescape_formulas=guarded), linked)


@dataclass(frozen=True)
class Written:
    """A published table in a file, or in a folder with its parts.

    Attributes
    ----------
    path : path
    columns : tuple of str
    linked : TablePlan, optional
        Given if the sensitive values are in a separate file.
    """

    path: Path
    columns: tuple[str, ...]
    linked: TablePlan | None = None

    def read(self) -> pa.Table:
        """Return the table."""
        return read_published(self.path, self.linked)

    def gaps(self, table: pa.Table) -> pa.Table:
        """Return its rows with missing cells as nulls: in CSV they are empty."""
        if self.path.suffix != ".csv":
            return table
        columns = [decode(column) for column in table.columns]
        text = [pa.types.is_string(c.type) or pa.types.is_large_string(c.type) for c in columns]
        shown = [
            pc.if_else(pc.equal(c, ""), pa.scalar(None, c.type), c) if is_text else c
            for c, is_text in zip(columns, text, strict=True)
        ]
        return pa.table(shown, names=table.column_names)
