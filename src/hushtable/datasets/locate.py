"""The search path of reference data sets. Nothing is downloaded here."""

from __future__ import annotations

import os
from pathlib import Path

from hushtable.errors import DataError

ENVIRONMENT = "HUSHTABLE_DATA"


def cache_dir() -> Path:
    """Return the user's cache folder for data sets; it need not exist.

    Examples
    --------
    >>> cache_dir().name
    'hushtable'
    """
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hushtable"


def data_dirs() -> list[Path]:
    """Return the folders that are searched, in order.

    ``$HUSHTABLE_DATA``, ``../shared/data`` next to the working directory and next to this module's checkout, and the
    user's cache.

    Examples
    --------
    >>> data_dirs()[-1] == cache_dir()
    True
    """
    dirs = [Path.cwd().parent / "shared" / "data"]
    given = os.environ.get(ENVIRONMENT)
    if given:
        dirs.insert(0, Path(given))
    root = Path(__file__).resolve().parents[3]
    if (root / "pyproject.toml").is_file():
        dirs.append(root.parent / "shared" / "data")
    return list(dict.fromkeys([*dirs, cache_dir()]))


def find_data(path: str) -> Path | None:
    """Return the first file with this relative path in the searched folders, or None.

    Examples
    --------
    >>> find_data("adult/no-such-file.csv") is None
    True
    """
    return next((found for folder in data_dirs() if (found := folder / path).is_file()), None)


def require_data(path: str, published: str) -> Path:
    """Return the file, or raise an error that says where it is published and how to provide it.

    Examples
    --------
    >>> require_data("no/such.csv", "Nobody publishes it.")
    Traceback (most recent call last):
    hushtable.errors.DataError: The data file 'no/such.csv' was not found in ... Nobody publishes it. ...
    """
    found = find_data(path)
    if found is None:
        searched = ", ".join(str(folder) for folder in data_dirs())
        raise DataError(
            f"The data file {path!r} was not found in {searched}.",
            code="data-not-found",
            hint=f"{published} Put the file there, or set {ENVIRONMENT} to the folder that holds {path!r}.",
        )
    return found
