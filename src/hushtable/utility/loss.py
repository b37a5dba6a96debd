"""Loss as ARX optimizes it: the geometric mean of the columns' NCP, shifted by one.

Loss = product over the m columns of ``(1 + NCP_j) ^ (1 / m)``, minus 1. It is 0 without generalization and 1 if
everything is suppressed; unlike the arithmetic mean, it prefers unevenly distributed losses.

References
----------
V. Iyengar, "Transforming data to satisfy privacy constraints", 2002; F. Prasser et al., "Flexible data
anonymization using ARX", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.table.losses import of_log_ncp, to_log_ncp
from hushtable.utility.base import Comparison, Measure
from hushtable.utility.ncp import ncp_of_columns


@dataclass(frozen=True)
class Loss(Measure):
    """Geometric mean of 1 + NCP over the quasi-identifiers, minus 1: from 0 to 1.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> round(Loss().compute(example()), 12)
    0.4
    """

    name: ClassVar[str] = "loss"

    def compute(self, comparison: Comparison) -> float:
        """Average logarithms."""
        return float(of_log_ncp(to_log_ncp(ncp_of_columns(comparison)).mean()))
