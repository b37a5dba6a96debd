"""Finished settings on disk, one line each, so that an interrupted comparison can resume.

A line is written in one piece and flushed to the disk when its setting is finished. Remains of an unfinished line after
a power cut or a kill are skipped when reading. Lines contain settings and numbers, no value of a record.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hushtable.comparison.evaluate import Row, is_row
from hushtable.errors import DataError, OutputError

__all__ = ["Results"]

_FORMAT = 1


class Results:
    """The results file; without a path, results are only kept in memory.

    Parameters
    ----------
    path : Path, optional

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     row = {"status": "ok", "reason": "", "values": {"ncp": 0.5}, "seconds": 1.0}
    ...     Results(Path(folder, "results.jsonl")).add("a1", row)
    ...     Results(Path(folder, "results.jsonl")).get("a1") == row
    True
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._rows: dict[str, Row] = {}
        if path is not None and path.exists():
            self._read(path)

    def check_writable(self) -> None:
        """Refuse a file that cannot be written, before any work is done.

        Raises
        ------
        OutputError
        """
        if self.path is not None:
            self._append("")

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: str) -> Row | None:
        """Return the stored row, or None."""
        return self._rows.get(key)

    def add(self, key: str, row: Row) -> None:
        """Store a row, on the disk first; the first one of a key stays.

        Raises
        ------
        OutputError
        """
        if key in self._rows:
            return
        if self.path is not None:
            self._append(json.dumps({"format": _FORMAT, "key": key, "row": row}, allow_nan=False))
        self._rows[key] = row

    def _read(self, path: Path) -> None:
        try:
            text = path.read_bytes()
        except OSError as error:
            raise DataError(f"The results {str(path)!r} cannot be read: {error.strerror}.", code="results") from None
        for line in text.split(b"\n"):
            entry = _entry(line)
            if entry is not None:
                self._rows.setdefault(entry["key"], entry["row"])
        if text.strip() and not self._rows and not text.lstrip().startswith(b'{"format"'):
            raise DataError(
                f"{str(path)!r} is not a results file of hushtable.",
                code="results",
                hint="Choose another folder, or move the file away.",
            )

    def _append(self, line: str) -> None:
        assert self.path is not None
        try:
            with self.path.open("ab+") as stream:
                torn = b""
                if stream.seek(0, os.SEEK_END):
                    stream.seek(-1, os.SEEK_END)
                    torn = b"" if stream.read(1) == b"\n" else b"\n"
                if line:
                    stream.write(torn + line.encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"{str(self.path)!r} cannot be written: {os.strerror(error.errno or 0)}.") from None


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return the entry of a line; None for the remains of an unfinished one."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(entry, dict) and entry.get("format") == _FORMAT and is_row(entry.get("row"))
    return entry if whole and isinstance(entry.get("key"), str) else None
