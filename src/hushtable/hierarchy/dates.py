"""Dates: day, month, quarter, year, decade, century, ``*``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.schema.columns import Kind

__all__ = ["Dates"]

_Unit = Literal["day", "month", "quarter", "year", "decade", "century"]
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_LABELS: dict[str, Callable[[int], str]] = {
    "month": lambda n: f"{n // 12:04d}-{n % 12 + 1:02d}",
    "quarter": lambda n: f"{n // 4:04d}-Q{n % 4 + 1}",
    "year": lambda n: f"{n:04d}",
    "decade": lambda n: f"{10 * n:04d}s",
    # not "1900s", which is a decade
    "century": lambda n: f"{100 * n:04d}-{100 * n + 99:04d}",
}


@dataclass(frozen=True)
class Dates(Recipe):
    """Ever longer periods of the calendar; days are the leaves.

    Parameters
    ----------
    levels : tuple of str
        The periods, the shortest first. ``day`` is the leaf itself and may be left out. A century counts the years
        with equal first digits: 1900-1999.

    Examples
    --------
    >>> import datetime
    >>> days = pa.array([datetime.date(2024, 3, 1), datetime.date(1899, 12, 31)])
    >>> coded = Dates().code(days, Kind.DATE, missing=False, column="admitted", counts=np.array([1, 1]))
    >>> [labels[-1] for labels in coded.labels]
    ['2024-03-01', '2024-03', '2024-Q1', '2024', '2020s', '*']
    """

    levels: Annotated[tuple[_Unit, ...], "periods, the shortest first"] = ("month", "quarter", "year", "decade")

    name: ClassVar[str] = "dates"
    shorthand: ClassVar[str] = "levels"

    def __post_init__(self) -> None:
        super().__post_init__()
        lengths = [_MONTHS.get(unit, 0) for unit in self.levels]
        if not lengths or any(a >= b for a, b in pairwise(lengths)):
            raise ParameterError(
                f"The 'levels' of Dates must be periods, the shortest first. Got {list(self.levels)} instead.",
                hint="In order: day, month, quarter, year, decade, century.",
            )

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Cut the days into periods."""
        if not pa.types.is_date32(values.type) and len(values):
            raise HierarchyError(
                f"Column {column!r} has a hierarchy of dates but its values are not dates.",
                code="not-dates",
                hint="Declare 'kind: date' for the column, or use another hierarchy.",
            )
        leaves, _ = sorted_leaves(values, kind, counts, column)
        days = leaves.to_numpy(zero_copy_only=False).astype("datetime64[D]")
        # months since the year 0; floor division keeps dates before 1970 and before the year 0 right
        months = days.astype("datetime64[M]").astype(np.int64) + 1970 * 12
        return Draft.over(leaves, [_period(months, unit) for unit in self.levels if unit != "day"])


def _period(months: IntArray, unit: str) -> Level:
    periods, nodes = np.unique(months // _MONTHS[unit], return_inverse=True)
    return Level.of(nodes.astype(np.int64), [_LABELS[unit](p) for p in periods.tolist()])
