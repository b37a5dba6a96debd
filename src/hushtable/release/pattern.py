"""Patterns: a group keeps the values that all its records share, and blanks the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.hierarchy.base import ROOT
from hushtable.release.cells import Cells, escape_value
from hushtable.schema.columns import CellStyle

__all__ = ["PatternCells"]


@dataclass(frozen=True)
class PatternCells(Cells):
    """The cells of one column, one per group: the common value, or ``*``.

    A value that is missing in all records of a group is common to them.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> PatternCells.of_groups(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['*', '53']
    """

    @property
    def style(self) -> CellStyle:
        """Return nodes: a leaf or the root."""
        return CellStyle.NODES

    @cached_property
    def height(self) -> IntArray:
        """0 for a common value, else the root's height."""
        return np.where(self.counts > 1, self.column.coded.height, 0)

    def labels(self) -> pa.Array:
        """Return the common values as text, and ``*`` elsewhere."""
        names = [escape_value(label) for label in self.column.coded.labels[0]]
        pairs = zip(self.low.tolist(), self.counts.tolist(), strict=True)
        return pa.array([names[code] if n <= 1 else ROOT for code, n in pairs], pa.string())
