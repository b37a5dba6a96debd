"""Distinct tuples of a table, and the groups that a node makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.cubes import leaf_cube
from hushtable.table.stats import Key

__all__ = ["Grouping", "Tuples"]


@dataclass(frozen=True)
class Tuples:
    """Distinct tuples with their weights, in canonical order.

    Attributes
    ----------
    packed : (T, blocks) integer array
        Leaf codes, several columns in one number; after rolling up, those of one leaf below each node.
    units : int64 array
    sensitive : mapping of Key to int64 array
        Codes of the sensitive columns: tuples are distinct in these too.
    levels : int64 array
        The levels that they were rolled up to.
    all_columns : (d, n) integer array
        Leaf codes of the original tuples, one row per column.
    rows : int64 array, optional
        The original tuple that each one represents, if they were rolled up.
    """

    packed: AnyArray
    units: IntArray
    sensitive: dict[Key, IntArray]
    levels: IntArray
    all_columns: AnyArray
    rows: IntArray | None = None

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def columns(self) -> AnyArray:
        """Leaf codes, one row per column."""
        return self.all_columns if self.rows is None else self.all_columns[:, self.rows]

    def cube(self, columns: Sequence[int], leaves: Sequence[int]) -> IntArray:
        """Count the leaves of up to three columns together."""
        return leaf_cube([self.columns[j] for j in columns], self.units, leaves)

    def take(self, index: IntArray, units: IntArray, sensitive: dict[Key, IntArray], levels: IntArray) -> Tuples:
        """Return some of the tuples, with other weights and at other levels."""
        rows = index if self.rows is None else self.rows[index]
        return Tuples(np.take(self.packed, index, axis=0), units, sensitive, levels, self.all_columns, rows)


@dataclass(frozen=True)
class Grouping:
    """The groups of one node.

    Attributes
    ----------
    tuples : Tuples
        What was grouped.
    group : integer array
        The group of each tuple.
    sizes : int64 array
        Units per group.
    first : int64 array
        One tuple of each group.
    """

    tuples: Tuples
    group: AnyArray
    sizes: IntArray
    first: IntArray
