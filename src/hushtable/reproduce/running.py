"""Runs the parts of papers in parallel, one process per core."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

from hushtable.parallel import THREADS, threads
from hushtable.reproduce.items import Item
from hushtable.reproduce.papers import Paper, Reproduction, find_paper

__all__ = ["reproduce_papers"]

Task = tuple[str, str]
"""Paper and part."""


def _nothing() -> None:
    pass


def reproduce_papers(
    papers: Sequence[Paper],
    *,
    part: str | None = None,
    seed: int | None = None,
    quick: bool = False,
    done: Callable[[str, str], None] = lambda paper, part: None,
    check: Callable[[], None] = _nothing,
) -> list[Reproduction]:
    """Run papers and return their results, in the same order.

    Parameters
    ----------
    papers : sequence of Paper
    part, seed, quick
        As in ``Paper.run``.
    done : callable
        Called with paper and part whenever one is finished.
    check : callable
        Called often; may raise to stop everything.
    """
    tasks = [(p, name) for p in papers for name in p.chosen(part)]
    found: dict[Task, list[Item]] = {}
    for task, items in _each(tasks, seed, quick, check):
        found[task] = items
        done(*task)
    return [
        Reproduction(
            p.name, p.title, p.text, tuple(i for name in p.chosen(part) for i in found[p.name, name]), quick
        ).in_order()
        for p in papers
    ]


def _each(
    tasks: Sequence[tuple[Paper, str]], seed: int | None, quick: bool, check: Callable[[], None]
) -> Iterator[tuple[Task, list[Item]]]:
    workers = min(threads(), len(tasks))
    if workers == 1:
        for paper, part in tasks:
            check()
            yield (paper.name, part), paper.run(part, seed=seed, quick=quick)
        return
    # spawned, since a fork would lose the threads of numba and Arrow
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _alone)
    try:
        slow = sorted(tasks, key=lambda task: task[1] not in getattr(task[0].module, "SLOW", ()))
        waiting = {pool.submit(_run, p.name, part, seed, quick): (p.name, part) for p, part in slow}
        while waiting:
            check()
            ready, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in ready:
                yield waiting.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone() -> None:
    """Keep each process to one core: times are then those of one core, and processes do not disturb each other."""
    os.environ[THREADS] = "1"


def _run(paper: str, part: str, seed: int | None, quick: bool) -> list[Item]:
    return find_paper(paper).run(part, seed=seed, quick=quick)
