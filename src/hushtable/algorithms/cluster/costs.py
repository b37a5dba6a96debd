"""The cost of a cluster's cells: NCP of the lowest covering node, or of the range, as integers.

A column that is published as nodes, and every nominal one, costs (leaves of the lowest node - 1) / (D - 1); an
ordered column that is published as a range costs (leaves inside - 1) / (D - 1); each times the column's weight. So a
set of nominal values costs as much as its node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.members import CostTables, box_costs
from hushtable.schema.columns import Cover
from hushtable.table.coded_columns import SCALE, QuasiColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.losses import ncp


@dataclass(frozen=True)
class CellCosts:
    """The codes of rows, ordered so that a cell is determined by its ends, and the cost of each cell.

    Attributes
    ----------
    codes : (rows, d) integer array
    tables : CostTables
    """

    codes: AnyArray
    tables: CostTables

    @classmethod
    def of(cls, table: EncodedTable, rows: IntArray) -> CellCosts:
        """Look up the codes of these rows and build the tables."""
        dtype = np.result_type(np.uint8, *(c.codes.dtype for c in table.quasi))
        codes = np.empty((len(rows), len(table.quasi)), dtype=dtype)
        begin, size, height, ranged, gap, full = (np.zeros(len(table.quasi), dtype=np.int64) for _ in range(6))
        nodes: list[IntArray] = []
        costs: list[IntArray] = []
        at = 0
        for j, column in enumerate(table.quasi):
            coded = column.coded
            begin[j], size[j], full[j] = at, coded.size, _cost(column, np.array([coded.size]))[0]
            if column.cover is Cover.RANGE:
                ranged[j], gap[j] = 1, coded.missing
                codes[:, j] = column.codes[rows]
                nodes.append(np.arange(coded.size, dtype=np.int64))
                costs.append(_cost(column, np.arange(1, coded.size + 1)))
            else:
                rank = coded.depth_first
                back = np.argsort(rank)
                codes[:, j] = rank[column.codes[rows]]
                height[j] = coded.height
                for h, level in enumerate(coded.levels):
                    nodes.append(level[back])
                    costs.append(_cost(column, coded.leaves(h))[level[back]])
            at += coded.size * (height[j] + 1)
        tables = CostTables(
            begin, size, height, ranged > 0, gap > 0, full, np.concatenate(nodes), np.concatenate(costs)
        )
        return cls(codes, tables)

    def boxes(self, low: IntArray, high: IntArray) -> IntArray:
        """Return the cost of each box."""
        return box_costs(self.tables, low, high)


def _cost(column: QuasiColumn, leaves: IntArray) -> IntArray:
    return np.rint(ncp(column.coded, leaves) * (SCALE * column.weight)).astype(np.int64)
