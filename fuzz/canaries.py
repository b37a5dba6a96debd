"""A table in which every cell that nobody may see is an unlikely word, and a search for those words in everything.

Words tell their column: ``zqname0007`` is a cell of ``name``. No column's name is such a word.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["POLICY", "ROWS", "Search", "table", "towns", "words_in"]

ROWS = 240
_WORD = re.compile(rb"zq(name|note|town|post|site|ill)\d{4}")
# what a search of plain bytes would miss
_WIDE = re.compile(rb"z\0q\0(?:[a-z]\0){3,4}(?:\d\0){4}")

POLICY: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "note": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [5, 10, 40]}},
        "town": {"role": "quasi", "kind": "nominal", "hierarchy": "towns.csv"},
        "post": {"role": "quasi", "kind": "nominal", "hierarchy": {"prefix": "*"}},
        "day": {"role": "quasi", "kind": "date", "hierarchy": {"dates": ["month", "year"]}},
        "site": {"role": "insensitive"},
        "ill": {"role": "sensitive", "kind": "nominal"},
    },
    "models": [
        {"k-anonymity": {"k": 4}},
        {"distinct-l": {"l": 2, "on": "ill"}},
        {"t-closeness": {"t": 0.9, "on": "ill"}},
    ],
    "algorithm": {"mondrian": {}},
    "suppression": 0.1,
    "cells": "nodes",
    "seed": 7,
}
"""Every person's town and postcode are their own, so none of them may be published; nor may names and notes."""


def table(rows: int = ROWS, first: int = 0) -> Any:
    """Return people, all of them different."""
    import datetime as dt

    import pyarrow as pa

    numbers = range(first, first + rows)
    return pa.table(
        {
            "name": [f"zqname{i:04d}" for i in numbers],
            "note": [f"was seen by zqnote{i:04d} twice" for i in numbers],
            "age": [20 + i % 50 for i in numbers],
            "town": [f"zqtown{i:04d}" for i in numbers],
            "post": [f"zqpost{(i * 7919) % 10000:04d}" for i in numbers],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=i % 300) for i in numbers],
            "site": [f"zqsite{i % 7:04d}" for i in numbers],
            "ill": [f"zqill{i % 9:04d}" for i in numbers],
        }
    )


def towns(rows: int = 2 * ROWS) -> str:
    """Return the hierarchy of towns, as CSV; above the towns there is nothing of anybody's."""
    return "".join(f"zqtown{i:04d},area {i % 4},*\n" for i in range(rows))


def words_in(data: bytes) -> set[str]:
    """Return the columns of which a word is in some bytes; archives and Parquet are looked into.

    Examples
    --------
    >>> sorted(words_in(b"a zqname0001, a zqtown and zqill0003"))
    ['ill', 'name']
    """
    found = {match.group(1).decode() for match in _WORD.finditer(data)}
    wide = b"".join(_WIDE.findall(data)).replace(b"\0", b"")
    found |= {match.group(1).decode() for match in _WORD.finditer(wide)}
    for inner in _inside(data):
        found |= words_in(inner)
    return found


def _inside(data: bytes) -> Iterator[bytes]:
    """What is packed in some bytes; nothing where they are not whole."""
    try:
        if data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield from [archive.read(name) for name in archive.namelist()]
        elif data.startswith(b"\x1f\x8b"):
            yield gzip.decompress(data)
        elif data.startswith(b"PAR1"):
            import pyarrow.parquet as pq

            yield json.dumps(pq.read_table(io.BytesIO(data)).to_pylist(), default=str).encode()
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return


@dataclass
class Search:
    """What was seen of some folders; only what is new or changed is looked at again.

    Attributes
    ----------
    folders : tuple of path
    inputs : set of path
        Files that were given, and are allowed to hold everything.
    """

    folders: tuple[Path, ...]
    inputs: set[Path] = field(default_factory=set)
    _seen: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def new_files(self) -> Iterator[tuple[Path, set[str]]]:
        """Yield every file that is new or has changed, with the columns whose words are in it or in its name."""
        for folder in self.folders:
            for path in sorted(folder.rglob("*")):
                if path in self.inputs or not path.is_file() or path.is_symlink():
                    continue
                stamp = (path.stat().st_mtime_ns, path.stat().st_size)
                if self._seen.get(path) != stamp:
                    self._seen[path] = stamp
                    yield path, words_in(path.read_bytes()) | words_in(str(path).encode())
