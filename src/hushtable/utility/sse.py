"""SSE/SST: how far published numbers are from the original ones, in percent of their variation.

100 x sum over columns j and records i of ``((x_ij - r_ij) / s_j)^2`` / sum over columns of ``N_j``, where ``r_ij`` is
the published representative (the centroid itself, otherwise the midpoint between the smallest and the largest value
that the cell covers), ``s_j`` the standard deviation of the column's ``N_j`` values (denominator ``N_j``), so that
every column varies by ``N_j``. A suppressed record is estimated by the column's mean. Only numeric columns and dates
(in days) count, without constant columns, columns with infinite values, and missing values. Not defined if no column is
left. Midpoints of wide ranges can be farther away than the mean, so values above 100 are possible.

References
----------
J. Domingo-Ferrer, J. Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control",
2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.release.comparison import Values
from hushtable.release.forms.base import Cells
from hushtable.table.coded_columns import scaled_numbers
from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class SquaredError(Measure):
    """100 x SSE / SST over the standardized numeric quasi-identifiers.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(SquaredError().compute(example()), 4)  # (4 x 0.5^2 + 38.8^2) / 2366.8
    63.6488
    """

    name: ClassVar[str] = "sse"

    def compute(self, comparison: Comparison) -> float:
        """Add squared distances of standardized values, value by value."""
        error, records = 0.0, 0
        for j, cells in enumerate(comparison.cells):
            numbers = scaled_numbers(cells.column.coded)
            if numbers is not None:
                distance, n = _standardised(cells, numbers, comparison.values(j))
                error, records = error + distance, records + n
        return 100.0 * error / records if records else float("nan")


def _standardised(cells: Cells, numbers: FloatArray, values: Values) -> tuple[float, int]:
    """Return the squared error of one column in units of its variance, and its number of records."""
    first = int(cells.column.coded.missing)
    counts = values.counts(len(numbers))[first:]
    occurs, n = np.flatnonzero(counts) + first, int(counts.sum())
    if not n or numbers[occurs[0]] == numbers[occurs[-1]]:
        return 0.0, 0
    mean = (counts[occurs - first] * numbers[occurs]).sum() / n
    variation = float((counts[occurs - first] * (numbers[occurs] - mean) ** 2).sum())
    known = values.code >= first
    cell, code, records = values.cell[known], values.code[known], values.records[known]
    # the last entry serves cell -1: suppressed
    representative = np.append(cells.middles(numbers), mean)[cell]
    # sorted, so that the sum does not depend on the order of the classes
    return float(np.sort(records * (numbers[code] - representative) ** 2).sum()) / variation * n, n
