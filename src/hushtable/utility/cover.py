"""Which leaves a published cell covers: what all measures of spread, loss and distance are computed from.

A node covers its leaves, a set its members, a range every leaf of the domain inside it; where a range would have
to hold the missing value too, it is published as the root and covers everything. A midpoint counts as the range it
is the middle of. Work is per class and column, never per row.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.release.cells import Cells
from hushtable.release.covering import covers, extent
from hushtable.schema.columns import CellStyle
from hushtable.table.encoded import numbers_of

__all__ = ["covered", "covers", "extent", "midpoints", "scaled_numbers"]


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

    The missing value is no number: it is left out, and a cell that covers nothing else has the midpoint NaN. What is
    published as a number for others (a centroid) is its own middle.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> midpoints(example().cells[0], np.array([30, 31, 52, 53, 90.0])).tolist()
    [30.5, 52.5]
    """
    low, high = extent(cells)
    if cells.style is CellStyle.SETS:
        low = np.where(cells.mixed, cells.members[np.where(cells.mixed, cells.offsets[:-1] + 1, 0)], low)
    else:
        low = np.minimum(np.maximum(low, int(cells.column.coded.missing)), high)
    published = cells.representatives(numbers)
    return np.where(np.isnan(published), numbers[low] / 2 + numbers[high] / 2, published)
