"""What a stored result belongs to: keyed hashes of the table, the files of the policy, the setting and the version."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from hushtable._version import __version__
from hushtable.comparison.evaluate import Wanted
from hushtable.comparison.files import policy_files
from hushtable.errors import DataError
from hushtable.io.secret import keyed_hash
from hushtable.io.urls import is_url
from hushtable.policy.policy import Policy

__all__ = ["input_key", "setting_key"]


def input_key(table: pa.Table, base: Policy, secret: bytes) -> str:
    """Return the keyed hash of the table and of every file that the policy names, its ledger included.

    Examples
    --------
    >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}])
    >>> one, other = pa.table({"age": [1, 2]}), pa.table({"age": [1, 3]})
    >>> input_key(one, policy, b"x") == input_key(one, policy, b"x"), input_key(one, policy, b"x") == input_key(
    ...     other, policy, b"x")
    (True, False)
    """
    document = base.document()
    files = [_content(base.base_dir, name) for name in policy_files(document)]
    if document.get("ledger"):
        # what was released before decides what may be; before the first release there is no file
        ledger = (base.base_dir or Path()) / document["ledger"]["file"]
        files.append(_content(None, str(ledger)) if ledger.exists() else b"")
    return keyed_hash((*_bytes(table), *files), secret, "comparison input")


def setting_key(table_key: str, policy: Policy, wanted: Wanted, secret: bytes) -> str:
    """Return the key of one result: the table, the setting's policy, what is measured, and hushtable's version."""
    measured = json.dumps(wanted.as_data(), sort_keys=True)
    parts = (table_key, policy.digest(), measured, __version__)
    return keyed_hash((part.encode() for part in parts), secret, "comparison setting")


def _bytes(table: pa.Table) -> Iterator[bytes]:
    """The table column by column; how it is cut into chunks does not matter."""
    for name in sorted(table.column_names):
        column = table.column(name).combine_chunks()
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        sink = pa.BufferOutputStream()
        batch = pa.record_batch([array], names=[name])
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield sink.getvalue().to_pybytes()


def _content(folder: Path | None, name: str) -> bytes:
    if is_url(name):
        return secrets.token_bytes(32)  # nobody can tell whether it still is what it was
    path = Path(name) if folder is None else folder / name
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"The file {str(path)!r} that the policy names cannot be read: {error.strerror}.", code="no-file"
        ) from None
