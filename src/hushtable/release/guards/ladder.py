"""Climbing with whole columns: one level of one column at a time, chosen without a look at sensitive values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Partition
from hushtable.arrays import IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.table.encoded import EncodedTable, QuasiColumn

__all__ = ["rungs"]


def rungs(table: EncodedTable, partition: Partition) -> Iterator[Partition]:
    """Yield a global recoding, then ever coarser ones up to a single class.

    On each rung the column whose next level covers least more of its domain, averaged over the records, is raised.
    Suppressed records stay so.
    """
    cuts = [c.copy() for c in _cuts(table, partition)]
    labels = np.asarray(partition.labels, dtype=np.int64)
    kept = np.flatnonzero(labels[: table.n_sample] >= 0)
    counts = [np.bincount(c.codes[kept], minlength=c.coded.size) for c in table.quasi]
    yield partition
    while True:
        open_to = [j for j, c in enumerate(table.quasi) if int(cuts[j].min()) < c.coded.height]
        if not open_to:
            return
        raised = {j: np.maximum(cuts[j], cuts[j].min() + 1) for j in open_to}
        more = [_rise(table.quasi[j], counts[j], cuts[j], raised[j]) for j in open_to]
        best = open_to[int(np.argmin(more))]
        cuts[best] = raised[best]
        yield _at(table, partition, labels, cuts)


def _cuts(table: EncodedTable, partition: Partition) -> tuple[IntArray, ...]:
    if partition.cuts is not None:
        return partition.cuts
    levels = partition.levels or (0,) * len(table.quasi)
    return tuple(np.full(c.coded.size, h, dtype=np.int64) for c, h in zip(table.quasi, levels, strict=True))


def _nodes(column: QuasiColumn, cut: IntArray) -> tuple[IntArray, int]:
    """Number the nodes of a cut: the number above every leaf, and how many there may be."""
    coded = column.coded
    start = np.cumsum([0, *(len(names) for names in coded.labels)])
    levels = np.array(coded.levels)
    return start[cut] + levels[cut, np.arange(coded.size)], int(start[-1])


def _rise(column: QuasiColumn, counts: IntArray, cut: IntArray, raised: IntArray) -> float:
    """How much more of the domain the records' cells cover, as a weighted share of it, summed over the records."""
    covered = []
    for level in (cut, raised):
        node, n = _nodes(column, level)
        covered.append(int((np.bincount(node, minlength=n)[node] * counts).sum()))
    return (covered[1] - covered[0]) / column.coded.size * column.weight


def _at(table: EncodedTable, partition: Partition, labels: IntArray, cuts: list[IntArray]) -> Partition:
    inside = np.flatnonzero(labels >= 0)
    above = [_nodes(c, cut) for c, cut in zip(table.quasi, cuts, strict=True)]
    numbers, first = number_rows(
        [node[c.codes[inside]] for c, (node, _) in zip(table.quasi, above, strict=True)], [n for _, n in above]
    )
    merged = np.full(len(labels), -1, dtype=np.int64)
    merged[inside] = numbers
    levels = None
    if partition.cuts is None:
        levels = tuple(int(cut[0]) for cut in cuts)
    notes = dict(partition.notes)
    if levels is not None and "levels" in notes:
        notes["levels"] = dict(zip((c.name for c in table.quasi), levels, strict=True))
    return replace(
        partition, labels=merged, n_groups=len(first), levels=levels,
        cuts=None if partition.cuts is None else tuple(cuts), regions=None, notes=notes,
    )  # fmt: skip
