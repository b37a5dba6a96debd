"""Dates: day, month, quarter, year, decade, century, ``*``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

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
    """Longer and longer periods of the calendar; days are the leaves.

    Parameters
    ----------
    levels : tuple of str
        The periods, the shortest first. ``day`` is the leaf itself and may be omitted. A century contains the years
        with the same first two digits: 1900-1999.

    Examples
    --------
    >>> import datetime
    >>> days = pa.array([datetime.date(2024, 3, 1), datetime.date(1899, 12, 31)])
    >>> coded = Dates().code(days, Kind.DATE, missing=False, column="admitted", counts=np.array([1, 1]))
    >>> [labels[-1] for labels in coded.labels]
    ['2024-03-01', '2024-03', '2024-Q1', '2024', '2020s', '*']
    """

    levels: Annotated[tuple[_Unit, ...], "periods, the shortest first"] = ("month", "quarter", "year", "decade")

    of_policy = True  # the levels are defined by the policy
    name: ClassVar[str] = "dates"
    in_a_policy: ClassVar[str] = "{dates: [month, quarter, year]}"
    shorthand: ClassVar[str] = "levels"

    def __post_init__(self) -> None:
        super().__post_init__()
        lengths = [_MONTHS.get(unit, 0) for unit in self.levels]
        if not lengths or any(a >= b for a, b in pairwise(lengths)):
            raise ParameterError(
                f"The 'levels' of Dates must be periods, the shortest first. Got {list(self.levels)} instead.",
                hint="In order: day, month, quarter, year, decade, century.",
            )

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the first and the last day of each period.

        Examples
        --------
        >>> Dates().below(["2024-Q1"], "admitted")[0][0][:3]
        ('2024-01-01', '2024-03-31', True)
        """
        return [_days(label) for label in labels]

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


_WRITTEN = {
    "month": re.compile(r"(\d{4})-(0[1-9]|1[0-2])"),
    "quarter": re.compile(r"(\d{4})-Q([1-4])"),
    "year": re.compile(r"(\d{4})()"),
    "decade": re.compile(r"(\d{3}0)s()"),
    "century": re.compile(r"(\d{2}00)-()\d{2}99"),
}


def _days(label: str) -> Below | None:
    from hushtable.hierarchy.spans import Span

    period = _months(label)
    if period is None:
        return None
    first, last = (np.datetime64(f"{m // 12:04d}-{m % 12 + 1:02d}", "M") for m in (period[0], period[1] - 1))
    end = (last + 1).astype("datetime64[D]") - np.timedelta64(1, "D")
    return (Span(str(first.astype("datetime64[D]")), str(end), closed=True, text=label),)


def _months(label: str) -> tuple[int, int] | None:
    """Return the months of a period, counted from the year 0: its first, and the one after its last."""
    for unit, pattern in _WRITTEN.items():
        found = pattern.fullmatch(label)
        if found is not None:
            within = (int(found[2]) - 1) * _MONTHS[unit] if found[2] else 0
            first = max(int(found[1]) * 12 + within, 12)  # there is no year 0
            return first, int(found[1]) * 12 + within + _MONTHS[unit]
    return None
