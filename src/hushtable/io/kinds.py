"""The kinds of Python objects in a column, in words that reveal no value."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
from collections.abc import Iterable
from typing import Any

__all__ = ["mixed_kinds"]

_KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), "text"),
    ((bool,), "true/false"),
    ((numbers.Number, decimal.Decimal), "numbers"),
    ((dt.date,), "dates"),
    ((dt.time, dt.timedelta), "times"),
    ((bytes, bytearray), "bytes"),
    ((list, tuple, dict, set), "nested values"),
)


def mixed_kinds(values: Iterable[Any]) -> str:
    """Return the kinds of values as words if there is more than one, else ``""``.

    Missing values (None, NaN and the markers of DataFrame libraries) have no kind.

    Examples
    --------
    >>> mixed_kinds([1, 2.5, None, float("nan")])
    ''
    >>> mixed_kinds([1, "a", True])
    'text, true/false and numbers'
    """
    types = {type(v) for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))}
    kinds = {_kind(t) for t in types} - {""}
    if len(kinds) < 2:
        return ""
    order = [word for _, word in _KINDS] + ["other objects"]
    words = sorted(kinds, key=order.index)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _kind(type_: type) -> str:
    if type_.__name__ in ("NAType", "NaTType"):
        return ""
    if type_.__name__ == "bool_" or (type_.__module__ == "numpy" and type_.__name__ == "bool"):
        return "true/false"
    return next((word for types, word in _KINDS if issubclass(type_, types)), "other objects")
