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
from hushtable.release.covering import extent
from hushtable.schema.columns import CellStyle

__all__ = ["merge_overlapping"]


def merge_overlapping(cells: Sequence[Cells]) -> tuple[IntArray, int]:
    """Number the groups so that groups whose cells share a point get the same number.

    Returns
    -------
    labels, n
        A number for every group, and how many numbers there are.
    """
    bounds = [extent(c) for c in cells]
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


def _share(cells: Cells, a: int, b: int) -> bool:
    """Whether two cells that overlap as ranges really share a leaf (sets have holes)."""
    if cells.style is not CellStyle.SETS:
        return True
    mine = cells.members[cells.offsets[a] : cells.offsets[a + 1]]
    theirs = cells.members[cells.offsets[b] : cells.offsets[b + 1]]
    return bool(np.isin(mine, theirs).any())
