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

from hushtable.utility.base import Comparison, Measure

__all__ = ["WangLoss"]


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
        """Count leaves as integers, divide once per column."""
        loss = 0.0
        for j, cells in enumerate(comparison.cells):
            size = cells.column.coded.size
            lost = int(((cells.leaves - 1) * comparison.cell_records(j)).sum()) + comparison.n_suppressed * (size - 1)
            loss += lost / size
        return loss if self.total else loss / (comparison.n * len(comparison.cells))
