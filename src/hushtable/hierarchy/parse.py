"""Labels of a hierarchy read as values of the column's type."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import HierarchyError

__all__ = ["parse_leaves"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def parse_leaves(labels: pa.Array, wanted: pa.DataType, column: str, places: Sequence[str]) -> pa.Array:
    """Return the labels in the column's type; spaces around numbers and dates do not matter.

    Raises
    ------
    HierarchyError
        If labels are not of that type, with how many and where the first is.

    Examples
    --------
    >>> parse_leaves(pa.array([" 7", "12.0"]), pa.int64(), "age", ["line 1", "line 2"]).to_pylist()
    [7, 12]
    """
    reader: Callable[[str], Any]
    if pa.types.is_integer(wanted):
        reader, word = _whole, "whole numbers"
    elif pa.types.is_floating(wanted):
        reader, word = _number, "numbers"
    elif pa.types.is_date(wanted):
        reader, word = _date, "dates like 2024-03-31"
    else:
        # a column without any value has Arrow's null type
        return pc.cast(labels, pa.string() if pa.types.is_null(wanted) else wanted)
    return _typed(labels, wanted, reader, word, column, places)


def _typed(
    labels: pa.Array,
    wanted: pa.DataType,
    reader: Callable[[str], Any],
    word: str,
    column: str,
    places: Sequence[str],
) -> pa.Array:
    parsed = [reader(text.strip()) for text in labels.to_pylist()]
    bad = [place for place, value in zip(places, parsed, strict=True) if value is None]
    if bad:
        raise HierarchyError(
            f"{len(bad)} values in the hierarchy of column {column!r} are not {word} (the first in {bad[0]}).",
            code="bad-leaf",
            hint="Correct or remove these rows; missing values need none, they are a leaf of their own.",
        )
    return pa.array(parsed, wanted)


def _whole(text: str) -> int | None:
    if not _NUMBER.fullmatch(text):
        return None
    # a Decimal is exact where a float is not, and accepts 12.0
    number = Decimal(text)
    # bounded before it becomes an integer: 1e999999 would take all memory
    if number.adjusted() > 18 or number != number.to_integral_value():
        return None
    return int(number) if -(2**63) <= number < 2**63 else None


def _number(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None
