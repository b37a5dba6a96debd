"""Cells that overlap: 142** beside 14***.

Where the cells of two classes share a point, an adversary's candidates are the union of both. Models that survive
merging do not mind; for the others overlapping classes have to become one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.arrays import IntArray
from hushtable.kernels.pairs import overlapping_boxes
from hushtable.release.cells import Cells
from hushtable.schema.columns import CellStyle

__all__ = ["merge_overlapping"]


def merge_overlapping(cells: Sequence[Cells]) -> tuple[IntArray, int]:
    """Number the groups so that groups whose cells share a point get the same number.

    Returns
    -------
    labels, n
        A number for every group, and how many numbers there are.
    """
    bounds = [_cover(c) for c in cells]
    low = np.column_stack([b[0] for b in bounds])
    high = np.column_stack([b[1] for b in bounds])
    pairs = overlapping_boxes(low, high)
    parent = list(range(len(cells[0])))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in pairs.tolist():
        if all(_share(c, a, b) for c in cells):
            ra, rb = root(a), root(b)
            parent[max(ra, rb)] = min(ra, rb)
    roots = np.array([root(i) for i in range(len(parent))], dtype=np.int64)
    _, labels = np.unique(roots, return_inverse=True)
    return labels.astype(np.int64), int(labels.max(initial=-1)) + 1


def _cover(cells: Cells) -> tuple[IntArray, IntArray]:
    """The least and greatest leaf that each cell could stand for."""
    coded = cells.column.coded
    if cells.style is CellStyle.SETS:
        return cells.low, cells.high
    if cells.style is CellStyle.NODES:
        low, high = np.zeros_like(cells.low), np.full_like(cells.low, coded.size - 1)
        for h in range(coded.height + 1):
            here = np.flatnonzero(cells.height == h)
            nodes = len(coded.labels[h])
            least = np.full(nodes, coded.size, dtype=np.int64)
            np.minimum.at(least, coded.levels[h], np.arange(coded.size))
            most = np.full(nodes, -1, dtype=np.int64)
            np.maximum.at(most, coded.levels[h], np.arange(coded.size))
            low[here], high[here] = least[cells.node[here]], most[cells.node[here]]
        return low, high
    everything = cells.mixed
    return np.where(everything, 0, cells.low), np.where(everything, coded.size - 1, cells.high)


def _share(cells: Cells, a: int, b: int) -> bool:
    """Whether two cells that overlap as ranges really share a leaf (sets have holes)."""
    if cells.style is not CellStyle.SETS:
        return True
    mine = cells.members[cells.offsets[a] : cells.offsets[a + 1]]
    theirs = cells.members[cells.offsets[b] : cells.offsets[b + 1]]
    return bool(np.isin(mine, theirs).any())
