"""Kernel of growing clusters: for every block, its record nearest to (or farthest from) a box of codes.

The cost of a box is an integer, a sum of look-ups: in each column, of the lowest node that covers its ends, or of its
width. ``CellCosts`` fills the tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.kernels.compile import dispatch


@dataclass(frozen=True)
class CostTables:
    """The cost of a box in each column.

    Attributes
    ----------
    begin, size, height : int64 arrays
        Where a column's tables begin, how many codes it has, how many levels above the leaves.
    ranged : bool array
        Whether a box is charged by its width (then the table has one level: the cost of each width), or by its node.
    gap : bool array
        Whether code 0 of a ranged column is the missing value: a box with others then costs ``full``.
    full : int64 array
        The cost of the root.
    nodes, costs : int64 arrays
        ``begin + height * size + code``: the node above a code, and its cost.
    """

    begin: IntArray
    size: IntArray
    height: IntArray
    ranged: BoolArray
    gap: BoolArray
    full: IntArray
    nodes: IntArray
    costs: IntArray

    def arrays(self) -> tuple[Any, ...]:
        """Return the tables in the form that a kernel takes."""
        return self.begin, self.size, self.height, self.ranged, self.gap, self.full, self.nodes, self.costs


def box_costs(tables: CostTables, low: IntArray, high: IntArray) -> IntArray:
    """Return the cost of each box, given its smallest and largest code in each column."""
    total = np.zeros(len(low), dtype=np.int64)
    for j in range(low.shape[1]):
        a, b = low[:, j].astype(np.int64), high[:, j].astype(np.int64)
        first, size = tables.begin[j], tables.size[j]
        if tables.ranged[j]:
            mixed = tables.gap[j] & (a == 0) & (b > 0)
            total += np.where(mixed, tables.full[j], tables.costs[first + b - a])
            continue
        apart = np.ones(len(a), dtype=np.bool_)
        for h in range(tables.height[j] + 1):
            at = first + h * size
            met = apart & (tables.nodes[at + a] == tables.nodes[at + b])
            total[met] += tables.costs[at + a[met]]
            apart &= ~met
    return total


def extreme_records(
    codes: AnyArray, free: BoolArray, starts: IntArray, ends: IntArray, low: IntArray, high: IntArray,
    wanted: BoolArray, kinds: IntArray, tables: CostTables, *, farthest: bool,
) -> IntArray:  # fmt: skip
    """Return for each block the record that makes its box cheapest (or most expensive) when added; -1 if none.

    Parameters
    ----------
    codes : (n, d) integer array
        Block b owns rows ``starts[b]:ends[b]``.
    free : bool array
        Which rows may be chosen.
    low, high : (blocks, d) int64 arrays
        The boxes.
    wanted : (blocks, kinds) bool array
        Which kinds of rows may be chosen; without columns, all.
    kinds : int64 array
        The kind of every row.
    tables : CostTables
    farthest : bool
        Whether to find the most expensive one. Ties go to the first row.
    """
    out = np.empty(len(starts), dtype=np.int64)
    function = dispatch(_extreme_loops, _extreme_numpy, len(codes))
    function(codes, free, starts, ends, low, high, wanted, kinds, *tables.arrays(), farthest, out)
    return out


def _extreme_numpy(
    codes: Any, free: Any, starts: Any, ends: Any, low: Any, high: Any, wanted: Any, kinds: Any, begin: Any,
    size: Any, height: Any, ranged: Any, gap: Any, full: Any, nodes: Any, costs: Any, farthest: Any, out: Any,
) -> None:  # fmt: skip
    tables = CostTables(begin, size, height, ranged, gap, full, nodes, costs)
    for b in range(len(starts)):
        rows = starts[b] + np.flatnonzero(free[starts[b] : ends[b]])
        if wanted.shape[1]:
            rows = rows[wanted[b, kinds[rows]]]
        out[b] = -1
        if len(rows):
            own = codes[rows].astype(np.int64)
            cost = box_costs(tables, np.minimum(own, low[b]), np.maximum(own, high[b]))
            out[b] = rows[np.argmax(cost) if farthest else np.argmin(cost)]


def _extreme_loops(
    codes: Any, free: Any, starts: Any, ends: Any, low: Any, high: Any, wanted: Any, kinds: Any, begin: Any,
    size: Any, height: Any, ranged: Any, gap: Any, full: Any, nodes: Any, costs: Any, farthest: Any, out: Any,
) -> None:  # fmt: skip
    d = codes.shape[1]
    choosy = wanted.shape[1] > 0
    for b in range(len(starts)):
        best = np.int64(-1)
        best_cost = np.int64(0)
        for i in range(starts[b], ends[b]):
            if not free[i] or (choosy and not wanted[b, kinds[i]]):
                continue
            cost = np.int64(0)
            for j in range(d):
                c = np.int64(codes[i, j])
                a = min(low[b, j], c)
                z = max(high[b, j], c)
                if ranged[j]:
                    cost += full[j] if gap[j] and a == 0 and z > 0 else costs[begin[j] + z - a]
                else:
                    at = begin[j]
                    for _ in range(height[j]):
                        if nodes[at + a] == nodes[at + z]:
                            break
                        at += size[j]
                    cost += costs[at + a]
                # costs are not negative, so a row that already costs more cannot become the nearest
                if not farthest and best >= 0 and cost >= best_cost:
                    break
            if best < 0 or (cost > best_cost if farthest else cost < best_cost):
                best = np.int64(i)
                best_cost = cost
        out[b] = best
