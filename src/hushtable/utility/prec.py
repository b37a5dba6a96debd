"""Prec: the precision that is left in the hierarchies, relative to each column's height.

Prec = 1 - mean over records i and columns j of ``h_ij / H_j``, where ``h_ij`` is the height of the published node
(for intervals and sets: of the lowest node that covers them) and ``H_j`` the height of the column's hierarchy. A
suppressed record counts ``H_j``. A column whose hierarchy has no step cannot lose precision.

References
----------
L. Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.table.losses import lost_precision
from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class Prec(Measure):
    """Mean share of the hierarchy's height that is kept: from 0 to 1, higher is better.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(Prec().compute(example()), 12)  # age: 1 - 5/5; city: 1 - (2 x 1/2 + 1) / 5; their mean
    0.3
    """

    name: ClassVar[str] = "prec"
    better: ClassVar[str] = "higher"

    def compute(self, comparison: Comparison) -> float:
        """Average ``h / H`` over records, then over columns."""
        lost = []
        for j, cells in enumerate(comparison.cells):
            coded = cells.column.coded
            everything = float(lost_precision(coded, np.array(coded.height)))
            lost.append(comparison.mean_over_records(j, lost_precision(coded, cells.height), suppressed=everything))
        return 1.0 - float(np.mean(lost))
