"""The cost of publishing a group, as integers: NCP of the cells in each column's published style.

A cell costs its NCP times the column's weight, on a scale of 2**32, as a whole number for each leaf.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.cover import NODE, RANGE, SET, Tables
from hushtable.schema.columns import Cover
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.losses import ncp_of_leaf

_KINDS = {Cover.NODE: NODE, Cover.RANGE: RANGE, Cover.SET: SET}

COST_SCALE = 2**32
"""Cost of a fully generalized cell in a column of weight 1."""


def cost_tables(table: EncodedTable, rows: IntArray) -> tuple[AnyArray, Tables, FloatArray]:
    """Return the codes of these rows, the look-up tables for their cells, and unrounded leaf costs.

    Columns are in descending order of the cost of one leaf, so that a comparison fails early.
    """
    d = len(table.quasi)
    weight = np.array([leaf_cost(c) for c in table.quasi], dtype=np.int64)
    order = np.argsort(-weight, kind="stable")
    kind, at, size, gap, word = (np.zeros(d, dtype=np.int64) for _ in range(5))
    codes = np.empty((len(rows), d), dtype=np.int32)
    nodes, leaves, begin, words = [], [], 0, 0
    for place, j in enumerate(order):
        column = table.quasi[j]
        coded = column.coded
        kind[place], size[place], gap[place] = _KINDS[column.cover], coded.size, -1
        codes[:, place] = column.codes[rows]
        if kind[place] == NODE:
            at[place] = begin
            nodes += list(coded.levels)
            leaves += [(coded.leaves(h)[level] - 1) * weight[j] for h, level in enumerate(coded.levels)]
            begin += coded.size * len(coded.levels)
        elif kind[place] == RANGE and coded.missing:
            gap[place] = (coded.size - 1) * weight[j]
        elif kind[place] == SET:
            # only codes that occur need a bit
            present, compact = np.unique(codes[:, place], return_inverse=True)
            codes[:, place] = compact
            word[place] = words
            words += (len(present) + 63) // 64
    empty = np.zeros(1, dtype=np.int64)
    node = np.concatenate(nodes).astype(np.int64) if nodes else empty
    leaf = np.concatenate(leaves).astype(np.int64) if leaves else empty
    exact = np.array([ncp_of_leaf(c.coded, c.weight) for c in table.quasi])
    return codes, Tables(kind, at, size, weight[order], gap, word, words, node, leaf), exact[order]


def leaf_cost(column: QuasiColumn) -> int:
    """Cost of one more leaf in a cell for each record of a group."""
    return round(COST_SCALE * ncp_of_leaf(column.coded, column.weight))
