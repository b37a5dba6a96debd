"""Processes that begin at the same moment, and have to end well."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Event
from typing import Any


def at_once(work: Callable[..., None], calls: Sequence[tuple[Any, ...]]) -> None:
    """Call a function of a test module once in each process."""
    context = multiprocessing.get_context("spawn")
    start = context.Event()
    workers = [context.Process(target=_wait, args=(start, work, call)) for call in calls]
    for worker in workers:
        worker.start()
    start.set()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0


def _wait(start: Event, work: Callable[..., None], call: tuple[Any, ...]) -> None:
    start.wait()
    work(*call)
