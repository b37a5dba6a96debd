"""Cells with an explicit list of covered values: cells of another release, in the values of this table.

Newcomers who join a class are published under its cells, whatever their form. The newcomers' values that a cell covers
are listed one by one; a node keeps its height, and a midpoint stays unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.release.forms.intervals import RangeCells
from hushtable.release.forms.nodes import lowest_above
from hushtable.release.forms.sets import SetCells
from hushtable.table.coded_columns import numbers_of


@dataclass(frozen=True)
class ListedCells(SetCells):
    """The cells of one column, one per class; ``members`` are all values of the table that a cell covers.

    Attributes
    ----------
    heights : int64 array
        The height of the node that each class publishes; for ranges, 0 or the height of the root.
    numbers : float array
        The midpoint that each class publishes, which may differ from that of the table's values; NaN for none.
    """

    heights: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    numbers: FloatArray = field(default_factory=lambda: np.empty(0))

    @cached_property
    def height(self) -> IntArray:
        """Height of the published node, or of the lowest one that covers what is published."""
        return np.maximum(lowest_above(self), self.heights)

    def representatives(self, numbers: FloatArray) -> FloatArray:
        """Return the published midpoints on another scale, which is linear and extends beyond the table's values."""
        known, first = numbers_of(self.column.coded), int(self.column.coded.missing)
        # halves do not overflow
        width = 0.0 if known is None or len(known) == first else known[-1] / 2 - known[first] / 2
        if known is None or not width > 0:
            return super().representatives(numbers)
        share = (self.numbers / 2 - known[first] / 2) / width
        return np.asarray(numbers[first] + share * (numbers[-1] - numbers[first]))

    def covers_new(self, path: tuple[str | None, ...], number: float | int | None) -> BoolArray:
        """Return which cells have members on both sides of a number."""
        return RangeCells(self.column, self.offsets, self.members).covers_new(path, number)

    def _taken(self, groups: IntArray, at: IntArray) -> dict[str, Any]:
        return {"heights": self.heights[groups], "numbers": self.numbers[groups]}
