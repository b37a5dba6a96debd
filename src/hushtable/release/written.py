"""A published table in files: where it is, and how it is read again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.io.coded import read_coded
from hushtable.io.dictionaries import decode
from hushtable.release.bucket import join_tables
from hushtable.table.plan import TablePlan

__all__ = ["Written", "read_published", "sensitive_path"]


def sensitive_path(path: Path) -> Path:
    """Where the sensitive values of a published file are, if they are apart.

    Examples
    --------
    >>> sensitive_path(Path("release.csv")).name
    'release-sensitive.csv'
    """
    return path.with_name(f"{path.stem}-sensitive{path.suffix}")


def read_published(path: Path, linked: TablePlan | None = None) -> pa.Table:
    """Read a published file; the guard against spreadsheet formulas is taken off again.

    Parameters
    ----------
    path : path
    linked : TablePlan, optional
        Given where the sensitive values are in a file of their own, which is read too.
    """
    table = read_coded(path, unescape_formulas=True)
    if linked is None:
        return table
    return join_tables(table, read_coded(sensitive_path(path), unescape_formulas=True), linked)


@dataclass(frozen=True)
class Written:
    """A published table in a file, or in a folder with its parts.

    Attributes
    ----------
    path : path
    columns : tuple of str
    linked : TablePlan, optional
        Given where the sensitive values are in a file of their own.
    """

    path: Path
    columns: tuple[str, ...]
    linked: TablePlan | None = None

    def read(self) -> pa.Table:
        """Return the table."""
        return read_published(self.path, self.linked)

    def gaps(self, table: pa.Table) -> pa.Table:
        """Return its rows with missing cells as such: in CSV they are empty."""
        if self.path.suffix != ".csv":
            return table
        columns = [decode(column) for column in table.columns]
        text = [pa.types.is_string(c.type) or pa.types.is_large_string(c.type) for c in columns]
        shown = [
            pc.if_else(pc.equal(c, ""), pa.scalar(None, c.type), c) if is_text else c
            for c, is_text in zip(columns, text, strict=True)
        ]
        return pa.table(shown, names=table.column_names)
