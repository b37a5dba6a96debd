"""Reading distinct texts as numbers, and describing those that are not.

A plain number is digits with at most one decimal point and an exponent; a sign and surrounding blanks are allowed. A
decimal comma is read if it is unambiguous: ``172,5`` and ``17.736,93``, but not ``1,234``; and not in a column
that also has decimal points, where ``17.736`` could be either. Other thousands separators, percent signs and currency
signs are not read: their meaning differs by country.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError
from hushtable.io.formulas import PLAIN_NUMBER
from hushtable.io.inferred import mixed_sizes
from hushtable.io.text import EXACT

INFINITY = r"(?i)^[+-]?inf(inity)?$"
LEADING_ZERO = r"^[+-]?0\d"
THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
_GROUPS = r"[.' \x{00a0}\x{202f}]"
_COMMA = rf"^[+-]?(\d{{1,3}}({_GROUPS}\d{{3}})+,\d+|0,\d+|\d+,(\d{{1,2}}|\d{{4,}}))$"


def plain_numbers(text: pa.Array) -> pa.Array:
    """Return which (trimmed) texts are plain numbers.

    Examples
    --------
    >>> plain_numbers(pa.array(["-1.5e3", "1,000", "5%", ".5"])).to_pylist()
    [True, False, False, True]
    """
    return pc.match_substring_regex(text, PLAIN_NUMBER)


def comma_numbers(text: pa.Array) -> pa.Array:
    """Return which (trimmed) texts are numbers with a comma that cannot be a thousands separator.

    Examples
    --------
    >>> comma_numbers(pa.array(["172,5", "17.736,93", "0,125", "1,234", "1.5"])).to_pylist()
    [True, True, True, False, False]
    """
    return pc.match_substring_regex(text, _COMMA)


def without_thousands(text: pa.Array) -> pa.Array:
    """Remove the commas between thousands from (trimmed) numbers; other texts stay unchanged.

    Examples
    --------
    >>> without_thousands(pa.array(["1,234.56", "12,34"])).to_pylist()
    ['1234.56', '12,34']
    """
    return pc.if_else(pc.match_substring_regex(text, THOUSANDS), pc.replace_substring(text, ",", ""), text)


def parse_numbers(text: pa.Array, name: str) -> pa.Array:
    """Read plain numbers and those with a decimal comma: int64 if all are whole, otherwise float64; null stays null.

    Whole numbers stay exact up to 64 bits. A mix of fractions and whole numbers beyond 2**53, which floats cannot
    distinguish, is an error.

    Examples
    --------
    >>> parse_numbers(pa.array(["007", "+2", "9007199254740993"]), "n").to_pylist()
    [7, 2, 9007199254740993]
    >>> parse_numbers(pa.array(["1", "2.50"]), "n").to_pylist()
    [1.0, 2.5]
    >>> parse_numbers(pa.array(["1", "17.736,93"]), "n").to_pylist()
    [1.0, 17736.93]
    """
    text = _with_point(text, name)
    unsigned = pc.replace_substring_regex(text, r"^\+", "")
    digits = pc.match_substring_regex(unsigned, r"^-?\d+$")
    integers = pc.if_else(digits, unsigned, pa.scalar(None, pa.string()))
    exact = _to_int64(integers, name)
    if pc.all(digits).as_py() is not False:
        return exact
    values = pc.cast(unsigned, pa.float64())
    check_finite(values, name)
    if pc.any(pc.greater_equal(pc.abs(pc.cast(values.filter(digits), pa.float64())), float(EXACT))).as_py():
        raise mixed_sizes(name)
    return whole(values)


def _with_point(text: pa.Array, name: str) -> pa.Array:
    comma = pc.fill_null(comma_numbers(text), False)
    if not pc.any(comma).as_py():
        return text
    if pc.any(pc.match_substring(text.filter(pc.invert(comma)), ".")).as_py():
        raise DataError(
            f"Column {name!r} has numbers with decimal commas and others with points that may separate thousands.",
            code="not-numeric",
            hint="Write all of them with a decimal point and without thousands separators, or set kind: nominal.",
        )
    pointed = pc.replace_substring(pc.replace_substring_regex(text, _GROUPS, ""), ",", ".")
    return pc.if_else(comma, pointed, text)


def _to_int64(digits: pa.Array, name: str) -> pa.Array:
    try:
        return pc.cast(digits, pa.int64())
    except pa.ArrowInvalid:
        pass
    raise too_large(name)


def too_large(name: str) -> DataError:
    """The error for whole numbers beyond 64 bits."""
    return DataError(
        f"Column {name!r} has whole numbers beyond 64 bits.",
        code="number-too-large",
        hint="Set kind: nominal if they are codes rather than quantities.",
    )


def check_finite(values: pa.Array, name: str) -> None:
    """Raise if a number is infinite.

    Examples
    --------
    >>> check_finite(pa.array([1.0, float("inf")]), "income")
    Traceback (most recent call last):
    hushtable.errors.DataError: Column 'income' has infinite numbers (1 distinct). Replace them with ...
    """
    infinite = pc.sum(pc.is_inf(values)).as_py() or 0
    if infinite:
        raise DataError(
            f"Column {name!r} has infinite numbers ({infinite} distinct).",
            code="infinite",
            hint="Replace them with numbers, or leave the cells empty.",
        )


def whole(values: pa.Array) -> pa.Array:
    """Return finite floats as int64 if all of them are whole and below 2**53, otherwise as float64 without ``-0.0``.

    The type then depends only on the values: a file, a pandas column with missing values and a polars column agree.

    Examples
    --------
    >>> whole(pa.array([1.0, None, -0.0])).to_pylist(), whole(pa.array([1.0, 0.5])).to_pylist()
    ([1, None, 0], [1.0, 0.5])
    """
    missing = pc.is_null(values).to_numpy(zero_copy_only=False)
    numbers: npt.NDArray[np.float64] = np.where(missing, 0.0, values.to_numpy(zero_copy_only=False)) + 0.0
    if np.all((numbers == np.floor(numbers)) & (np.abs(numbers) < EXACT)):
        return pa.array(numbers.astype(np.int64), mask=missing)
    return pa.array(numbers, mask=missing)
