"""Settings in parallel: processes that each hold the table and take one setting after the other.

Processes are started afresh (spawn): a fork would copy threads and locks of libraries in an unknown state. Each works
on one core. They ignore Ctrl-C, which is for the parent to answer, and end when the parent is gone, however it went.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from typing import Any

import pyarrow as pa

from hushtable.comparison.evaluate import Row, Task, evaluate
from hushtable.errors import UsageError

__all__ = ["in_parallel", "in_turn"]

# every library that would start as many threads as there are cores
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
_PATIENCE = 0.2
_held: list[pa.Table] = []

Tick = Callable[[], None]
"""Called often while waiting; raises to stop."""


def in_turn(data: pa.Table, tasks: Sequence[Task], tick: Tick) -> Generator[tuple[int, Row], None, None]:
    """Yield the place and row of every task, one after the other, in this process."""
    for task in tasks:
        tick()
        yield task.place, evaluate(data, task, lambda share, what: tick())


def in_parallel(data: pa.Table, tasks: Sequence[Task], jobs: int, tick: Tick) -> Generator[tuple[int, Row], None, None]:
    """Yield the place and row of every task as it is finished, from this many processes.

    Raises
    ------
    UsageError
        If a process died; what was finished before has been yielded.
    """
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with _single_threaded():
        executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare, initargs=(data,))
        try:
            waiting: set[Future[tuple[int, Row]]] = {executor.submit(_work, task) for task in tasks}
            while waiting:
                tick()
                done, waiting = wait(waiting, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool:
            raise UsageError(
                "A process of the comparison was ended from outside, perhaps because memory ran out.",
                code="worker",
                hint="Use fewer jobs. What was finished is kept, and the same command goes on from there.",
            ) from None
        finally:
            if any(not future.done() for future in waiting):
                for process in set(multiprocessing.active_children()) - before:
                    process.terminate()
            executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that are started inside the block use one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _prepare(data: pa.Table) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    # each process would announce that it compiles
    logging.getLogger("hushtable").setLevel(logging.ERROR)
    _held.append(data)


def _end_with(sentinel: Any) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _work(task: Task) -> tuple[int, Row]:
    return task.place, evaluate(_held[0], task)
