"""The folder in which the studio keeps everything, and the names that are allowed there."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

from hushtable.errors import UsageError

HOME = "HUSHTABLE_STUDIO"
"""Environment variable that names another folder."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,99}")


def default_home() -> Path:
    """Return the studio's folder: ``$HUSHTABLE_STUDIO``, or the user's data folder."""
    given = os.environ.get(HOME)
    if given:
        return Path(given).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "hushtable" / "studio"


def safe_name(name: str) -> str:
    r"""Return a file name that came from outside, if it needs no quoting anywhere.

    Examples
    --------
    >>> safe_name("patients.csv")
    'patients.csv'
    >>> safe_name("../secret.csv")
    Traceback (most recent call last):
    hushtable.errors.UsageError: This is not a plain file name. Use letters, digits, dots, hyphens and underscores.
    """
    if not _NAME.fullmatch(name) or ".." in name or name != name.strip() or name.endswith("."):
        raise UsageError(
            "This is not a plain file name.",
            code="file-name",
            hint="Use letters, digits, dots, hyphens and underscores.",
        )
    return name


def inside(folder: Path, name: str | os.PathLike[str]) -> Path:
    """Return the path of a file below a folder, with links resolved; refuse every other location.

    Examples
    --------
    >>> inside(Path("/studio/p1"), "../p2/data.csv")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The file is outside the project's folder. Upload it to the project first.
    """
    base = folder.resolve()
    try:
        path = (base / name).resolve()
    except (OSError, ValueError):
        path = base.parent
    if path != base and base not in path.parents:
        raise UsageError(
            "The file is outside the project's folder.",
            code="outside",
            hint="Upload it to the project first.",
        )
    return path


class Claim:
    """One studio per folder: a lock that ends with the process that holds it.

    Parameters
    ----------
    home : Path
        Created if it does not exist, readable by its owner only.

    Raises
    ------
    UsageError
        If another studio has the folder open.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        self._lock = sqlite3.connect(home / "lock.sqlite", timeout=0.5, isolation_level=None, check_same_thread=False)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            self._lock.close()
            raise UsageError(
                f"Another studio has {str(home)!r} open.",
                code="claimed",
                hint=f"Use that one, stop it, or set {HOME} to another folder.",
            ) from None

    def release(self) -> None:
        """Release the folder."""
        self._lock.close()
