"""Treatment change: how far treated values are from the original ones, averaged over the treated columns.

For a column of numbers or dates: the mean distance between the published record's treated and original value, relative
to the original range. For another column: the share of records with a different value. 0 if nothing was changed; not
defined if the policy treats no column. Other measures compare the release with the treated table: together, they show
the cost of treatment and generalization.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from hushtable.utility.base import Comparison, Measure


@dataclass(frozen=True)
class TreatmentChange(Measure):
    """Mean distance between treated and original values, relative to the column's range.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "pay": [0, 20, 40, 96]})
    >>> policy = ht.Policy(quasi=["sex"], insensitive={"pay": {"treatment": {"rounding": {"base": 100}}}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> round(float(ht.anonymize(table, policy).measure("treatment-change")), 4)
    0.1667
    """

    name: ClassVar[str] = "treatment-change"
    default: ClassVar[bool] = False

    def compute(self, comparison: Comparison) -> float:
        """Return the mean over the treated columns; NaN if there are none."""
        rows = comparison.rows
        found = rows.changes() if rows.changes is not None else {}
        return math.fsum(found.values()) / len(found) if found else math.nan

    def about(self, comparison: Comparison) -> str:
        """The treated columns."""
        found = comparison.rows.changes() if comparison.rows.changes is not None else {}
        return ", ".join(f"{name}: {value:.3g}" for name, value in found.items())
