"""SSE/SST: how far published numbers are from the original ones, in percent of their variation.

100 x sum over columns j and records i of ``((x_ij - r_ij) / s_j)^2`` / sum over columns of ``N_j``, where ``r_ij``
is the published representative (of a centroid itself, else the midpoint between the least and the greatest value
that the cell covers),
``s_j`` the standard deviation of the column's ``N_j`` values (denominator ``N_j``), so that every column varies by
``N_j``. A suppressed record is estimated by the column's mean. Numeric columns and dates (in days) count; labels,
nominal or ordinal, are left out, as are constant columns, columns with infinite values, and missing values. Not
defined where no column is left. Midpoints of wide ranges can lie further off than the mean, so more than 100 is
possible.

References
----------
J. Domingo-Ferrer, J. Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control",
2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.release.cells import Cells
from hushtable.utility.base import Comparison, Measure
from hushtable.utility.cover import midpoints, scaled_numbers

__all__ = ["SquaredError"]


@dataclass(frozen=True)
class SquaredError(Measure):
    """100 x SSE / SST over the standardised numeric quasi-identifiers.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(SquaredError().compute(example()), 4)  # (4 x 0.5^2 + 38.8^2) / 2366.8
    63.6488
    """

    name: ClassVar[str] = "sse"

    def compute(self, comparison: Comparison) -> float:
        """Add squared distances of standardised values, record by record."""
        error, records = 0.0, 0
        for cells in comparison.cells:
            distance, n = _standardised(comparison, cells)
            error, records = error + distance, records + n
        return 100.0 * error / records if records else float("nan")


def _standardised(comparison: Comparison, cells: Cells) -> tuple[float, int]:
    """Return the squared error of one column in units of its variance, and its number of records."""
    numbers = scaled_numbers(cells.column.coded)
    if numbers is None:
        return 0.0, 0
    codes = cells.column.codes[: comparison.n]
    known = codes >= int(cells.column.coded.missing)
    value = numbers[codes[known]]
    if not len(value) or value.min() == value.max():
        return 0.0, 0
    counts = np.bincount(codes[known], minlength=len(numbers))
    occurs = counts > 0
    mean = (counts[occurs] * numbers[occurs]).sum() / len(value)
    variation = float((counts[occurs] * (numbers[occurs] - mean) ** 2).sum())
    # the last entry serves label -1: suppressed
    representative = np.append(midpoints(cells, numbers), mean)[comparison.labels[known]]
    # sorted, so that the sum does not depend on the order of the records
    return float(np.sort((value - representative) ** 2).sum()) / variation * len(value), len(value)
