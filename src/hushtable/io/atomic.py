"""Atomic writing: a file or folder is either complete or absent.

Everything is written next to its target under a hidden temporary name, flushed to disk and renamed into place. On any
failure (a full disk, an error, Ctrl-C), the temporary is removed and the target is unchanged. After a kill, the target
is unchanged too, and the next process that writes it removes the temporary (``hushtable.io.temporary``).
"""

from __future__ import annotations

import ctypes
import errno
import fnmatch
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from hushtable.errors import HushtableError, OutputError
from hushtable.io.temporary import held_temporary, hidden_sibling

_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space or choose another folder."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space or choose another folder."),
    errno.EFBIG: ("the file would be larger than a limit of this system", "Write smaller parts, or raise the limit."),
    errno.EROFS: ("the file system is read-only", "Choose another folder."),
    errno.EACCES: ("permission is denied", "Choose a folder that you may write to."),
    errno.EPERM: ("permission is denied", "Choose a folder that you may write to."),
    errno.ENOENT: ("its folder does not exist", "Create the folder first."),
    errno.ENOTDIR: ("a part of its path is a file, not a folder", "Choose another path."),
    errno.EBUSY: ("the system uses it and does not let it be replaced", "Choose a folder inside it."),
    errno.ENAMETOOLONG: ("its name is too long", "Choose a shorter name."),
}


def _failed(path: Path, error: OSError) -> OutputError:
    reason, hint = _REASONS.get(error.errno or 0, (os.strerror(error.errno) if error.errno else "the write failed", ""))
    return OutputError(f"{str(path)!r} cannot be written: {reason}.", hint=hint)


def check_access(place: Path, path: str | os.PathLike[str], mode: int = os.W_OK) -> None:
    """Refuse a path whose file or folder this process may not write to, and say whether the file system is read-only.

    Parameters
    ----------
    place : path
        The existing file or folder.
    path : path
        The path to be written, for the error.
    mode : int
        As for ``os.access``.

    Examples
    --------
    >>> import tempfile
    >>> check_access(Path(tempfile.gettempdir()), "out")
    """
    if not os.access(place, mode):
        read_only = hasattr(os, "statvfs") and os.statvfs(place).f_flag & os.ST_RDONLY
        raise _failed(Path(path), OSError(errno.EROFS if read_only else errno.EACCES, ""))


@contextmanager
def reported(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report file errors inside the block as ``OutputError``, with the reason and the remedy.

    Examples
    --------
    >>> with reported("out"):
    ...     raise OSError(errno.ENOSPC, "")
    Traceback (most recent call last):
    hushtable.errors.OutputError: 'out' cannot be written: the disk is full. Free some space or choose another folder.
    """
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise _failed(Path(path), error) from None


@contextmanager
def named(hidden: Path, path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the user's path in errors inside the block, not the temporary one.

    Examples
    --------
    >>> with named(Path("a/.out.0123456789ab.tmp/out"), "a/out"):
    ...     raise OutputError("'a/.out.0123456789ab.tmp/out/release.csv' cannot be written.")
    Traceback (most recent call last):
    hushtable.errors.OutputError: 'a/out/release.csv' cannot be written.
    """
    try:
        yield
    except HushtableError as error:
        shown, known = str(hidden), str(Path(path))
        # messages quote paths, which escapes some characters
        pairs = ((repr(shown)[1:-1], repr(known)[1:-1]), (shown, known))
        for here, there in pairs:
            error.message, error.hint = error.message.replace(here, there), error.hint.replace(here, there)
        error.args = (f"{error.message} {error.hint}".rstrip(),)
        raise


@contextmanager
def atomic_file(path: str | os.PathLike[str], *, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes; it appears under its name only when the block ends without an error.

    Parameters
    ----------
    path : path
    mode : int
        Permissions from the first byte on, before the process's umask.

    Raises
    ------
    OutputError
        If it cannot be written: no such folder, no permission, disk full, or the target is not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_file(Path(folder, "a")) as out:
    ...         _ = out.write(b"1"); before = Path(folder, "a").exists()
    ...     before, Path(folder, "a").read_bytes()
    (False, b'1')
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "a device or pipe"
        raise OutputError(f"{str(path)!r} cannot be written: it is {what}.", hint="Choose a file name.")
    with reported(path), held_temporary(target, lambda name: _make(name, mode)) as temporary:
        with temporary.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    sync_folder(target.parent)


def _make(path: Path, mode: int) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def sync_folder(path: Path) -> None:
    """Make the rename itself durable; not every system lets folders be opened."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)


def atomic_write_text(path: str | os.PathLike[str], text: str) -> None:
    r"""Write a text file (UTF-8, line endings unchanged), completely or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write_text(Path(folder, "a.txt"), "é\n")
    ...     Path(folder, "a.txt").read_bytes()
    b'\xc3\xa9\n'
    """
    with atomic_file(path) as out:
        out.write(text.encode("utf-8"))


@contextmanager
def atomic_folder(
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    owned: Sequence[str] = (),
    together: ExitStack | None = None,
) -> Iterator[Path]:
    """Fill a temporary folder next to the target; it is renamed into place when the block ends without an error.

    Parameters
    ----------
    path : path
        The folder to create, with its parents. An existing empty folder is used.
    overwrite : bool
        Replace a folder that is not empty, as a whole. It may only contain files that are written again or match
        ``owned``; a folder with anything else is refused, since that would be lost.
    owned : sequence of str
        Patterns such as ``"*.csv"`` of files that earlier runs may have left there.
    together : ExitStack, optional
        What must be completed with the folder, such as a transaction: it is closed just before the renaming, and if
        that fails, there is no folder.

    Raises
    ------
    OutputError
        If the folder exists with content, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with atomic_folder(Path(base, "out")) as folder:
    ...         _ = (folder / "a.txt").write_text("1")
    ...     sorted(p.name for p in Path(base, "out").iterdir())
    ['a.txt']
    """
    with atomic_folders([path], overwrite=overwrite, owned=[owned], together=together) as (place,):
        yield place


@contextmanager
def atomic_folders(
    paths: Sequence[str | os.PathLike[str]],
    *,
    overwrite: bool = False,
    owned: Sequence[Sequence[str]] = (),
    together: ExitStack | None = None,
) -> Iterator[list[Path]]:
    """Fill several folders like ``atomic_folder``: if one of them fails, all are unchanged.

    They are renamed one after the other, the first of them last; only a kill can interrupt this.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with atomic_folders([Path(base, "one"), Path(base, "two")]) as (one, two):
    ...         _ = (one / "a").write_text("1"), (two / "b").write_text("2")
    ...     sorted(p.name for p in Path(base).rglob("*"))
    ['a', 'b', 'one', 'two']
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    for target, path in zip(targets, paths, strict=True):
        _refuse(target, path, overwrite)
    with ExitStack() as held:
        places = []
        for target, path in zip(targets, paths, strict=True):
            held.enter_context(reported(path))
            # unfinished or unverified output is private; the folder inside has the usual mode
            hidden = held.enter_context(held_temporary(target, lambda new: new.mkdir(mode=0o700, parents=True)))
            places.append(hidden / target.name)
            places[-1].mkdir()
        held.enter_context(reported(paths[0]))
        with ExitStack() as names:
            for place, path in zip(places, paths, strict=True):
                names.enter_context(named(place, path))
            yield places
        for target, place, path, mine in zip(targets, places, paths, owned or [()] * len(paths), strict=True):
            _sync_files(place)
            _check_foreign(target, place, path, mine)
        if together is not None:
            together.close()
        with ExitStack() as undo:
            for target, place, path in reversed(list(zip(targets, places, paths, strict=True))):
                with reported(path):
                    undo.callback(_swap(place, target))
            undo.pop_all()
    for target in targets:
        sync_folder(target.parent)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be replaced, since a folder is written as a whole.

    Raises
    ------
    OutputError
        If the path is a mount point, or the current folder of this process.

    Examples
    --------
    >>> check_replaceable("/")
    Traceback (most recent call last):
    hushtable.errors.OutputError: '/' cannot be written: it is the root of a file system. Choose a folder inside it.
    """
    target = os.path.realpath(path)
    if os.path.ismount(target):
        reason = "it is the root of a file system"
    elif os.path.isdir(target) and os.path.samefile(target, os.curdir):
        # a process whose current folder is replaced is left in a deleted one
        reason = "it is the folder you are in, which cannot be replaced"
    else:
        return
    raise OutputError(f"{os.fspath(path)!r} cannot be written: {reason}.", hint="Choose a folder inside it.")


def _refuse(target: Path, path: str | os.PathLike[str], overwrite: bool) -> None:
    if target.exists() and not target.is_dir():
        raise OutputError(f"{os.fspath(path)!r} is a file, not a folder.", hint="Choose another folder.")
    check_replaceable(path)
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise OutputError(
            f"The folder {os.fspath(path)!r} is not empty.",
            code="not-empty",
            hint="Choose another folder, or allow overwriting.",
        )


def _check_foreign(target: Path, temporary: Path, path: str | os.PathLike[str], owned: Sequence[str]) -> None:
    if not target.is_dir():
        return
    written = {p.name for p in temporary.iterdir()}
    foreign = [
        p for p in target.iterdir() if p.name not in written and not any(fnmatch.fnmatch(p.name, o) for o in owned)
    ]
    if foreign:
        raise OutputError(
            f"The folder {os.fspath(path)!r} contains {len(foreign)} other files or folders, which would be lost.",
            code="not-empty",
            hint="Choose another folder, or move them away.",
        )


def _sync_files(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb+") as stream:
                os.fsync(stream.fileno())


def _swap(temporary: Path, target: Path) -> Callable[[], object]:
    """Move a folder into place, and its predecessor into the temporary; return a function that undoes this."""
    if not target.is_dir():
        os.replace(temporary, target)
        return lambda: os.replace(target, temporary)
    if not any(target.iterdir()):
        target.rmdir()  # some systems do not rename onto an existing folder
        with ExitStack() as back:
            back.callback(target.mkdir)
            os.replace(temporary, target)
            back.callback(os.replace, target, temporary)
            return back.pop_all().close
    if not _exchanged(temporary, target):
        old = hidden_sibling(target, f"{secrets.token_hex(6)}.old")  # outside the temporary, so that it survives a kill
        os.replace(target, old)
        try:
            os.replace(temporary, target)
        except BaseException:
            os.replace(old, target)
            raise
        os.replace(old, temporary)
    return lambda: _swap(temporary, target)  # the predecessor is removed with the temporary


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one atomic step; False if the system does not support it (only Linux does)."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
