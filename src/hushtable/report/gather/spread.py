"""How the records of each class are spread over the bins of a column, as far as the release tells.

A generalised cell is spread evenly over the values that it covers, as an analyst would; a centroid or a midpoint is
where it is.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.release.cells import Cells
from hushtable.release.centroid import CentroidCells
from hushtable.report.gather.bins import Bins
from hushtable.schema.columns import CellStyle, Kind
from hushtable.table.encoded import numbers_of
from hushtable.utility.cover import covered

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
    leaves = np.maximum(cells.leaves, 1)
    columns = [covered(cells, (bins.of_code == b).astype(np.int64)) / leaves for b in range(len(bins))]
    return np.column_stack(columns) if columns else np.zeros((len(cells), 0))


def _points(cells: Cells, bins: Bins) -> IntArray | None:
    """The bin of each class's one published point (-1 for none), or None where cells cover several values."""
    coded = cells.column.coded
    gap = int(bins.of_code[0]) if coded.missing else -1
    if isinstance(cells, CentroidCells):
        if coded.kind not in (Kind.NUMERIC, Kind.DATE):
            return np.where(cells.hidden, gap, bins.of_code[cells.middle])
    elif cells.style is not CellStyle.MIDPOINT:
        return None
    shown = cells.labels()
    shown = shown.cast(pa.int32()) if coded.kind is Kind.DATE else shown
    hidden = np.asarray(shown.is_null())
    if hidden.all():
        # a column without any known value has no scale either
        return np.full(len(cells), gap, dtype=np.int64)
    numbers = np.asarray(shown.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(hidden, gap, _at(numbers, coded, bins))


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
