"""One place that knows numba: compiled and cached when a table is large enough to pay for it."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

__all__ = ["COMPILE_FROM", "compiled", "dispatch"]

COMPILE_FROM = 4000
"""Rows from which loading a compiled kernel (0.7 s from the cache) beats its NumPy twin."""

_log = logging.getLogger(__package__)


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the numba version of a plain-loop function, from the on-disk cache where it is there.

    Plain functions of kernels that it calls by name are compiled with it.
    """
    import numba

    # no fastmath and no parallel reductions: the same table gives the same bytes on any machine
    kernel = numba.njit(cache=True, nogil=True)(_linked(function))
    if not _is_cached(kernel):
        _announce()
    return kernel


@functools.cache
def _announce() -> None:
    """Say once why the first use takes long: as a warning, so that it is seen where nobody set up logging."""
    _log.warning("Compiling kernels for this machine; this happens once.")


def _called(function: Callable[..., Any]) -> dict[str, FunctionType]:
    """The plain functions of kernels that a function names."""
    own = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return {
        name: value
        for name, value in own.items()
        if isinstance(value, FunctionType) and value.__module__.startswith("hushtable.kernels.")
    }


def _digest(function: Callable[..., Any]) -> str:
    code = function.__code__
    parts = [code.co_code.hex(), repr(code.co_consts), *(_digest(f) for f in _called(function).values())]
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def _linked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with the kernels that it calls compiled too."""
    called = _called(function)
    if not called:
        return function
    namespace = {**function.__globals__, **{name: compiled(f) for name, f in called.items()}}
    linked = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__)
    linked.__module__ = function.__module__
    # numba's cache looks at the caller's file alone; the name tells when a callee in another file has changed
    linked.__qualname__ = f"{function.__name__}_{_digest(function)[:12]}"
    return linked


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
