"""Patterns: a group keeps the values that all its records share, and blanks the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.hierarchy.base import ROOT
from hushtable.release.cells import Cells, escape_value
from hushtable.schema.columns import CellStyle
from hushtable.table.encoded import QuasiColumn

__all__ = ["PatternCells"]


@dataclass(frozen=True)
class PatternCells(Cells):
    """The cells of one column, one per group: the common value, or ``*``.

    A value that is missing in all records of a group is common to them, unless ``blank_unknown`` says that it is
    nothing.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> PatternCells.of_groups(age, np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['*', '53']
    """

    blank_unknown: bool = False

    @classmethod
    def of_records(
        cls, column: QuasiColumn, rows: AnyArray, offsets: IntArray, *, blank_unknown: bool = False
    ) -> PatternCells:
        """Collect the codes of the groups ``rows[offsets[g]:offsets[g + 1]]``."""
        plain = cls.of_groups(column, rows, offsets)
        return cls(column, plain.offsets, plain.members, None, blank_unknown)

    @cached_property
    def kept(self) -> BoolArray:
        """Which groups publish a value."""
        kept = self.counts <= 1
        return np.asarray(kept & ~self.with_gap) if self.blank_unknown else kept

    @property
    def style(self) -> CellStyle:
        """Return nodes: a leaf or the root."""
        return CellStyle.NODES

    @cached_property
    def height(self) -> IntArray:
        """0 for a common value, else the root's height."""
        return np.where(self.kept, 0, self.column.coded.height)

    def labels(self) -> pa.Array:
        """Return the common values as text, and ``*`` elsewhere."""
        names = [escape_value(label) for label in self.column.coded.labels[0]]
        pairs = zip(self.low.tolist(), self.kept.tolist(), strict=True)
        return pa.array([names[code] if kept else ROOT for code, kept in pairs], pa.string())
