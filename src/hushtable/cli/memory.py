"""Memory that large arrays leave behind is used again within one command."""

from __future__ import annotations

import ctypes

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Let the C library keep what arrays free, where it is glibc; elsewhere nothing changes.

    Otherwise every array of some megabytes is new memory that the system hands out page by page, and clears: on ten
    million rows that was a fifth of the CPU time of attacks. For a process that ends after one command.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, -1)
