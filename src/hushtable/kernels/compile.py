"""One place that knows numba: compiled and cached when a table is large enough to pay for it."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["COMPILE_FROM", "compiled", "dispatch"]

COMPILE_FROM = 4000
"""Rows from which loading a compiled kernel (0.7 s from the cache) beats its NumPy twin."""

announce: Callable[[str], None] | None = None
"""Called once with a sentence when a kernel has to be compiled for the first time on this machine."""


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the numba version of a plain-loop function, from the on-disk cache where it is there."""
    import numba

    # no fastmath and no parallel reductions: the same table gives the same bytes on any machine
    kernel = numba.njit(cache=True, nogil=True)(function)
    if announce is not None and not _is_cached(kernel):
        announce("Compiling kernels for this machine; this happens once.")
    return kernel


def _is_cached(kernel: Any) -> bool:
    folder = Path(kernel._cache.cache_path)
    return any(folder.glob(f"*{kernel.py_func.__name__}*.nbi"))


def dispatch(loops: Callable[..., Any], twin: Callable[..., Any], rows: int) -> Callable[..., Any]:
    """Choose the compiled loops for large tables, or once numba is loaded; the NumPy twin otherwise."""
    if "numba" in sys.modules and rows > COMPILE_FROM // 4:
        return compiled(loops)
    if rows >= COMPILE_FROM and importlib.util.find_spec("numba") is not None:
        return compiled(loops)
    return twin
