"""The local secret: keyed hashes of inputs and people that nobody outside the organization can guess.

A plain hash of a table or an identifier can be found by trial; an HMAC needs the secret, a file of 32 random bytes that
only its owner can read and that is never part of a release.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import itertools
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from hushtable.errors import OutputError, UsageError

SECRET = "HUSHTABLE_SECRET"  # noqa: S105 - the name of a variable, not a secret
"""Environment variable: the file with the secret, if it is not in its usual place."""

LENGTH = 32


def secret_path() -> Path:
    """Return the path of the secret: ``$HUSHTABLE_SECRET``, or ``hushtable/secret`` in the user's data folder.

    Examples
    --------
    >>> secret_path().is_absolute()
    True
    """
    given = os.environ.get(SECRET)
    if given:
        return Path(given).absolute()
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base).absolute() if base else Path.home() / ".local" / "share") / "hushtable" / "secret"


def load_secret(path: str | os.PathLike[str] | None = None) -> bytes:
    """Return the secret; create it (mode 0600) if there is none yet.

    Parameters
    ----------
    path : path, optional
        Defaults to ``secret_path()``.

    Raises
    ------
    UsageError
        If the file is not a secret of hushtable, or others can read it.
    OutputError
        If it cannot be created.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = load_secret(Path(folder, "secret"))
    ...     len(made), load_secret(Path(folder, "secret")) == made
    (32, True)
    """
    place = Path(path) if path is not None else secret_path()
    try:
        return _read(place)
    except FileNotFoundError:
        _make(place)
    return _read(place)


def keyed_hash(parts: Iterable[bytes | tuple[int, Iterable[bytes]]], secret: bytes, purpose: str) -> str:
    """Return HMAC-SHA-256 over parts of any length, as hexadecimal digits.

    Parameters
    ----------
    parts : iterable of bytes
        Each is preceded by its length, so that moving a boundary changes the hash. A long part may be given as its
        length and its pieces.
    secret : bytes
    purpose : str
        What the hash is for; hashes of one thing for two purposes cannot be linked.

    Examples
    --------
    >>> keyed_hash([b"ab", b"c"], b"key", "input") == keyed_hash([b"a", b"bc"], b"key", "input")
    False
    """
    digest = hmac.new(secret, digestmod=hashlib.sha256)
    for part in itertools.chain([purpose.encode()], parts):
        length, pieces = part if isinstance(part, tuple) else (len(part), [part])
        digest.update(length.to_bytes(8, "big"))
        for piece in pieces:
            digest.update(piece)
    return digest.hexdigest()


def _read(place: Path) -> bytes:
    try:
        with place.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            found = stream.read(LENGTH + 1)
    except (IsADirectoryError, PermissionError, NotADirectoryError) as error:
        raise UsageError(
            f"The secret {str(place)!r} cannot be read: {os.strerror(error.errno or 0)}.",
            code="secret",
            hint=f"Name another file with {SECRET}.",
        ) from None
    # on other systems, the mode does not show who may read a file
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise UsageError(
            f"The secret {str(place)!r} can be read by others.", code="secret", hint=f"chmod 600 {str(place)!r}"
        )
    if len(found) != LENGTH:
        raise UsageError(
            f"{str(place)!r} is not a secret of {LENGTH} bytes.",
            code="secret",
            hint=f"Move it away, or name another file with {SECRET}.",
        )
    return found


def _make(place: Path) -> None:
    """Write a new secret; if two processes do this, both use the first one's."""
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(6)}.tmp")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(secrets.token_bytes(LENGTH))
                stream.flush()
                os.fsync(stream.fileno())
            _link(temporary, place)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"The secret {str(place)!r} cannot be created: {os.strerror(error.errno or 0)}.",
            code="secret",
            hint=f"Name another file with {SECRET}.",
        ) from None


def _link(temporary: Path, place: Path) -> None:
    """Give the complete file its name, unless another process was faster."""
    try:
        os.link(temporary, place)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EACCES, errno.ENOSYS):
            raise
        os.replace(temporary, place)  # a file system without hard links
