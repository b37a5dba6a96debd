"""The only module that uses numba: it compiles kernels once per machine, without delaying small tables.

A kernel is one plain-loop function. Large tables run it compiled, from numba's cache on disk. Until it is in that
cache, its NumPy twin, which gives the same bytes, does the work while another process compiles it
(``kernels.background``).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

KERNELS = "HUSHTABLE_KERNELS"
"""Environment variable: a folder with precompiled kernels, which may be read-only."""

COMPILE_FROM = 4000
"""Number of rows at which loading a compiled kernel (0.7 s from the cache) becomes faster than its NumPy twin."""

OFTEN = 1000
"""Number of calls after which a kernel is loaded for small tables too, as in an attack that runs an algorithm again."""

TWIN_UP_TO = 150_000
"""Maximum number of rows for which the twin does the work of a kernel that is not compiled yet.

With more rows, one call may take longer than compiling.
"""

TWIN_SECONDS = 1.0
"""CPU seconds that a twin may take in total before its kernel is compiled at once, which takes about as long."""

_log = logging.getLogger(__package__)
_lock = threading.RLock()
_kernels: dict[Callable[..., Any], Any] = {}
_asked: dict[Callable[..., Any], int] = {}
_spent: dict[Callable[..., Any], float] = {}
_look_again: dict[Callable[..., Any], float] = {}
_LOOK_EVERY = 0.05


class _Caller(threading.local):
    """Whether the caller of a kernel has a twin."""

    has_twin = False


_caller = _Caller()


class _NotReady(Exception):
    """The kernel is being compiled elsewhere."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the numba version of a plain-loop function, from the cache on disk if possible.

    Plain functions that it calls by name are compiled with it. Safe to use from several threads.
    """
    kernel = _kernels.get(function)
    if kernel is None:
        with _lock:
            kernel = _kernels.get(function)
            if kernel is None:
                kernel = _kernels[function] = _made(function)
    return kernel  # type: ignore[no-any-return]


class _WithoutLinearAlgebra:
    """An importer that has no ``scipy.linalg`` for the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "scipy.linalg" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(name=name)


@functools.cache
def _numba() -> Any:
    """Import numba without ``scipy.linalg``, which takes half of the time and only serves matrix products."""
    importer = _WithoutLinearAlgebra()
    sys.meta_path.insert(0, importer)
    try:
        import numba.np.arraymath
    finally:
        sys.meta_path.remove(importer)
    _bring(numba)
    return numba


def _bring(numba: Any) -> None:
    """Copy the kernels of a container image into numba's cache, which must be writable even for reading."""
    config = numba.config
    given = os.environ.get(KERNELS)
    if not given or not config.CACHE_DIR or os.path.exists(config.CACHE_DIR):
        return
    copy = f"{config.CACHE_DIR}.{os.getpid()}"
    try:
        shutil.copytree(given, copy)
        os.rename(copy, config.CACHE_DIR)
    except OSError:
        # another process was faster, or the folder is read-only: then kernels are compiled
        shutil.rmtree(copy, ignore_errors=True)


def _made(function: Callable[..., Any]) -> Any:
    numba = _numba()
    kernel: Any
    later: Callable[..., Any] | None
    # no fastmath and no parallel reductions: the same table gives the same bytes on any machine
    try:
        kernel = numba.njit(cache=True, nogil=True)(_linked(function))
    except RuntimeError:  # neither the package's nor the user's folder is writable
        later = None
        kernel = numba.njit(nogil=True)(_linked(function))
    else:
        later = function
    # numba calls this, one thread at a time, when a kernel is neither loaded nor in the cache
    kernel._compiler.compile = functools.partial(_missed, later, kernel._compiler.compile)
    return kernel


def _missed(later: Callable[..., Any] | None, now: Callable[..., Any], types: Any, returns: Any) -> Any:
    """Compile a kernel for arguments of some types: now, or in the background if the caller has a twin."""
    if later is not None and _caller.has_twin and _spent.get(later, 0.0) < TWIN_SECONDS:
        from hushtable.kernels.background import is_underway

        if is_underway(later, types):
            raise _NotReady
    _announce()
    # the kernels that this one calls are compiled with it
    _caller.has_twin = False
    return now(types, returns)


@functools.cache
def _announce() -> None:
    """Say once why the first use takes a long time: as a warning, which is visible without any logging setup."""
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
    # numba's cache checks only the caller's file; the name changes if a callee in another file has changed
    linked.__qualname__ = f"{function.__name__}_{_digest(function)[:12]}"
    return linked


def dispatch(loops: Callable[..., Any], twin: Callable[..., Any], rows: int) -> Callable[..., Any]:
    """Choose the compiled loops for large tables, once numba is loaded or after many calls, and the twin otherwise.

    Both give the same bytes. A kernel that is not in the cache yet is served by its twin while it is compiled in the
    background, unless the twin would take longer than that.
    """
    loaded = "numba" in sys.modules
    if rows <= COMPILE_FROM // 4 if loaded else rows < COMPILE_FROM:
        asked = _asked[loops] = _asked.get(loops, 0) + 1
        if asked <= OFTEN:
            return twin
    if not loaded and importlib.util.find_spec("numba") is None:
        return twin
    kernel = compiled(loops)
    # plain loops that are their own twin take a hundred times as long as compiled ones
    if rows > TWIN_UP_TO or twin is loops:
        return kernel
    return functools.partial(_with_twin, loops, kernel, twin)


def _with_twin(loops: Callable[..., Any], kernel: Any, twin: Callable[..., Any], *arguments: Any) -> Any:
    """Call the kernel, or its twin if the kernel is not compiled yet."""
    # checking the cache takes as long as the twin on a small group
    if loops not in _look_again or time.perf_counter() >= _look_again[loops]:
        _caller.has_twin = True
        try:
            return kernel(*arguments)
        except _NotReady:
            _look_again[loops] = time.perf_counter() + _LOOK_EVERY
        finally:
            _caller.has_twin = False
    start = time.thread_time()
    found = twin(*arguments)
    _spent[loops] = _spent.get(loops, 0.0) + time.thread_time() - start
    return found
