"""Treatment change: how far treated values are from the original ones, averaged over the treated columns.

Of a number or date column: the mean distance between the published record's treated and original value, in parts of
the original range. Of another column: the share of records with another value. 0 where nothing was changed; not defined
where the policy treats no column. Other measures compare the release with the treated table: together they say what
treatment and generalisation cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from hushtable.utility.base import Comparison, Measure

__all__ = ["TreatmentChange"]


@dataclass(frozen=True)
class TreatmentChange(Measure):
    """Mean distance between treated and original values, in parts of the column's range.

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
        """The mean over the treated columns; NaN where there is none."""
        rows = comparison.rows
        found = rows.changes() if rows.changes is not None else {}
        return math.fsum(found.values()) / len(found) if found else math.nan

    def about(self, comparison: Comparison) -> str:
        """Which columns it is about."""
        found = comparison.rows.changes() if comparison.rows.changes is not None else {}
        return ", ".join(f"{name}: {value:.3g}" for name, value in found.items())
