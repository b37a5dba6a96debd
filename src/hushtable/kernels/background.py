"""Compile kernels in another process, into numba's cache on disk, while their twins do the work.

The other process gets names and types, never data. It ends after half a minute without requests, or when the requesting
process has ended.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import importlib
import os
import pickle
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from hushtable.kernels.compile import compiled

_IDLE = 30.0
_ATTEMPTS = 2
_lock = threading.Lock()
_asked: dict[str, int] = {}
_worker: subprocess.Popen[bytes] | None = None


def is_underway(function: Callable[..., Any], types: Any) -> bool:
    """Request once that a kernel be compiled; return whether another process is compiling it.

    Parameters
    ----------
    function : callable
        The plain loops.
    types : tuple
        Numba's types of the arguments.
    """
    if getattr(sys.modules.get(function.__module__), function.__name__, None) is not function:
        return False  # it cannot be found by its name
    line = f"{function.__module__} {function.__name__} {base64.b64encode(pickle.dumps(types)).decode()}\n"
    with _lock:
        alive = _worker is not None and _worker.poll() is None
        if line in _asked and alive:
            return True
        # requested before but not in the cache, although the process has ended: it failed there, or is not found here
        _asked[line] = _asked.get(line, 0) + 1
        return _asked[line] <= _ATTEMPTS and _send(line)


def _send(line: str) -> bool:
    """Send a line to the other process, starting one if there is none; return whether that succeeded."""
    global _worker
    try:
        if _worker is None or _worker.poll() is not None:
            _worker = _start()
            atexit.register(_leave, _worker)
        if _worker.stdin is None:
            return False
        _worker.stdin.write(line.encode())
        _worker.stdin.flush()
    except OSError:
        return False
    return True


def _start() -> subprocess.Popen[bytes]:
    import numba

    config: Any = numba.config
    place = {"NUMBA_CACHE_DIR": config.CACHE_DIR} if config.CACHE_DIR else {}
    # with the same import path; in a process group of its own, so that Ctrl-C does not reach it
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return subprocess.Popen(  # noqa: S603 our own words
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **place, "PYTHONPATH": path},
        process_group=0,
    )


def _leave(worker: subprocess.Popen[bytes]) -> None:
    """Let the other process finish its requests and end, without waiting for it."""
    if worker.stdin is not None:
        with contextlib.suppress(OSError):
            worker.stdin.close()
    if worker.poll() is None:
        worker.returncode = 0  # otherwise Popen warns that it is still running


def main() -> None:
    """Compile the kernels requested on standard input, at low priority."""
    os.nice(10)
    for line in _lines(sys.stdin.fileno()):
        module, name, types = line.split()
        kernel: Any = compiled(getattr(importlib.import_module(module), name))
        kernel.compile(pickle.loads(base64.b64decode(types)))  # noqa: S301 written by the process that started this


def _lines(source: int) -> Iterator[str]:
    """Yield lines as they arrive, until the other side closes or stops sending."""
    rest = b""
    while select.select([source], [], [], _IDLE)[0]:
        some = os.read(source, 1 << 16)
        if not some:
            return
        *lines, rest = (rest + some).split(b"\n")
        for line in lines:
            yield line.decode()


if __name__ == "__main__":
    main()
