"""All cores, in the same order: work on pieces in threads, with results as on one core.

Pieces are cut by size, never by the number of cores, and results come in the order of the pieces. Sums are of integers,
or are added in that order. So a release has the same bytes on one core and on many.

``HUSHTABLE_THREADS`` says how many cores to use; by default all that the process may run on. Arrow and Polars, which
have their own threads, get the same number.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from hushtable.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

THREADS = "HUSHTABLE_THREADS"
"""Environment variable: how many cores to use."""

_PREFIX = "hushtable-worker"

T = TypeVar("T")
R = TypeVar("R")


def threads() -> int:
    """Return how many cores to use.

    Raises
    ------
    UsageError
        If ``HUSHTABLE_THREADS`` is not a whole number of at least 1.

    Examples
    --------
    >>> threads() >= 1
    True
    """
    given = os.environ.get(THREADS)
    if not given:
        # a container or taskset may allow fewer cores than the machine has
        allowed = getattr(os, "sched_getaffinity", None)
        return len(allowed(0)) if allowed is not None else os.cpu_count() or 1
    if not given.isdecimal() or not int(given):
        raise UsageError(
            f"{THREADS} must be a whole number of cores, at least 1.", code="threads", hint="Correct or unset it."
        )
    return int(given)


def limit_libraries() -> None:
    """Let Arrow and Polars use as many cores as ``HUSHTABLE_THREADS`` says; without it, they use their own defaults."""
    if not os.environ.get(THREADS):
        return
    # Polars reads its setting once, when it is imported
    os.environ.setdefault("POLARS_MAX_THREADS", str(threads()))
    import pyarrow as pa

    pa.set_cpu_count(threads())


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # small tables need no threads

    return ThreadPoolExecutor(size, thread_name_prefix=_PREFIX)


if hasattr(os, "register_at_fork"):
    # a forked process has the pool, but none of its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def each(work: Callable[[T], R], items: Iterable[T], *, many: bool = True) -> Iterator[R]:
    """Apply ``work`` to every item, on all cores if there is much to do; yield the results in the order of the items.

    Items are taken from their iterator by the calling thread, a few ahead of the results, so that memory holds no more
    than a few pieces for each core. The first error ends the work: items that were not begun are dropped. Work that
    requests more work is done in its own thread, so that no thread ever waits for a place in the pool.

    Examples
    --------
    >>> list(each(lambda x: x * x, range(4)))
    [0, 1, 4, 9]
    """
    size = threads()
    if not many or size == 1 or threading.current_thread().name.startswith(_PREFIX):
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(_pool(size).submit(work, item))
            if len(waiting) > size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        for future in waiting:
            if not future.cancelled():
                future.exception()  # wait: what it works on may be about to go
