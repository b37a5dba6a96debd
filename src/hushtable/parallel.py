"""All cores, in the same order: work on pieces in threads, with results as on one core.

Pieces are cut by size, never by the number of cores, and results come in the order of the pieces. Sums are of integers,
or are added in that order. So a release has the same bytes on one core and on many.

``HUSHTABLE_THREADS`` says how many cores to use; by default all that the process may run on. Arrow and Polars, which
have their own threads, get the same number.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from hushtable.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from hushtable.arrays import IntArray

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
    return whole_number(THREADS, "cores", "threads") or cores()


def cores() -> int:
    """Return how many cores this process may use: in a container or under taskset, fewer than the machine has."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def whole_number(variable: str, unit: str, code: str) -> int | None:
    """Return the number in an environment variable, at least 1; None if it is not set.

    Raises
    ------
    UsageError
        If it is not such a number.
    """
    given = os.environ.get(variable)
    if not given:
        return None
    if not given.isdecimal() or not int(given):
        raise UsageError(
            f"{variable} must be a whole number of {unit}, at least 1.", code=code, hint="Correct or unset it."
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


PIECE_ROWS = 1 << 18
"""Number of rows of the groups that one core works on at a time."""


def over_groups(starts: IntArray, ends: IntArray, work: Callable[[slice], object], most: int | None = None) -> None:
    """Process the groups: large ones on all cores, in pieces of adjacent groups that share no row.

    Parameters
    ----------
    starts, ends : int64 arrays
        Where the rows of each group begin and end.
    work : callable
        Processes the groups of a slice.
    most : int, optional
        Maximum number of groups in a piece.

    Examples
    --------
    >>> import numpy as np
    >>> done = []
    >>> over_groups(np.array([0, 2, 5]), np.array([2, 5, 9]), done.append, most=2)
    >>> done
    [slice(0, 2, None), slice(2, 3, None)]
    """
    import numpy as np

    n = len(starts)
    before = np.cumsum(ends - starts)
    edges = np.arange(0, n, most) if most else np.zeros(1, dtype=np.int64)
    if n and before[-1] >= 2 * PIECE_ROWS:
        edges = np.union1d(edges, np.searchsorted(before, np.arange(0, before[-1], PIECE_ROWS)))
        for _ in each(work, (slice(a, b) for a, b in itertools.pairwise([*edges.tolist(), n]))):
            pass
        return
    for a, b in itertools.pairwise([*edges.tolist(), n]):
        work(slice(a, b))


SORTED_AT_ONCE = 1 << 20
"""Numbers that one core sorts at a time."""


def sort_numbers(numbers: IntArray) -> None:
    """Sort integers in place, ascending: pieces on all cores, which are then merged.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.array([3, 1, 2])
    >>> sort_numbers(numbers)
    >>> numbers.tolist()
    [1, 2, 3]
    """
    size = threads()
    if size == 1 or len(numbers) <= SORTED_AT_ONCE:
        numbers.sort()
        return
    width = -(-len(numbers) // size)
    for _ in each(lambda at: numbers[at : at + width].sort(), range(0, len(numbers), width)):
        pass
    # runs that are sorted already are merged, which takes a fraction of sorting
    numbers.sort(kind="stable")
