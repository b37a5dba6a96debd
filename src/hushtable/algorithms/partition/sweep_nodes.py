"""The nodes of a lattice in the order of a sweep, and what their cells cost."""

from __future__ import annotations

import math

import numpy as np

from hushtable.algorithms.refining.cells import leaf_cost
from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.table.encoded import EncodedTable

__all__ = ["MOST_NODES", "SweepNodes", "level_axes"]

MOST_NODES = 2**17
"""Lattices with more nodes are swept with some levels passed over."""


def level_axes(heights: list[int], most: int = MOST_NODES) -> list[list[tuple[int, ...]]]:
    """Return what a node is put together from: a list of axes, each a list of levels for some columns.

    Without need, an axis is a column with all its levels. Otherwise a middle level of the longest axis is dropped,
    again and again; once all axes have two, the last two become one.

    Examples
    --------
    >>> level_axes([1, 2])
    [[(0,), (1,)], [(0,), (1,), (2,)]]
    >>> level_axes([1, 2, 1], most=4)
    [[(0,), (1,)], [(0, 0), (2, 1)]]
    """
    axes: list[list[tuple[int, ...]]] = [[(level,) for level in range(h + 1)] for h in heights]
    while math.prod(len(axis) for axis in axes) > most:
        longest = max(range(len(axes)), key=lambda i: len(axes[i]))
        if len(axes[longest]) > 2:
            del axes[longest][len(axes[longest]) // 2]
        else:
            last, before = axes.pop(), axes.pop()
            # a column without hierarchy has one level, which goes with all of the other's
            n = max(len(last), len(before))
            axes.append([before[min(i, len(before) - 1)] + last[min(i, len(last) - 1)] for i in range(n)])
    return axes


class SweepNodes:
    """A table's distinct tuples, and the lattice's nodes by their cost.

    Parameters
    ----------
    table : EncodedTable
    kept : bool array
        Rows that take part.

    Attributes
    ----------
    codes : (T, d) integer array
        The distinct tuples, in canonical order.
    of_row : int64 array
        The tuple of each kept row.
    lut, cost : int64 arrays
        The node above each code and what it costs, level by level, column by column.
    """

    def __init__(self, table: EncodedTable, kept: BoolArray) -> None:
        rows = np.flatnonzero(kept)
        columns = [c.codes[rows] for c in table.quasi]
        self.of_row, first = number_rows(columns, [c.coded.size for c in table.quasi])
        self.codes = np.column_stack([c[first] for c in columns])
        count = np.bincount(self.of_row, minlength=len(first))
        heights = [c.coded.height for c in table.quasi]
        starts = np.zeros((len(heights), max(heights) + 1), dtype=np.int64)
        mean, least = np.zeros(starts.shape), np.zeros_like(starts)
        lut, cost, begin = [], [], 0
        for j, column in enumerate(table.quasi):
            for h, level in enumerate(column.coded.levels):
                each = (column.coded.leaves(h)[level] - 1) * leaf_cost(column)
                starts[j, h] = begin
                mine = each[self.codes[:, j]]
                # in whole numbers: the order of the rows must not matter
                mean[j, h] = sum(int(a) * int(b) for a, b in zip(*_sums(mine, count), strict=True)) / len(rows)
                least[j, h] = mine.min()
                lut.append(level)
                cost.append(each)
                begin += len(level)
        self.lut, self.cost = np.concatenate(lut).astype(np.int64), np.concatenate(cost).astype(np.int64)
        self._order(starts, mean, least, level_axes(heights))

    def _order(self, starts: IntArray, mean: FloatArray, least: IntArray, axes: list[list[tuple[int, ...]]]) -> None:
        places = np.indices([len(a) for a in axes]).reshape(len(axes), -1)
        levels = np.column_stack([np.array(axis)[place] for axis, place in zip(axes, places, strict=True)])
        columns = np.arange(levels.shape[1])
        total = np.zeros(len(levels))
        for j in columns:
            total += mean[j, levels[:, j]]
        order = np.argsort(total, kind="stable")
        self._at = starts[columns, levels[order]]
        self._least = least[columns, levels[order]].sum(axis=1)
        self._top = int(self.cost[self._at[-1] + self.codes.astype(np.int64)].sum(axis=1).max())

    def ceilings(self, bands: int) -> list[int]:
        """Return what a cell may cost in each band: from little to all, in equal proportions."""
        low = math.log2(max(self._top, 1)) - 11
        steps = [2 ** (low + 11 * (i + 1) / bands) for i in range(bands - 1)]
        return [*map(int, steps), max(self._top, int(self.cost.sum()))]

    def within(self, ceiling: int) -> IntArray:
        """Return, node by node, where the look-up tables begin, for nodes with some cell within the ceiling."""
        return np.ascontiguousarray(self._at[self._least <= ceiling])


def _sums(values: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """How many records have each value."""
    present, inverse = np.unique(values, return_inverse=True)
    return present, np.bincount(inverse.reshape(-1), weights=count, minlength=len(present)).astype(np.int64)
