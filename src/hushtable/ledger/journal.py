"""The ledger's file: a sequence of records, each with a check that covers all before it.

::

    hushtable ledger 1
    <check of the record and of the one before> <record: one line of JSON>
    ...

The key (see ``hushtable.ledger.key``) makes the checks and holds the head: the number of records, where they end,
and the last one's check. A changed byte breaks the chain, a truncated record breaks the head.

Adding takes three writes, each flushed to the disk: the head announces the record, the record is appended, and the head
is updated. A process killed in between leaves an announcement behind. The next one finds either the whole record (it
counts) or a part of it (it does not, and the next addition removes it). Bytes that were not announced are tampering.

Only one process adds at a time: the file is locked, and the lock ends with the process. Readers wait for it too.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from hushtable.errors import DataError, OutputError
from hushtable.io.atomic import sync_folder
from hushtable.io.versions import FORMATS, look_at
from hushtable.ledger.key import Head, LedgerKey, read_key, write_key

_MAGIC = b"hushtable ledger %d\n" % FORMATS["ledger"]
_WAIT = 0.05
_CHECK = 64


class Opened(NamedTuple):
    """A locked ledger: its key and its records, checked."""

    key: LedgerKey
    records: list[bytes]


class Journal:
    """A file of records that only grows.

    Parameters
    ----------
    path : path
        The file.
    key : path, optional
        Its key's file. Defaults to the same name followed by ``.key``.
    patience : float
        Seconds to wait for another process.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> journal = Journal(Path(folder.name, "ledger"))
    >>> with journal.changing() as (opened, add):
    ...     add(b'{"first": 1}')
    >>> with journal.reading() as opened:
    ...     opened.records
    [b'{"first": 1}']
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, key: Path | None = None, *, patience: float = 30.0) -> None:
        self.path = path
        self.key_path = path.with_name(path.name + ".key") if key is None else key
        self.patience = patience

    def exists(self) -> bool:
        """Whether the ledger exists; raises if one of its two files is missing."""
        if self.path.is_dir():
            raise DataError(
                f"{str(self.path)!r} is a folder, not a ledger.", code="ledger-unusable", hint="Name the ledger's file."
            )
        here, key = self.path.exists(), self.key_path.exists()
        if here and not key and self.path.stat().st_size:
            read_key(self.key_path)
        if key and not here:
            raise DataError(
                f"The ledger {str(self.path)!r} is missing, but its key exists.",
                code="ledger-gone",
                hint="Restore it. To start over, move the key away.",
            )
        return key

    @contextmanager
    def reading(self) -> Iterator[Opened]:
        """Read and check the whole ledger; empty if there is none."""
        if not self.exists():
            yield Opened(LedgerKey.new(), [])
            return
        with _locked(self, changing=False) as stream:
            key = read_key(self.key_path)
            records, _ = _checked(stream.read(), key, self.path)
            yield Opened(key, records)

    @contextmanager
    def changing(self) -> Iterator[tuple[Opened, Callable[[bytes], None]]]:
        """Lock the ledger, created if there is none, and yield it with a function that adds a record."""
        self.exists()
        with _locked(self, changing=True) as stream:
            data = stream.read()
            if not data and not self.key_path.exists():
                key = LedgerKey.new()
                write_key(self.key_path, replace(key, head=replace(key.head, pending=_begun(key.head))))
            key = read_key(self.key_path)
            records, head = _checked(data, key, self.path)
            key = _settled(stream, key, head, self.path, self.key_path)

            def add(record: bytes) -> None:
                nonlocal key
                head = key.head
                check = key.check(head.last, record)
                line = check.encode() + b" " + record + b"\n"
                then = Head(head.count + 1, head.size + len(line), check)
                write_key(self.key_path, replace(key, head=replace(head, pending=then)))
                _append(stream, head.size, line)
                key = replace(key, head=then)
                write_key(self.key_path, key)

            yield Opened(key, records), add


def _begun(head: Head) -> Head:
    """Return the head of a ledger with its first line and no record."""
    return replace(head, size=len(_MAGIC), pending=None)


def _settled(stream: IO[bytes], key: LedgerKey, head: Head, path: Path, key_path: Path) -> LedgerKey:
    """Finish or undo the addition of an interrupted process; a new ledger gets its first line."""
    if key.head.pending is None:
        return key
    if head.size == 0:
        _append(stream, 0, _MAGIC)
        sync_folder(path.parent)
        head = _begun(head)
    else:
        # a whole record counts, a part of one goes
        stream.truncate(head.size)
        os.fsync(stream.fileno())
    settled = replace(key, head=replace(head, pending=None))
    write_key(key_path, settled)
    return settled


def _append(stream: IO[bytes], at: int, text: bytes) -> None:
    try:
        stream.seek(at)
        stream.truncate()
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise OutputError(f"The ledger cannot be written: {reason}.", hint="Nothing was added.") from None


def _checked(data: bytes, key: LedgerKey, path: Path) -> tuple[list[bytes], Head]:
    """Return the records and where they end, or raise if the file does not match its head."""
    head = key.head
    if len(data) < head.size:
        raise _tampered(path, "its end is missing")
    records = _chained(data[: head.size], head, key, path)
    rest = data[head.size :]
    if not rest:
        return records, head
    then = head.pending
    if then is None or len(data) > then.size:
        raise _tampered(path, "there are bytes after its end")
    if head.size and len(data) == then.size:
        record = rest[_CHECK + 1 : -1]
        if hmac.compare_digest(rest, key.check(head.last, record).encode() + b" " + record + b"\n"):
            return [*records, record], then
    return records, head


def _chained(data: bytes, head: Head, key: LedgerKey, path: Path) -> list[bytes]:
    if head.size and not data.startswith(_MAGIC):
        look_at(path)  # says so where a newer version wrote it
        raise _tampered(path, "its first line was changed")
    last, records = key.check("", b""), []
    lines = data[len(_MAGIC) :].split(b"\n")
    if lines.pop() != b"":
        raise _tampered(path, "its last record was changed")
    for number, line in enumerate(lines, start=1):
        check, record = line[:_CHECK], line[_CHECK + 1 :]
        last = key.check(last, record)
        if line[_CHECK : _CHECK + 1] != b" " or not hmac.compare_digest(check, last.encode()):
            raise _tampered(path, f"record {number} was changed")
        records.append(record)
    if len(records) != head.count or last != head.last:
        raise _tampered(path, "its records do not match its key")
    return records


def _tampered(path: Path, what: str) -> DataError:
    return DataError(
        f"The ledger {str(path)!r} was changed: {what}.",
        code="ledger-damaged",
        hint="Nothing was written. Restore an unchanged copy, with its key.",
    )


@contextmanager
def _locked(journal: Journal, *, changing: bool) -> Iterator[IO[bytes]]:
    """Open the file and hold its lock, which is released when the file is closed, even if the process is killed."""
    try:
        import fcntl
    except ImportError:
        raise OutputError(
            "This system cannot lock files, so two processes could spoil a ledger.", code="no-locks",
            hint="Keep the ledger on a POSIX system.",
        ) from None  # fmt: skip
    try:
        handle = os.open(journal.path, os.O_RDWR | os.O_CREAT if changing else os.O_RDONLY, 0o600)
    except OSError as error:
        raise (OutputError if changing else DataError)(
            f"The ledger {str(journal.path)!r} cannot be opened: {os.strerror(error.errno or 0)}.",
            code="ledger-unusable",
            hint="Check the path and its permissions.",
        ) from None
    until = time.monotonic() + journal.patience
    with os.fdopen(handle, "r+b" if changing else "rb") as stream:
        while True:
            try:
                fcntl.flock(stream, (fcntl.LOCK_EX if changing else fcntl.LOCK_SH) | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise OutputError(
                        f"Another process has been using the ledger {str(journal.path)!r} for {journal.patience:g} s.",
                        code="ledger-busy",
                        hint="Try again when it has finished. Nothing was added.",
                    ) from None
                time.sleep(_WAIT)
        yield stream
