"""Cells and original values as features of a classifier.

Ordered columns give one feature: numbers and dates their value on a scale from 0 to 1, ordinal labels their rank;
a cell the midpoint of what it covers. Nominal columns give one feature for each of their most frequent values and
one for all others; a cell that covers several leaves has the share of each. The missing value is a value of its
own: an extra feature of ordered columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.release.forms.base import Cells
from hushtable.table.coded_columns import scaled_numbers

__all__ = ["MOST_VALUES", "ColumnFeatures"]

MOST_VALUES = 32
"""Values of a nominal column that have a feature of their own."""


@dataclass(frozen=True)
class ColumnFeatures:
    """The features of one column.

    Attributes
    ----------
    cells : Cells
        What the classes publish.
    counts : int64 array
        How often each code occurs in the original.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> city = ColumnFeatures(example().cells[1], np.array([1, 1, 3]))
    >>> city.of_codes.tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    >>> city.of_cells.tolist()
    [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    """

    cells: Cells
    counts: IntArray

    @property
    def of_codes(self) -> FloatArray:
        """Features of original values, one row per code."""
        if not self.cells.column.coded.kind.ordered:
            return np.column_stack([mask.astype(np.float64) for mask in self._masks])
        position = np.nan_to_num(self._positions, nan=0.5)
        return np.column_stack([position, *(mask.astype(np.float64) for mask in self._masks)])

    @property
    def of_cells(self) -> FloatArray:
        """Features of cells, one row per class."""
        shares = [self.cells.expected(mask) for mask in self._masks]
        if not self.cells.column.coded.kind.ordered:
            return np.column_stack(shares)
        return np.column_stack([np.nan_to_num(self.cells.middles(self._positions), nan=0.5), *shares])

    @cached_property
    def _positions(self) -> FloatArray:
        coded = self.cells.column.coded
        numbers = scaled_numbers(coded)
        if numbers is not None:
            return numbers
        first = int(coded.missing)
        rank = np.arange(coded.size, dtype=np.float64) - first
        if first:
            rank[0] = np.nan
        return rank / max(coded.size - first - 1, 1)

    @cached_property
    def _masks(self) -> list[IntArray]:
        """Which leaves each share feature stands for."""
        coded = self.cells.column.coded
        if coded.kind.ordered:
            return [(np.arange(coded.size) == 0).astype(np.int64)] if coded.missing else []
        frequent = np.lexsort((np.arange(coded.size), -self.counts))
        masks = []
        for part in (*np.split(frequent[:MOST_VALUES], min(coded.size, MOST_VALUES)), frequent[MOST_VALUES:]):
            if len(part):
                mask = np.zeros(coded.size, dtype=np.int64)
                mask[part] = 1
                masks.append(mask)
        return masks
