"""The distribution of each column's values in a few small bars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import FloatArray
from hushtable.errors import HushtableError
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import Prepared, prepare
from hushtable.schema.profile import Profile, suggest_missing

__all__ = ["numbers_of_values", "sparks_of"]

_BARS = 16


def sparks_of(table: pa.Table, found: Profile) -> list[list[float]]:
    """Return the heights of each column's bars, from 0 to 1: numbers and dates in order, labels by frequency.

    Examples
    --------
    >>> from hushtable.schema.profile import profile
    >>> people = pa.table({"sex": ["m", "f", "f", "f"], "age": ["20", "21", "21", "35"]})
    >>> sparks_of(people, profile(people))[0]
    [1.0, 0.333]
    """
    tokens = tuple(suggest_missing(found))
    return [_bars(table.column(c.name), c.name, c.kind, tokens) if c.kind else [] for c in found.columns]


def _bars(column: pa.ChunkedArray, name: str, kind: Kind | None, tokens: tuple[str, ...]) -> list[float]:
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    counted: Any = pc.value_counts(column.combine_chunks())
    values, counts = counted.field("values"), np.asarray(counted.field("counts"))
    try:
        ready = prepare(pa.chunked_array([values]), name=name, kind=kind, missing_values=tokens)
    except HushtableError:
        return []
    codes = np.asarray(ready.codes())
    known = codes >= 0
    weights = counts[known].astype(np.float64)
    held = np.asarray(np.bincount(codes[known], weights, minlength=len(ready.values)), dtype=np.float64)
    numbers = numbers_of_values(ready)
    heights = _ranked(held) if numbers is None else _spread(numbers, held)
    most = float(heights.max()) if len(heights) else 0.0
    return [round(float(h) / most, 3) for h in heights] if most > 0 else []


def numbers_of_values(ready: Prepared) -> FloatArray | None:
    """Return a column's distinct values as numbers, dates as days, or None if they are labels."""
    if ready.kind is Kind.NUMERIC:
        return np.asarray(ready.values.to_numpy(zero_copy_only=False), dtype=np.float64)
    if ready.kind is Kind.DATE:
        return np.asarray(ready.values.cast(pa.int32()).to_numpy(zero_copy_only=False), dtype=np.float64)
    return None


def _ranked(held: FloatArray) -> FloatArray:
    return np.sort(held)[::-1][:_BARS]


def _spread(numbers: FloatArray, held: FloatArray) -> FloatArray:
    finite = np.isfinite(numbers)
    if not finite.any():
        return np.empty(0)
    low, high = float(numbers[finite].min()), float(numbers[finite].max())
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(high - low) or high <= low:
            return _ranked(held)
    return np.histogram(numbers[finite], bins=_BARS, range=(low, high), weights=held[finite])[0]
