"""Work on all cores: results in order, errors and ends that leave nothing behind, and no wait for a place."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable import parallel
from hushtable.errors import UsageError


@pytest.fixture(params=["1", "2", "3"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv(parallel.THREADS, request.param)
    return int(request.param)


def test_results_come_in_order(threads: int) -> None:
    def slow(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return number

    assert list(parallel.each(slow, range(30))) == list(range(30))
    assert parallel.threads() == threads


def test_items_are_taken_a_few_ahead(threads: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = parallel.each(lambda number: number, items())
    assert next(results) == 0
    assert len(taken) <= threads + 1
    results.close()


def test_the_first_error_ends_the_work(threads: int) -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 2:
            raise ValueError("two")
        return number

    with pytest.raises(ValueError, match="two"):
        list(parallel.each(work, range(1000)))
    assert len(begun) < 20


def test_work_that_asks_for_more_work(threads: int) -> None:
    def inner(number: int) -> str:
        return threading.current_thread().name

    def outer(number: int) -> set[str]:
        return {threading.current_thread().name, *parallel.each(inner, range(3))}

    # nested work stays in its thread, so that all threads may wait for their own
    assert all(len(names) == 1 for names in parallel.each(outer, range(8)))


@pytest.mark.parametrize("wrong", ["0", "two", "-1", "1.5"])
def test_a_wrong_number_of_threads(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parallel.THREADS, wrong)
    with pytest.raises(UsageError, match="HUSHTABLE_THREADS must be a whole number of cores, at least 1"):
        parallel.threads()


def test_by_default_the_cores_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(parallel.THREADS, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 9}, raising=False)
    assert parallel.threads() == 3


def test_arrow_and_polars_get_the_same_number() -> None:
    script = "import hushtable, pyarrow, polars; print(pyarrow.cpu_count(), polars.thread_pool_size())"
    env = {**os.environ, parallel.THREADS: "1"}
    env.pop("POLARS_MAX_THREADS", None)
    found = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["1", "1"]


def test_a_forked_process_has_threads_of_its_own() -> None:
    script = (
        "import os\nfrom hushtable.parallel import each\nlist(each(abs, range(9)))\n"
        "pid = os.fork()\nfound = list(each(abs, range(9)))\n"
        "if pid:\n    print(os.waitpid(pid, 0)[1], found)\nelse:\n    os._exit(0)"
    )
    env = {**os.environ, parallel.THREADS: "2"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "0 [0, 1, 2, 3, 4, 5, 6, 7, 8]"


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_numbers_are_sorted(threads: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SORTED_AT_ONCE", 5)
    numbers = np.random.default_rng(size).integers(-9, 900, size)
    expected = sorted(numbers.tolist())
    parallel.sort_numbers(numbers)
    assert numbers.tolist() == expected


@given(
    sizes=st.lists(st.integers(1, 9), max_size=30),
    rows=st.integers(1, 20),
    most=st.none() | st.integers(1, 7),
)
def test_every_group_is_processed_once(sizes: list[int], rows: int, most: int | None) -> None:
    ends = np.cumsum(np.array(sizes, dtype=np.int64))
    starts = ends - np.array(sizes, dtype=np.int64)
    found = []
    for cores in ("1", "2", "3"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(parallel.THREADS, cores)
            patch.setattr(parallel, "PIECE_ROWS", rows)
            done: list[slice] = []
            parallel.over_groups(starts, ends, done.append, most)
        groups = [g for piece in sorted(done, key=lambda piece: piece.start) for g in range(len(sizes))[piece]]
        assert groups == list(range(len(sizes)))
        assert most is None or all(piece.stop - piece.start <= most for piece in done)
        found.append({(piece.start, piece.stop) for piece in done})
    assert found[0] == found[1] == found[2]
