"""Distortion ratio: how far values were generalized in their hierarchies, over all columns.

Distortion ratio = sum over records i and columns j of ``h_ij`` / (N x sum over columns of ``H_j``), where ``h_ij``
is the height of the published node (for intervals and sets: of the lowest node that covers them) and ``H_j`` the
height of the column's hierarchy. A suppressed record counts its full heights. Columns with tall hierarchies weigh
more, so this is *not* 1 - Prec, which averages ``h / H`` column by column.

References
----------
Sun et al. 2011, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class DistortionRatio(Measure):
    """Distortion of the release, relative to that of the fully generalized table: from 0 to 1.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> DistortionRatio().compute(example())  # (2 x (1 + 1) + 2 x (1 + 0) + (1 + 2)) / (5 x 3)
    0.6
    """

    name: ClassVar[str] = "distortion"

    def compute(self, comparison: Comparison) -> float:
        """Add heights as integers, divide once."""
        full = sum(cells.column.coded.height for cells in comparison.cells)
        if not full:
            return 0.0
        lifted = sum(int((cells.height * comparison.cell_records(j)).sum()) for j, cells in enumerate(comparison.cells))
        return (lifted + comparison.n_suppressed * full) / (comparison.n * full)
