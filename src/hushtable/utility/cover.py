"""Which leaves a published cell covers: what all measures of spread, loss and distance are computed from.

A node covers its leaves, a set its members, a range every leaf of the domain inside it; where a range would have
to hold the missing value too, it is published as the root and covers everything. A midpoint counts as the range it
is the middle of. Work is per class and column, never per row.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.release.cells import Cells
from hushtable.release.centroid import CentroidCells
from hushtable.schema.columns import CellStyle
from hushtable.table.encoded import numbers_of

__all__ = ["covered", "covers", "extent", "midpoints", "scaled_numbers"]


def extent(cells: Cells) -> tuple[IntArray, IntArray]:
    """Return the least and the greatest leaf that each cell covers.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> [bound.tolist() for bound in extent(example().cells[0])]
    [[0, 2], [1, 3]]
    """
    coded = cells.column.coded
    if cells.style is CellStyle.SETS:
        return cells.low, cells.high
    if cells.style is CellStyle.NODES:
        low, high = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.int64)
        leaf = np.arange(coded.size)
        for h, level in enumerate(coded.levels):
            here = cells.height == h
            least, most = (
                np.zeros(len(coded.labels[h]), dtype=np.int64),
                np.zeros(len(coded.labels[h]), dtype=np.int64),
            )
            # of several writes to one place the last one stays
            least[level[::-1]] = leaf[::-1]
            most[level] = leaf
            low[here], high[here] = least[cells.node[here]], most[cells.node[here]]
        return low, high
    return np.where(cells.mixed, 0, cells.low), np.where(cells.mixed, coded.size - 1, cells.high)


def covered(cells: Cells, weights: IntArray) -> IntArray:
    """Return the sum of ``weights`` (one integer per leaf) over the leaves that each cell covers.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> covered(example().cells[0], np.array([5, 1, 0, 2, 9])).tolist()
    [6, 2]
    """
    if cells.style is CellStyle.SETS:
        return _between(weights[cells.members], cells.offsets[:-1], cells.offsets[1:])
    if cells.style is CellStyle.NODES:
        out = np.zeros(len(cells), dtype=np.int64)
        for h, level in enumerate(cells.column.coded.levels):
            here = cells.height == h
            total = np.zeros(len(cells.column.coded.labels[h]), dtype=np.int64)
            np.add.at(total, level, weights)
            out[here] = total[cells.node[here]]
        return out
    low, high = extent(cells)
    return _between(weights, low, high + 1)


def _between(values: IntArray, starts: IntArray, ends: IntArray) -> IntArray:
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    return total[ends] - total[starts]


def covers(cells: Cells, groups: IntArray, codes: IntArray) -> BoolArray:
    """Return whether the cell of ``groups[i]`` covers the leaf ``codes[i]``.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> covers(example().cells[0], np.array([0, 1]), np.array([1, 1])).tolist()
    [True, False]
    """
    coded = cells.column.coded
    if cells.style is CellStyle.SETS:
        owner = np.repeat(np.arange(len(cells)), cells.counts)
        keys = owner * coded.size + cells.members
        wanted = groups * coded.size + codes
        place = np.searchsorted(keys, wanted)
        inside = place < len(keys)
        inside[inside] = keys[place[inside]] == wanted[inside]
        return inside
    if cells.style is CellStyle.NODES:
        out = np.zeros(len(groups), dtype=np.bool_)
        for h, level in enumerate(coded.levels):
            here = np.flatnonzero(cells.height[groups] == h)
            out[here] = level[codes[here]] == cells.node[groups[here]]
        return out
    low, high = extent(cells)
    return np.asarray((codes >= low[groups]) & (codes <= high[groups]))


def scaled_numbers(coded: Coded) -> FloatArray | None:
    """Return the number (for dates: the day) of each leaf on a scale from 0 to 1; NaN for the missing value.

    None for labels, which are no numbers, and for columns with infinite values, which have no scale.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> scaled_numbers(example().table.quasi[0].coded).round(2).tolist()
    [0.0, 0.02, 0.37, 0.38, 1.0]
    """
    numbers = numbers_of(coded)
    if numbers is None:
        return None
    first = int(coded.missing)
    known = numbers[first:]
    if not np.isfinite(known).all():
        return None
    scaled = np.full(coded.size, np.nan)
    # halves do not overflow
    width = known[-1] / 2 - known[0] / 2 if len(known) else 0.0
    scaled[first:] = (known / 2 - known[0] / 2) / width if width > 0 else 0.0
    return scaled


def midpoints(cells: Cells, numbers: FloatArray) -> FloatArray:
    """Return the middle between the least and the greatest number that each cell covers.

    The missing value is no number: it is left out, and a cell that covers nothing else has the midpoint NaN. A
    centroid is its own middle.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> midpoints(example().cells[0], np.array([30, 31, 52, 53, 90.0])).tolist()
    [30.5, 52.5]
    """
    if isinstance(cells, CentroidCells):
        return cells.representatives(numbers)
    low, high = extent(cells)
    if cells.style is CellStyle.SETS:
        low = np.where(cells.mixed, cells.members[np.where(cells.mixed, cells.offsets[:-1] + 1, 0)], low)
    else:
        low = np.minimum(np.maximum(low, int(cells.column.coded.missing)), high)
    return np.asarray(numbers[low] / 2 + numbers[high] / 2, dtype=np.float64)
