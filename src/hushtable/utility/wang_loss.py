"""Information loss by Wang's equation 9, whose denominator is D, not D - 1.

Loss of a cell = (leaves that it covers - 1) / D, where D is the number of leaves of the column's domain. A
suppressed record covers everything: (D - 1) / D. The measure is the mean over records and columns, or with
``total`` the sum.

References
----------
Wang et al., "(alp, dif)-anonymity", 2011, equation 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.table.losses import wang_loss
from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class WangLoss(Measure):
    """Mean of (leaves - 1) / D over all cells: at least 0, below 1.

    Parameters
    ----------
    total : bool
        Whether to return the sum over all cells instead of the mean.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(WangLoss().compute(example()), 6)  # age: (4 x 1/5 + 4/5) / 5; city: (2 x 1/3 + 2/3) / 5; their mean
    0.293333
    >>> round(WangLoss(total=True).compute(example()), 6)
    2.933333
    """

    total: Annotated[bool, "sum over all cells instead of their mean"] = False

    name: ClassVar[str] = "wang-loss"

    def compute(self, comparison: Comparison) -> float:
        """Add a cell that covers everything for the suppressed records."""
        loss = 0.0
        for j, cells in enumerate(comparison.cells):
            coded = cells.column.coded
            leaves = np.append(cells.leaves, coded.size)
            loss += wang_loss(coded, leaves, np.append(comparison.cell_records(j), comparison.n_suppressed))
        return loss if self.total else loss / (comparison.n * len(comparison.cells))
