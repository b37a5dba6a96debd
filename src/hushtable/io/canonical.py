"""Canonical text of data, so that equal data have equal hashes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def canonical_json(data: Any) -> str:
    """Return plain data as JSON that writes equal numbers in the same way. Order is kept: a policy's order matters.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": (1, 0.5)})
    '{"b":1,"a":[1,0.5]}'
    """
    return json.dumps(_plain_numbers(data), ensure_ascii=False, separators=(",", ":"))


def digest(data: Any) -> str:
    """Return the SHA-256 of the canonical JSON, as hexadecimal digits.

    Examples
    --------
    >>> digest({"k": 5}) == digest({"k": 5.0})
    True
    """
    return hashlib.sha256(canonical_json(data).encode("utf-8", "surrogatepass")).hexdigest()


def table_digest(table: pa.Table) -> bytes:
    """Return the SHA-256 of the cells of a table, regardless of their types and storage.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table_digest(pa.table({"a": [1, 2]})) == table_digest(pa.table({"a": [1.0, 2.0]}))
    True
    """
    import numpy as np

    from hushtable.io.dictionaries import encode, to_codes
    from hushtable.io.text import to_labels

    found = hashlib.sha256()
    for name in table.column_names:
        coded = encode(table.column(name))
        texts = to_labels(coded.dictionary).to_pylist()
        labels = [b"\x01" if v is None else v.encode("utf-8", "surrogatepass") for v in texts]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        place = np.empty(len(labels) + 1, dtype="<i4")
        place[order], place[-1] = np.arange(len(labels)), -1
        found.update(f"\x00column {len(name)} {name} {len(labels)}".encode("utf-8", "surrogatepass"))
        for at in order:
            found.update(len(labels[at]).to_bytes(8, "little") + labels[at])
        found.update(place[to_codes(coded)].tobytes())
    return found.digest()


def _plain_numbers(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _plain_numbers(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain_numbers(value) for value in data]
    return int(data) if isinstance(data, float) and data.is_integer() else data


# Values as JSON-ready data.


def plain(value: Any) -> Any:
    """Return a value as JSON-ready data.

    Examples
    --------
    >>> from pathlib import Path
    >>> plain({"loss": float("nan"), "file": Path("a.csv"), "columns": ("age",)})
    {'loss': None, 'file': 'a.csv', 'columns': ['age']}
    """
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)
