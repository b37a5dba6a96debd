"""A release compared with its original, as utility measures see the two.

Measures need only a few answers: what each cell covers, how many records have it, which original values those have, and
sums over the distinct original tuples. The answers come from rows in memory (``RowComparison``), or from counts
(``CountedComparison`` of ``release.counted``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray, summed
from hushtable.kernels.grouping import group_rows, histogram, number_rows
from hushtable.release.forms.base import Cells
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.encoded import EncodedTable

TupleSums: TypeAlias = Callable[[Sequence[AnyArray], AnyArray], FloatArray]
"""From distinct tuples (their codes, column by column) and their numbers of records, or of the people that these
represent, to numbers that can be added."""


@dataclass(frozen=True)
class Values:
    """The original values behind the cells of one column.

    Attributes
    ----------
    cell : int64 array
        -1: suppressed.
    code : int64 array
    records : int64 array
        How many records have that value and that cell.
    """

    cell: IntArray
    code: IntArray
    records: IntArray

    def counts(self, size: int) -> IntArray:
        """Return how many original records have each of ``size`` codes.

        Examples
        --------
        >>> Values(np.array([0, 1, -1]), np.array([2, 0, 2]), np.array([4, 1, 1])).counts(3).tolist()
        [1, 0, 5]
        """
        return summed(self.records, self.code, size)


class Comparison(ABC):
    """A release compared with its original, for measures.

    Attributes
    ----------
    cells : tuple of Cells
        What each quasi-identifier publishes.
    k : int
        The smallest class that the models allow.
    seed : int
    linked : bool
        Whether every published record has its own sensitive values in the same row.
    """

    cells: tuple[Cells, ...]
    k: int
    seed: int
    linked: bool

    @property
    @abstractmethod
    def n(self) -> int:
        """Records of the original."""

    @property
    @abstractmethod
    def n_suppressed(self) -> int:
        """Suppressed records."""

    @property
    @abstractmethod
    def sizes(self) -> IntArray:
        """Records of each class."""

    @property
    @abstractmethod
    def rows(self) -> RowComparison:
        """Rows with their originals: all of them, or those of some whole classes."""

    @abstractmethod
    def by_class(self, j: int, per_cell: Any) -> Any:
        """Return a number per cell of column j, class by class."""

    @abstractmethod
    def cell_records(self, j: int) -> IntArray:
        """Return how many records have each cell of column j."""

    @abstractmethod
    def values(self, j: int) -> Values:
        """Return the original values behind the cells of column j."""

    @abstractmethod
    def over_tuples(self, sums: TupleSums) -> FloatArray:
        """Total what ``sums`` returns for the distinct original tuples, which may be given in several parts.

        With survey weights, a record counts as its weight.
        """

    @property
    def weighted(self) -> bool:
        """Whether records count as their survey weights in ``over_tuples`` and ``represented``."""
        return False

    @property
    def represented(self) -> tuple[FloatArray, float]:
        """People whom the records of each class and the suppressed ones represent; one each without survey weights."""
        return self.sizes.astype(np.float64), float(self.n_suppressed)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(np.count_nonzero(self.sizes))

    @property
    def n_released(self) -> int:
        """Records that are published."""
        return self.n - self.n_suppressed

    @property
    def weights(self) -> FloatArray:
        """The columns' weights."""
        return np.array([cells.column.weight for cells in self.cells])

    def mean_over_records(self, j: int, per_cell: FloatArray, suppressed: float) -> float:
        """Average a number per cell of column j over all original records; a suppressed one counts ``suppressed``."""
        total = float((per_cell * self.cell_records(j)).sum()) + suppressed * self.n_suppressed
        return total / self.n


@dataclass(frozen=True)
class RowComparison(Comparison):
    """A release compared with its original, row by row: a column has one cell for each class.

    Attributes
    ----------
    table : EncodedTable
        The original.
    labels : int64 array
        The class of every sample row; -1 for suppressed ones.
    cells, k, seed, linked
        See ``Comparison``.
    others : mapping of str to SensitiveColumn
        Published columns that are neither quasi-identifiers nor sensitive, encoded on first use.
    changes : callable, optional
        How much treatments changed each treated column; None if no column is treated.
    """

    table: EncodedTable
    labels: IntArray
    cells: tuple[Cells, ...]
    k: int = 1
    seed: int = 0
    linked: bool = True
    others: Mapping[str, SensitiveColumn] = field(default_factory=dict)
    changes: Callable[[], Mapping[str, float]] | None = None

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.table.n_sample

    @cached_property
    def n_suppressed(self) -> int:
        """Suppressed records."""
        return int(np.count_nonzero(self.labels < 0))

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each class."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.cells[0])).astype(np.int64)

    @property
    def rows(self) -> RowComparison:
        """Itself."""
        return self

    def by_class(self, j: int, per_cell: Any) -> Any:
        """Return a number per cell of column j, class by class."""
        return per_cell

    def cell_records(self, j: int) -> IntArray:
        """Return how many records have each cell of column j."""
        return self.sizes

    @cached_property
    def _grouped(self) -> tuple[IntArray, IntArray]:
        """The rows in the order of their classes, the suppressed ones first, and where each class begins."""
        return group_rows(self.labels + 1, len(self.cells[0]) + 1)

    def values(self, j: int) -> Values:
        """Return the original values behind the cells of column j."""
        rows, offsets = self._grouped
        column = self.table.quasi[j]
        counted, codes, records = histogram(
            rows, offsets[:-1], offsets[1:], column.codes, np.empty(0, dtype=np.int64), column.coded.size
        )
        return Values(np.repeat(np.arange(-1, len(self.cells[0])), np.diff(counted)), codes, records)

    def over_tuples(self, sums: TupleSums) -> FloatArray:
        """Total what ``sums`` returns for the distinct original tuples."""
        return sums(*self._tuples)

    @property
    def weighted(self) -> bool:
        """Whether the table has survey weights."""
        return self.table.survey is not None and len(self.table.survey.weights) > 0

    @cached_property
    def represented(self) -> tuple[FloatArray, float]:
        """People whom the records of each class and the suppressed ones represent; one each without survey weights."""
        counted = self._counted(self.labels + 1, len(self.cells[0]) + 1).astype(np.float64)
        return counted[1:], float(counted[0])

    def _counted(self, labels: AnyArray, n: int) -> AnyArray:
        """How many records have each label; by their survey weights, if there are any."""
        survey = self.table.survey
        if survey is None or not self.weighted:
            return np.bincount(labels, minlength=n).astype(np.int64)
        from hushtable.table.survey import summed_weights  # most tables are not surveys

        return summed_weights(survey.weights, labels, n)

    @cached_property
    def _tuples(self) -> tuple[list[AnyArray], AnyArray]:
        columns = [c.codes[: self.n] for c in self.table.quasi]
        number, first = number_rows(columns, [c.coded.size for c in self.table.quasi])
        return [codes[first] for codes in columns], self._counted(number, len(first))
