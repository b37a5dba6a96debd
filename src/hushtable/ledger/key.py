"""The key of a ledger: its secret, and the head that says where the ledger ends.

Both are in one file that only its owner can read, by default next to the ledger. The secret makes the hashes
of people and values: a ledger without it reveals nothing about anyone, and nobody without it can add to one or change
it unnoticed. The head counts the records and holds the check of the last one, so that a truncated ledger is
noticed.

A lost key cannot be recreated: the ledger can then be neither read nor continued, and its releases must be
added to a new one, from their originals.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import json
import os
import secrets
import stat
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.errors import DataError
from hushtable.io.atomic import atomic_file
from hushtable.io.versions import FORMATS, check_format
from hushtable.release.companion import check_outside

_FORMAT = "hushtable ledger key "


@dataclass(frozen=True)
class Head:
    """Where a ledger ends.

    Attributes
    ----------
    count : int
        Number of records.
    size : int
        Its length in bytes.
    last : str
        The check of its last record, which covers all before.
    pending : Head, optional
        The head after the record that is being added.
    """

    count: int
    size: int
    last: str
    pending: Head | None = None

    @classmethod
    def of(cls, data: dict[str, Any]) -> Head:
        """Return the head from a key's file."""
        pending = data["pending"]
        return cls(**{**data, "pending": None if pending is None else cls.of(pending)})


@dataclass(frozen=True)
class LedgerKey:
    """A secret and a head.

    Examples
    --------
    >>> key = LedgerKey(bytes(32), Head(0, 0, ""))
    >>> len(key.person("Rick")), key.person("Rick") == key.person("Rudy")
    (16, False)
    >>> key.person("Rick") == key.value("name", "Rick")
    False
    """

    secret: bytes
    head: Head

    @classmethod
    def new(cls) -> LedgerKey:
        """Draw a secret."""
        key = cls(secrets.token_bytes(32), Head(0, 0, ""))
        return replace(key, head=Head(0, 0, key.check("", b"")))

    def _keyed(self, purpose: str, text: bytes) -> bytes:
        return hmac.digest(_purpose_key(self.secret, purpose), text, "sha256")

    def person(self, label: str) -> bytes:
        """Return the 16 bytes that identify a person."""
        return self._keyed("person", label.encode("utf-8", "surrogatepass"))[:16]

    def record(self, person: bytes, content: bytes) -> bytes:
        """Return the 8 bytes that distinguish the records of one person."""
        return self._keyed("record", person + content)[:8]

    def value(self, column: str, label: str) -> bytes:
        """Return the 16 bytes that identify a value of a column."""
        name, text = (part.encode("utf-8", "surrogatepass") for part in (column, label))
        return self._keyed("value", len(name).to_bytes(8, "little") + name + text)[:16]

    def tag(self, person: bytes, value: bytes) -> bytes:
        """Return the 8 bytes that show whether a person's value is the same as before."""
        # there are as many of these as records and columns, and BLAKE2 is keyed by itself
        return hashlib.blake2b(person + value, digest_size=8, key=_purpose_key(self.secret, "tag")).digest()

    def seal(self, text: bytes) -> str:
        """Return text that only this key can read; the ledger's checks detect changes."""
        nonce = secrets.token_bytes(16)
        return base64.b64encode(nonce + self._hidden(nonce, text)).decode()

    def unseal(self, text: str) -> bytes:
        """Return the sealed text.

        Examples
        --------
        >>> key = LedgerKey(bytes(32), Head(0, 0, ""))
        >>> key.unseal(key.seal(b"promise"))
        b'promise'
        """
        raw = base64.b64decode(text, validate=True)
        return self._hidden(raw[:16], raw[16:])

    def _hidden(self, nonce: bytes, text: bytes) -> bytes:
        stream = hashlib.shake_256(_purpose_key(self.secret, "seal") + nonce).digest(len(text))
        return bytes(np.frombuffer(stream, np.uint8) ^ np.frombuffer(text, np.uint8))

    def table(self, content: bytes) -> str:
        """Return the keyed digest of a published table."""
        return self._keyed("table", content).hex()

    def check(self, previous: str, record: bytes) -> str:
        """Return the check of a record, given that of the one before."""
        return self._keyed("chain", previous.encode() + b"\n" + record).hex()

    def text(self) -> bytes:
        """Return the contents of the key's file."""
        body = {"format": f"{_FORMAT}{FORMATS['ledger']}", "secret": self.secret.hex(), "head": asdict(self.head)}
        check = self._keyed("head", _canonical(body)).hex()
        return _canonical({**body, "check": check}) + b"\n"


@functools.lru_cache(maxsize=64)
def _purpose_key(secret: bytes, purpose: str) -> bytes:
    return hmac.digest(secret, purpose.encode(), "sha256")


def _canonical(data: dict[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


def write_key(path: Path, key: LedgerKey) -> None:
    """Write a key file, completely or not at all; only its owner may read it.

    Raises
    ------
    OutputError
        If it cannot be written, or is in the folder of a release.
    """
    check_outside(path, "a ledger's key")
    with atomic_file(path, mode=0o600) as out:
        out.write(key.text())


def read_key(path: Path) -> LedgerKey:
    """Read a key file.

    Raises
    ------
    DataError
        If it does not exist, is not a key, was changed, or is readable by others.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"The ledger's key {str(path)!r} cannot be read: {os.strerror(error.errno or 0)}.",
            code="ledger-key",
            hint="Without its key, a ledger can be neither read nor continued: restore the key, or start a new "
            "ledger and add the earlier releases again.",
        ) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise DataError(
            f"The ledger's key {str(path)!r} may be read or changed by others.",
            code="ledger-key-open",
            hint=f"Remove their permissions: chmod 600 {path}",
        )
    try:
        data = json.loads(text)
        if (number := str(data["format"]).removeprefix(_FORMAT)).isdecimal():
            check_format("ledger", int(number), repr(str(path)))
        key = LedgerKey(bytes.fromhex(data["secret"]), Head.of(data["head"]))
        sound = hmac.compare_digest(key.text(), text)
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(
            f"{str(path)!r} is not the key of a ledger, or it was changed.",
            code="ledger-key-damaged",
            hint="Restore an unchanged copy.",
        )
    return key
