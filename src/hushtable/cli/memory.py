"""Reuse of the memory that large arrays free within one command."""

from __future__ import annotations

import ctypes

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Let glibc keep the memory that arrays free; with other C libraries nothing changes.

    Otherwise, every array of a few megabytes is new memory that the system maps and clears page by page: on ten
    million rows, that was a fifth of the attacks' CPU time. For a process that ends after one command.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, -1)
