"""Processes that run one case after the other, watched: one that hangs or dies is ended and its case is a finding."""

from __future__ import annotations

import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

__all__ = ["Ended", "run_all"]

Job = Callable[[int], tuple[str, str]]


@dataclass(frozen=True)
class Ended:
    """How one case ended, and what is wrong with it, if anything."""

    seed: int
    end: str
    wrong: str = ""


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    seed: int
    since: float


def run_all(
    job: Job, seeds: Iterator[int], jobs: int, *, seconds: float, case_seconds: float, start_seconds: float = 60
) -> Iterator[Ended]:
    """Run the job on every seed, in ``jobs`` processes, until the time is up; cases then under way do not count.

    A process's first case may take ``start_seconds`` more: it waits for the imports.
    """
    stop = time.monotonic() + seconds
    workers = [w for w in (_started(job, seeds, start_seconds) for _ in range(jobs)) if w is not None]
    try:
        while workers:
            now = time.monotonic()
            if now >= stop:
                return
            limit = min(stop, *(w.since + case_seconds for w in workers))
            ready = wait([w.pipe for w in workers], timeout=max(0.0, limit - now))
            for worker in [w for w in workers if w.pipe in ready or time.monotonic() > w.since + case_seconds]:
                ended, alive = _collected(worker, case_seconds)
                yield ended
                if not alive or not _given(worker, seeds):
                    workers.remove(worker)
                    _finish(worker)
                    more = None if alive else _started(job, seeds, start_seconds)
                    workers += [] if more is None else [more]
    finally:
        for worker in workers:
            _finish(worker)


def _started(job: Job, seeds: Iterator[int], start_seconds: float) -> _Worker | None:
    seed = next(seeds, None)
    if seed is None:
        return None
    context: Any = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(job, theirs), daemon=True)
    process.start()
    theirs.close()
    ours.send(seed)
    return _Worker(process, ours, seed, time.monotonic() + start_seconds)


def _given(worker: _Worker, seeds: Iterator[int]) -> bool:
    seed = next(seeds, None)
    if seed is None:
        return False
    worker.seed, worker.since = seed, time.monotonic()
    worker.pipe.send(seed)
    return True


def _collected(worker: _Worker, case_seconds: float) -> tuple[Ended, bool]:
    """How the worker's case ended, and whether the worker is still there."""
    if not worker.pipe.poll():
        return Ended(worker.seed, "took too long", f"no end after {case_seconds:g} s"), False
    try:
        end, wrong = worker.pipe.recv()
    except EOFError:
        worker.process.join(10)
        return Ended(worker.seed, "died", f"the process ended with {worker.process.exitcode}"), False
    return Ended(worker.seed, end, wrong), True


def _finish(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join(0.5)
    if worker.process.is_alive():
        worker.process.kill()
    worker.process.join()


def _work(job: Job, pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    # Ctrl-C is the campaign's to answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            seed = pipe.recv()
        except EOFError:
            return
        pipe.send(job(seed))
