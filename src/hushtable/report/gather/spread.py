"""How the records of each class are spread over the bins of a column, as far as the release tells.

A generalised cell is spread evenly over the values that it covers, as an analyst would; a centroid or a midpoint is
where it is.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.release.forms.base import Cells
from hushtable.report.gather.bins import Bins
from hushtable.table.encoded import numbers_of

__all__ = ["spread"]


def spread(cells: Cells, bins: Bins) -> FloatArray:
    """Return the share of each class (row) in each bin (column); rows sum to 1 where all is shown.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> ages = example().cells[0]
    >>> spread(ages, Bins(("young", "old"), np.array([0, 0, 1, 1, 1]))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    points = _points(cells, bins)
    if points is not None:
        out = np.zeros((len(cells), len(bins) + 1))
        out[np.arange(len(cells)), points] = 1.0
        return out[:, :-1]
    columns = [cells.expected((bins.of_code == b).astype(np.int64)) for b in range(len(bins))]
    return np.column_stack(columns) if columns else np.zeros((len(cells), 0))


def _points(cells: Cells, bins: Bins) -> IntArray | None:
    """The bin of each class's one published point (-1 for none), or None where cells cover several values."""
    points = cells.points
    if points is None:
        return None
    coded = cells.column.coded
    gap = int(bins.of_code[0]) if coded.missing else -1
    if points.numbers is None:
        assert points.codes is not None
        return np.where(points.hidden, gap, bins.of_code[points.codes])
    if points.hidden.all():
        # a column without any known value has no scale either
        return np.full(len(cells), gap, dtype=np.int64)
    return np.where(points.hidden, gap, _at(points.numbers, coded, bins))


def _at(numbers: FloatArray, coded: Coded, bins: Bins) -> IntArray:
    if len(bins.edges):
        return np.searchsorted(bins.edges, numbers, side="right")
    known = numbers_of(coded)
    if known is None:
        raise TypeError("only numbers and dates have a place on a scale")
    first = int(coded.missing)
    at = np.searchsorted(known[first:], numbers).clip(1, max(len(known) - first - 1, 1))
    low, high = at - 1 + first, np.minimum(at + first, len(known) - 1)
    nearest = np.where(numbers - known[low] <= known[high] - numbers, low, high)
    return np.asarray(bins.of_code[nearest])
