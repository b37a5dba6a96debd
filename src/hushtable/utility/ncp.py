"""NCP: normalized certainty penalty, the share of its domain that a cell covers.

NCP of a column = mean over records of (leaves that the cell covers - 1) / (D - 1), where D is the number of leaves
of the column's domain, whether they occur or not. A suppressed record counts 1; a released cell of a domain with
one leaf 0. The measure is the mean over columns, or with ``weighted`` the mean weighted by the columns' weights.

References
----------
J. Xu et al., "Utility-based anonymization using local recoding", 2006; ARX's "loss" has the same terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.table.losses import ncp
from hushtable.utility.base import Comparison, Measure


def ncp_of_columns(comparison: Comparison) -> FloatArray:
    """Return the NCP of every quasi-identifier.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> ncp_of_columns(example()).tolist()  # age: (4 x 1/4 + 1) / 5; city: (2 x 1/2 + 1) / 5
    [0.4, 0.4]
    """
    return np.array(
        [
            comparison.mean_over_records(j, ncp(cells.column.coded, cells.leaves), suppressed=1.0)
            for j, cells in enumerate(comparison.cells)
        ]
    )


@dataclass(frozen=True)
class Ncp(Measure):
    """Mean NCP of the quasi-identifiers: from 0 to 1.

    Parameters
    ----------
    weighted : bool
        Whether columns count by their weight in the policy. Not defined if all weights are 0.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> Ncp().compute(example())
    0.4
    """

    weighted: Annotated[bool, "whether columns count by their weight"] = False

    name: ClassVar[str] = "ncp"

    def compute(self, comparison: Comparison) -> float:
        """Average the columns' NCP."""
        columns = ncp_of_columns(comparison)
        if not self.weighted:
            return float(columns.mean())
        weights = comparison.weights
        return float((columns * weights).sum() / weights.sum()) if weights.sum() > 0 else float("nan")
