"""Local paths for Spark, which does not decode percent signs, and reads some characters as patterns."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["to_read", "to_write"]

_PATTERN = re.compile(r"([\\*?\[\]{}])")


def to_write(path: Path) -> str:
    """Return the address of a file or folder for Spark to write.

    Examples
    --------
    >>> to_write(Path("/srv/my data[1]"))
    'file:///srv/my data[1]'
    """
    return f"file://{path.absolute()}"


def to_read(path: Path) -> str:
    r"""Return the address of a file or folder for Spark to read, with pattern characters escaped.

    Examples
    --------
    >>> print(to_read(Path("/srv/my data[1]")))
    file:///srv/my data\[1\]
    """
    return _PATTERN.sub(r"\\\1", to_write(path))
