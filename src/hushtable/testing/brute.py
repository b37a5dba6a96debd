"""Every partition of a tiny table, tried one after the other: the reference for ``Infeasible``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import BoolArray, IntArray
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats, Key

_BATCH = 512


def set_partitions(n: int) -> Iterator[list[list[int]]]:
    """Yield every partition of ``0 .. n - 1`` into blocks.

    Examples
    --------
    >>> [len(list(set_partitions(n))) for n in range(1, 7)]
    [1, 2, 5, 15, 52, 203]
    """
    if n == 0:
        yield []
        return
    for rest in set_partitions(n - 1):
        yield [*rest, [n - 1]]
        for at in range(len(rest)):
            yield [[*block, n - 1] if i == at else block for i, block in enumerate(rest)]


def groups_of(table: EncodedTable, groups: Sequence[Sequence[int]], keys: frozenset[Key]) -> GroupStats:
    """Return the statistics of groups given as lists of rows; a row may be in several of them."""
    rows = np.array([row for group in groups for row in group], dtype=np.int64)
    offsets = np.cumsum([0, *(len(group) for group in groups)]).astype(np.int64)
    return table.stats(rows, offsets[:-1], offsets[1:], keys)


def satisfiable(problem: Problem) -> bool:
    """Whether some partition of a tiny table, with or without suppression, satisfies the problem's model.

    The blocks are any sets of records, whether or not cells could distinguish them: no algorithm has a wider choice. A
    block of only population rows is not a class, and one block holds what is suppressed.
    """
    table, model = problem.table, problem.model
    n = table.n_rows
    subsets = [[row for row in range(n) if mask >> row & 1] for mask in range(1, 2**n)]
    stats = groups_of(table, subsets, model.histogram_keys())
    people = stats.units
    groupwise: BoolArray = model.part(table_level=False).satisfied(stats, problem.reference)
    judged = model.part(table_level=True)
    batch: list[IntArray] = []
    # the block with the extra element is suppressed
    for blocks in set_partitions(n + 1):
        dropped = sum(1 << row for block in blocks if n in block for row in block if row != n)
        if dropped and people[dropped - 1] > problem.budget:
            continue
        ids = np.array([sum(1 << row for row in b) - 1 for b in blocks if n not in b], dtype=np.int64)
        ids = ids[people[ids] > 0]
        if not len(ids) or not groupwise[ids].all():
            continue
        if not judged.members:
            return True
        batch.append(ids)
        if len(batch) == _BATCH and _any_table(problem, stats, batch):
            return True
        batch = batch[: len(batch) % _BATCH]
    return bool(batch) and _any_table(problem, stats, batch)


def _any_table(problem: Problem, stats: GroupStats, batch: Sequence[IntArray]) -> bool:
    offsets = np.cumsum([0, *(len(ids) for ids in batch)]).astype(np.int64)
    tables = replace(stats.take(np.concatenate(batch)), tables=offsets)
    return bool(problem.model.part(table_level=True).table_satisfied(tables, problem.reference).any())
