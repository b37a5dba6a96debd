"""A release compared with its original by counts, for tables that are too large for one machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray, summed
from hushtable.kernels.grouping import group_rows, histogram, number_rows
from hushtable.release.comparison import Comparison, RowComparison, TupleSums, Values
from hushtable.release.forms.base import Cells
from hushtable.table.coded_columns import QuasiColumn


@dataclass(frozen=True)
class CountedComparison(Comparison):
    """A release compared with its original by counts.

    Attributes
    ----------
    cells : tuple of Cells
        The cells of each column; classes may share them.
    of_class : tuple of int64 arrays
        For each column, the cell of every class.
    class_records : int64 array
        Records of each class.
    counted : tuple of Values
        One per column.
    tuples : callable
        Totals over the distinct original tuples: ``Comparison.over_tuples``.
    drawn : RowComparison
        Some whole classes.
    k, seed, linked
        See ``Comparison``.
    """

    cells: tuple[Cells, ...]
    of_class: tuple[IntArray, ...]
    class_records: IntArray
    counted: tuple[Values, ...]
    tuples: Callable[[TupleSums], FloatArray]
    drawn: RowComparison
    k: int = 1
    seed: int = 0
    linked: bool = True

    @classmethod
    def of_rows(cls, every: RowComparison, records: IntArray, drawn: RowComparison) -> CountedComparison:
        """Count rows that represent several records each.

        Examples
        --------
        >>> from hushtable.utility.example import example
        >>> counted = CountedComparison.of_rows(example(), np.array([1, 3, 2, 2, 4]), example())
        >>> counted.n, counted.n_suppressed, counted.sizes.tolist()
        (12, 4, [4, 4])
        """
        sizes = len(every.cells[0])
        classes = summed(records, every.labels + 1, sizes + 1)

        from hushtable.parallel import each

        def distinct(columns: list[AnyArray], spans: list[int]) -> tuple[list[AnyArray], IntArray]:
            number, first = number_rows(columns, spans)
            return [column[first] for column in columns], summed(records, number, len(first))

        rows, offsets = group_rows(every.labels + 1, sizes + 1)

        def values(column: QuasiColumn) -> Values:
            found = histogram(rows, offsets[:-1], offsets[1:], column.codes, records, column.coded.size)
            return Values(np.repeat(np.arange(-1, sizes), np.diff(found[0])), found[1], found[2])

        counted = each(values, every.table.quasi)
        quasi = every.table.quasi
        tuples = partial(distinct, [c.codes[: every.n] for c in quasi], [c.coded.size for c in quasi])
        own = (np.arange(sizes),) * len(quasi)
        return cls(
            every.cells, own, classes[1:], tuple(counted), lambda sums: sums(*tuples()), drawn,
            every.k, every.seed, every.linked,
        )  # fmt: skip

    @cached_property
    def n(self) -> int:
        """Records of the original."""
        return int(self.counted[0].records.sum())

    @property
    def n_suppressed(self) -> int:
        """Suppressed records."""
        return self.n - int(self.class_records.sum())

    @property
    def sizes(self) -> IntArray:
        """Records of each class."""
        return self.class_records

    @property
    def rows(self) -> RowComparison:
        """Rows of some whole classes with their originals."""
        return self.drawn

    def by_class(self, j: int, per_cell: Any) -> Any:
        """Return a number per cell of column j, class by class."""
        return per_cell[self.of_class[j]]

    def cell_records(self, j: int) -> IntArray:
        """Return how many records have each cell of column j."""
        return summed(self.class_records, self.of_class[j], len(self.cells[j]))

    def values(self, j: int) -> Values:
        """Return the original values behind the cells of column j."""
        return self.counted[j]

    def over_tuples(self, sums: TupleSums) -> FloatArray:
        """Total what ``sums`` returns for the distinct original tuples, part by part."""
        return self.tuples(sums)
