"""Temporary files and folders next to their target: locked by their writer, removed by the next one after a kill.

A killed process cannot clean up. So every temporary has a name that shows its target (``.release.3f9a0c12d4e5.tmp``)
and a lock that ends with its process, and the next process that writes the same target removes those that are not
locked. Systems without locks keep them.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hushtable.errors import OutputError

_TEMPORARY = re.compile(r"\..*\.[0-9a-f]{12}\.tmp", re.DOTALL)
_LOCK = "lock"


@contextmanager
def held_temporary(target: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Create a temporary next to its target and lock it; it is removed when the block ends, unless it was renamed.

    Parameters
    ----------
    target : path
        The path to be written.
    make : callable
        Creates a file or a folder at a path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with held_temporary(Path(base, "out"), Path.mkdir) as here:
    ...         sweep(Path(base, "out")); found = here.is_dir()
    ...     found, here.exists()
    (True, False)
    """
    sweep(target)
    lock = None
    path = _fresh(target)
    try:
        while True:
            make(path)
            lock = _lock(path)
            if os.path.lexists(path):
                break
            _close(lock)  # another process removed it before it was locked
            path = _fresh(target)
        yield path
    finally:
        _remove(path)
        _close(lock)


@contextmanager
def private_folder() -> Iterator[Path]:
    """Create a private folder in the system's temporary folder; it is removed when the block ends.

    Leftovers of killed processes of the same user are removed first.

    Examples
    --------
    >>> with private_folder() as folder:
    ...     oct(folder.stat().st_mode)[-3:]
    '700'
    """
    target = Path(tempfile.gettempdir()) / f"hushtable-{getattr(os, 'getuid', int)()}"
    with held_temporary(target, lambda folder: folder.mkdir(mode=0o700)) as folder:
        yield folder


def sweep(target: Path) -> None:
    """Remove a target's temporaries of killed processes; those in use, and everything else, are kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     for name in (".out.0123456789ab.tmp", ".other.0123456789ab.tmp"):
    ...         Path(base, name).touch()
    ...     sweep(Path(base, "out"))
    ...     os.listdir(base)
    ['.other.0123456789ab.tmp']
    """
    if any(_TEMPORARY.fullmatch(folder.name) for folder in target.parents):
        return  # everything inside a temporary is removed with it
    mine = re.compile(re.escape(_stem(target)) + r"(\.[0-9a-f]{12}\.tmp|\.work)")
    try:
        names = [name for name in os.listdir(target.parent) if mine.fullmatch(name)]
    except OSError:
        return
    for path in map(target.with_name, names):
        lock = _lock(path / _LOCK if path.suffix == ".work" else path)
        if lock is not None:
            _remove(path)
        _close(lock)


def hidden_sibling(target: Path, ending: str) -> Path:
    """The hidden path next to a target, with the target's name in it.

    Raises
    ------
    OutputError
        If the target is the root of a file system.

    Examples
    --------
    >>> hidden_sibling(Path("a/out"), "work").as_posix()
    'a/.out.work'
    """
    if not target.name:
        raise OutputError(
            f"{str(target)!r} cannot be written: it is the root of a file system.", hint="Choose a folder inside it."
        )
    return target.with_name(f"{_stem(target)}.{ending}")


def _fresh(target: Path) -> Path:
    return hidden_sibling(target, f"{secrets.token_hex(6)}.tmp")


def _stem(target: Path) -> str:
    return f".{target.name[:100]}"


def _lock(path: Path) -> int | None:
    """Lock a file or folder; None if another process has, it is a link, or the system does not support locks."""
    try:
        import fcntl

        # a planted link could lead anywhere
        handle = os.open(path, (os.O_RDONLY if path.is_dir() else os.O_RDWR) | os.O_NOFOLLOW)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _close(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return  # its folder is gone, or inaccessible
