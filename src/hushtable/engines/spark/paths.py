"""Local paths as Spark takes them: it decodes no percent signs, and reads some characters as patterns."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["to_read", "to_write"]

_PATTERN = re.compile(r"([\\*?\[\]{}])")


def to_write(path: Path) -> str:
    """Return the address of a file or folder that Spark is to write.

    Examples
    --------
    >>> to_write(Path("/srv/my data[1]"))
    'file:///srv/my data[1]'
    """
    return f"file://{path.absolute()}"


def to_read(path: Path) -> str:
    r"""Return the address of a file or folder that Spark is to read, and no other that looks like it.

    Examples
    --------
    >>> print(to_read(Path("/srv/my data[1]")))
    file:///srv/my data\[1\]
    """
    return _PATTERN.sub(r"\\\1", to_write(path))
