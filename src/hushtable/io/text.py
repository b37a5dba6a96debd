"""The canonical text of values, used wherever a cell is shown or compared as text.

One value has one text, regardless of its stored type:

* whole numbers are plain digits, also when stored as floats (``22.0`` is ``22``) below 2**53 in size; ``-0.0`` is
  ``0``;
* other floats are the shortest decimal that reads back as the same number, as Python writes it (``0.1``, ``1e-05``,
  ``1e+20``); a float32 is the shortest decimal of its own precision;
* decimals have no exponent and no trailing zeros; dates are ISO (``1999-12-31``), timestamps ISO with a space and
  without trailing zeros;
* Booleans are ``true`` and ``false``; text is unchanged; null and NaN have no text (null).

``hushtable.schema.prepare`` reads every one of these texts back as the same value.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, HierarchyError

MOST_REPEATED = 100_000
"""Maximum number of values that the aliases of a YAML text may repeat in total."""

EXACT = 2**53
"""Below this size, every whole number is a distinct float."""


def to_labels(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the canonical text of every value.

    Parameters
    ----------
    array : pyarrow.Array or pyarrow.ChunkedArray
        Numbers, decimals, dates, timestamps, Booleans or text. For a dictionary array, only the dictionary is
        converted, and the result is a dictionary array again.

    Returns
    -------
    pyarrow.Array or pyarrow.ChunkedArray
        Strings, chunked if the input was.

    Raises
    ------
    DataError
        If the type has no canonical text (nested values, bytes, durations).

    Examples
    --------
    >>> to_labels(pa.array([22.0, 0.5, None])).to_pylist()
    ['22', '0.5', None]
    >>> to_labels(pa.array([True, False])).to_pylist()
    ['true', 'false']
    """
    if isinstance(array, pa.ChunkedArray):
        chunks = [to_labels(chunk) for chunk in array.chunks]
        first = chunks[0] if chunks else to_labels(pa.array([], type=array.type))
        return pa.chunked_array(chunks, type=first.type)
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, to_labels(array.dictionary))
    return _plain_labels(array)


def _plain_labels(array: pa.Array) -> pa.Array:
    kind = array.type
    if kind == pa.string():
        return array
    if pa.types.is_floating(kind):
        return _float_labels(array)
    if pa.types.is_decimal(kind):
        text = pc.replace_substring_regex(_decimal_digits(array), r"(\.\d*?)0+$", r"\1")
        return pc.replace_substring_regex(text, r"\.$", "")
    if pa.types.is_timestamp(kind):
        text = pc.replace_substring_regex(pc.cast(array, pa.string()), r"\.0+($|Z|[+-])", r"\1")
        return pc.replace_substring_regex(text, r"(\.\d*[1-9])0+($|Z|[+-])", r"\1\2")
    if (
        is_text(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
        or pa.types.is_null(kind)
    ):
        day = pc.cast(array, pa.date32()) if pa.types.is_date(kind) else array
        return pc.cast(day, pa.string())
    raise DataError(
        f"Values of type {type_words(kind)} have no text form.",
        code="unsupported-type",
        hint="Convert the column to numbers, dates or text first.",
    )


def _decimal_digits(array: pa.Array) -> pa.Array:
    text = pc.cast(array, pa.string())
    odd = pc.fill_null(pc.match_substring(text, "E"), False)
    if not pc.any(odd).as_py():
        return text
    # Arrow writes very small ones, including zero, with an exponent
    return pc.replace_with_mask(text, odd, pa.array([f"{v:f}" for v in array.filter(odd).to_pylist()], pa.string()))


def _float_labels(array: pa.Array) -> pa.Array:
    if array.type != pa.float64():
        narrow = pc.cast(array, pa.float32())
        array = pc.cast(pc.cast(narrow, pa.string()), pa.float64())
    values = array.to_numpy(zero_copy_only=False)
    values = np.where(np.isnan(values), 0.0, values)
    size = np.abs(values)
    whole = (values == np.floor(values)) & (size < EXACT)
    digits = pc.cast(pa.array(np.where(whole, values, 0).astype(np.int64)), pa.string())
    text = pc.if_else(pa.array(whole), digits, pc.cast(array, pa.string()))
    # Arrow prints all others as Python does, except for some exponents, in a tenth of the time
    odd = ~whole & ((size < 1e-4) | ((size >= 1e10) & (size < EXACT)))
    if odd.any():
        text = pc.replace_with_mask(text, pa.array(odd), pa.array(map(number_text, values[odd].tolist()), pa.string()))
    return pc.if_else(pc.is_null(array, nan_is_null=True), pa.scalar(None, pa.string()), text)


def number_text(number: int | float) -> str:
    """Return the shortest text that reads back as the same number; whole numbers have no ``.0``, and 0 has no sign.

    Examples
    --------
    >>> number_text(20.0), number_text(0.1), number_text(2**60), number_text(1e-7)
    ('20', '0.1', '1152921504606846976', '1e-07')
    """
    if isinstance(number, int):
        return str(number)
    text = repr(float(number) + 0.0).removesuffix(".0")
    if not EXACT <= abs(number) < 1e16:
        return text
    # digits alone would look like an exact whole number, but others may have been rounded to it
    sign, digits = "-" * (number < 0), text.lstrip("-").rstrip("0")
    return f"{sign}{digits[0]}.{digits[1:]}e+15"


def is_text(type_: pa.DataType) -> bool:
    """Whether a type is a text type.

    Examples
    --------
    >>> is_text(pa.large_string()), is_text(pa.int8())
    (True, False)
    """
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


_WORDS: tuple[tuple[Any, str], ...] = (
    (pa.types.is_nested, "list or struct"),
    (pa.types.is_time, "time of day"),
    (pa.types.is_duration, "duration"),
    (pa.types.is_interval, "calendar interval"),
    (pa.types.is_boolean, "true/false"),
    (pa.types.is_integer, "whole number"),
    (pa.types.is_floating, "number"),
    (pa.types.is_decimal, "decimal number"),
    (pa.types.is_temporal, "date"),
    (is_text, "text"),
    (pa.types.is_null, "null"),
)


def type_words(type_: pa.DataType) -> str:
    """Name a type in words for an error message.

    Examples
    --------
    >>> type_words(pa.list_(pa.int8())), type_words(pa.binary()), type_words(pa.time32("s"))
    ('list or struct', 'bytes', 'time of day')
    """
    if pa.types.is_dictionary(type_):
        return type_words(type_.value_type)
    if isinstance(type_, pa.BaseExtensionType):
        return str(type_.extension_name.removeprefix("arrow."))
    for test, words in _WORDS:
        if test(type_):
            return words
    binary = pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or pa.types.is_fixed_size_binary(type_)
    return "bytes" if binary else str(type_)


def label_text(scalar: Any) -> str:
    """Return a scalar written in a policy or a YAML tree as the text of a value.

    Raises
    ------
    HierarchyError
        For Booleans and nulls: YAML reads an unquoted ``No`` or ``null`` as these, and a wrong guess would leave the
        value uncovered.

    Examples
    --------
    >>> label_text(20), label_text("Norway"), label_text(datetime.date(1899, 1, 2))
    ('20', 'Norway', '1899-01-02')
    """
    if isinstance(scalar, str):
        return scalar
    if isinstance(scalar, int | float) and not isinstance(scalar, bool):
        return number_text(scalar)
    if isinstance(scalar, datetime.date):
        return scalar.isoformat()
    word = "null" if scalar is None else type(scalar).__name__
    raise HierarchyError(
        f"A label is a {word}, not text, a number or a date.",
        code="bad-label",
        hint='Put labels such as "No", "yes" or "null" in quotes: YAML gives them a different meaning.',
    )


def repeated_nodes(root: Any) -> int:
    """Return how many values aliases repeat in a composed YAML text; counts to one above the limit.

    Each node is visited once, so a short text that would expand to billions of values costs nothing.

    Examples
    --------
    >>> import yaml
    >>> repeated_nodes(yaml.compose("{a: &x [1, 2], b: *x, c: *x}"))
    6
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        if id(node) in sizes:
            continue
        inside = _inside(node)
        if done:
            sizes[id(node)] = 1 + sum(sizes[id(one)] for one in inside)
            open_nodes.discard(id(node))
            continue
        if any(id(one) in open_nodes for one in (node, *inside)):
            return MOST_REPEATED + 1  # it contains itself
        open_nodes.add(id(node))
        stack.append((node, True))
        stack += [(one, False) for one in inside]
    return min(sizes[id(root)] - len(sizes), MOST_REPEATED + 1)


def _inside(node: Any) -> list[Any]:
    if isinstance(node.value, str):
        return []
    return [part for one in node.value for part in (one if isinstance(one, tuple) else (one,))]
