"""Discernibility: every record costs the number of records that it cannot be distinguished from.

DM = sum over the classes of ``|G|^2``, plus ``N`` (the records of the original) for each suppressed record.

References
----------
R. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.table.losses import discernibility, squared_sizes
from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class Discernibility(Measure):
    """Sum of squared class sizes, plus N for each suppressed record: an exact integer of any size.

    Parameters
    ----------
    suppressed : bool
        Whether suppressed records count. Without them, it is the plain sum of squares.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> Discernibility().compute(example())  # 2^2 + 2^2 + 1 x 5
    13
    >>> Discernibility(suppressed=False).compute(example())
    8
    """

    suppressed: Annotated[bool, "whether each suppressed record adds the number of records"] = True

    name: ClassVar[str] = "discernibility"

    def compute(self, comparison: Comparison) -> float:
        """Add the squares of sizes as integers."""
        squares = squared_sizes(comparison.sizes, np.ones_like(comparison.sizes))
        return discernibility(squares, comparison.n_suppressed if self.suppressed else 0, comparison.n)
