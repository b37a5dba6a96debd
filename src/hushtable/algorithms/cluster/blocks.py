"""Blocks of similar records: neighborhoods in which clusters grow in parallel."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import IntArray
from hushtable.table.encoded import EncodedTable


def cut_blocks(table: EncodedTable, rows: IntArray, size: int) -> IntArray:
    """Return a block number for each of these rows: at most ``size`` rows in a block.

    A block that is too large is halved along its widest column; records with equal values there are ordered by their
    position in ``rows``, so that halves are even. Blocks are numbered from the lower half up.
    """
    labels = np.zeros(len(rows), dtype=np.int64)
    columns = [c.codes[rows] for c in table.quasi]
    positions = [c.positions for c in table.quasi]
    waiting = [np.arange(len(rows), dtype=np.int64)]
    n_blocks = 0
    while waiting:
        block = waiting.pop()
        if len(block) <= size:
            labels[block] = n_blocks
            n_blocks += 1
            continue
        spans = []
        for codes, position in zip(columns, positions, strict=True):
            own = position[codes[block]]
            spans.append(int(own.max() - own.min()))
        widest = columns[int(np.argmax(spans))]
        order = np.argsort(widest[block], kind="stable")
        middle = (len(block) + 1) // 2
        waiting.append(np.sort(block[order[middle:]]))
        waiting.append(np.sort(block[order[:middle]]))
    return labels
