"""Whether a result can be written, asked before the work is done rather than after it."""

from __future__ import annotations

import os
from pathlib import Path

from hushtable.errors import OutputError
from hushtable.io.atomic import check_replaceable
from hushtable.release.files import OWNED

__all__ = ["check_target"]

_OURS = frozenset({*OWNED, "policy.yaml", "release.json"})


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that the result could not be written to.

    Writing checks again, and completely; this spares the user the wait.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     _ = Path(base, "old.csv").write_text("x")
    ...     check_target(Path(base), overwrite=False)
    Traceback (most recent call last):
    hushtable.errors.OutputError: The folder '...' is not empty. Choose another folder, or add --overwrite.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{str(folder)!r} is a file, not a folder.", hint="Choose another folder.")
    check_replaceable(folder)
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise OutputError(
            f"The folder {str(folder)!r} is not empty.",
            code="not-empty",
            hint="Choose another folder, or add --overwrite.",
        )
    foreign = sorted(p.name for p in folder.iterdir() if p.name not in _OURS) if folder.is_dir() else []
    if foreign:
        some = ", ".join(repr(name) for name in foreign[:3]) + (" and others" if len(foreign) > 3 else "")
        raise OutputError(
            f"The folder {str(folder)!r} holds more than a release, which would be lost: {some}.",
            code="not-empty",
            hint="Choose another folder, or move them away.",
        )
    parent = Path(os.path.realpath(folder)).parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise OutputError(f"{str(parent)!r} is a file, not a folder.", hint="Choose another folder.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"{str(folder)!r} cannot be written: permission is denied.",
            hint="Choose a folder that you may write to.",
        )
