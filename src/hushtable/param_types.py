"""The types that a parameter may be declared with: what fits them, what they are in words and in JSON Schema."""

from __future__ import annotations

import math
import numbers
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

__all__ = ["fit", "type_schema", "type_words", "value_words"]


def fit(value: Any, wanted: Any) -> tuple[bool, Any]:
    """Tell whether ``value`` is of type ``wanted``, and return it in exactly that type.

    Examples
    --------
    >>> fit(2, float), fit(True, int), fit([1, 2], tuple[int, ...])
    ((True, 2.0), (False, True), (True, (1, 2)))
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return True, value
    if origin is Literal:
        return value in args, value
    if origin in (Union, types.UnionType):
        for arg in args:
            ok, fitted = fit(value, arg)
            if ok:
                return True, fitted
        return False, value
    if origin is tuple:
        if not isinstance(value, tuple | list):
            return False, value
        fitted_items = [fit(v, args[0]) for v in value]
        return all(ok for ok, _ in fitted_items), tuple(v for _, v in fitted_items)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return False, value
        pairs = [(fit(k, args[0]), fit(v, args[1])) for k, v in value.items()]
        return all(a[0] and b[0] for a, b in pairs), {a[1]: b[1] for a, b in pairs}
    if wanted is type(None):
        return value is None, None
    return _fit_scalar(value, wanted)


def _fit_scalar(value: Any, wanted: Any) -> tuple[bool, Any]:
    # NumPy's numbers register with the abstract types; whole numbers beyond 64 bits fit no array
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool) and -(2**63) <= int(value) < 2**63
    if wanted is float:
        number = whole or (isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral))
        return (number and not math.isnan(value)), (float(value) if number else value)
    if wanted is int:
        return whole, int(value) if whole else value
    return isinstance(value, wanted), value


def type_words(wanted: Any) -> str:
    """Name a type in words.

    Examples
    --------
    >>> type_words(tuple[str, ...] | None)
    'list of str or None'
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return "value of " + ", ".join(repr(a) for a in args)
    if origin in (Union, types.UnionType):
        return " or ".join(type_words(a) for a in args)
    if origin is tuple:
        return f"list of {type_words(args[0])}"
    if origin is not None and issubclass(origin, Mapping):
        return f"mapping of {type_words(args[0])} to {type_words(args[1])}"
    if wanted is type(None):
        return "None"
    return "value" if wanted is Any else str(wanted.__name__)


def value_words(value: Any, *, of_values: bool = False) -> str:
    """Tell a wrong value, without the keys and texts of a mapping, and other values of the table.

    Examples
    --------
    >>> value_words(["x", 2]), value_words({"a cell": 7, "another": "cell"})
    ("['x', 2]", 'a mapping to 7, text')
    >>> value_words(["a cell", 2], of_values=True)
    'a list of text, a number'
    """
    if isinstance(value, Mapping):
        found = [repr(v) if isinstance(v, int | float) else _kind(v) for v in value.values()]
        return f"a mapping to {_some(found)}" if found else "an empty mapping"
    if not of_values:
        return repr(value)
    return f"a list of {_some([_kind(v) for v in value])}" if isinstance(value, list | tuple) else _kind(value)


def _some(words: list[str]) -> str:
    return ", ".join(words[:5] + ["..."] * (len(words) > 5))


def _kind(value: Any) -> str:
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else "nothing" if value is None else "something else"


_JSON_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string", type(None): "null"}


def type_schema(wanted: Any) -> dict[str, Any]:
    """Return a type's JSON Schema.

    Examples
    --------
    >>> type_schema(tuple[int, ...])
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [type_schema(a) for a in args]}
    if origin is tuple:
        return {"type": "array", "items": type_schema(args[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": type_schema(args[1])}
    return {"type": _JSON_TYPES[wanted]} if wanted in _JSON_TYPES else {}
