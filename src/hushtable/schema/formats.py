"""Dates and numbers in ambiguous text: the formats that would read all of them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.io.dictionaries import encode, value_type
from hushtable.io.text import is_text
from hushtable.schema.columns import Format
from hushtable.schema.parse import THOUSANDS, iso_dates, plain_numbers, readable_dates, standard

MIXED_DATES = "dates that no single format reads, so they count as labels: rewrite them, for example as 1999-12-31"
"""The remark about a column of ``mixed_dates``."""

_NUMERIC_DATE = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b"
_DATE_LIKE = r"^(\d{4}[/.-]\d{1,2}[/.-]\d{1,2}|\d{1,2}(/|\. ?|-)\d{1,2}(/|\. ?|-)(\d{4}|\d{2}))([T ]\d{1,2}:.*)?$"
_COMPACT_DATE = r"^(18|19|20)\d{6}$"
_MOST = 0.9
_SURELY = r",\d{3},|,\d{3}\."


def fitting_formats(values: pa.Array) -> tuple[Format, ...]:
    """Return the formats that read every distinct text of a column; several if the values are ambiguous.

    Parameters
    ----------
    values : pyarrow.Array
        Distinct texts, null if missing.

    Examples
    --------
    >>> fitting_formats(pa.array(["04/22/1906", "01/02/1910"]))
    (<Format.MONTH_FIRST: 'month-first'>,)
    >>> [str(f) for f in fitting_formats(pa.array(["04/02/1906", "01/02/1910"]))]
    ['day-first', 'month-first']
    >>> [str(f) for f in fitting_formats(pa.array(["1,234.56", "12"]))]
    ['thousands']
    >>> [str(f) for f in fitting_formats(pa.array([19991231, 20000101]))], fitting_formats(pa.array([19991232]))
    (['compact'], ())
    """
    text = pc.utf8_trim_whitespace(pc.cast(values, pa.string())).drop_null()
    if not len(text):
        return ()
    if pc.any(pc.match_substring_regex(text, _NUMERIC_DATE)).as_py():
        dates = (Format.DAY_FIRST, Format.MONTH_FIRST)
        return tuple(f for f in dates if readable_dates(standard(text, f)).all())
    if pc.all(pc.match_substring_regex(text, _COMPACT_DATE)).as_py():
        return (Format.COMPACT,) if iso_dates(standard(text, Format.COMPACT)).all() else ()
    numbers = pc.all(pc.or_(plain_numbers(text), pc.match_substring_regex(text, THOUSANDS))).as_py()
    # 1,234 alone may have a decimal comma
    return (Format.THOUSANDS,) if numbers and pc.any(pc.match_substring_regex(text, _SURELY)).as_py() else ()


def mixed_dates(values: pa.Array) -> bool:
    """Whether most distinct texts of a column that no format reads look like dates.

    Examples
    --------
    >>> mixed_dates(pa.array(["1999-12-31", "12/31/1999", "31.12.99 08:30"]))
    True
    >>> mixed_dates(pa.array(["1887.05.12 - 1893.10.30", "1-2"]))
    False
    """
    text = pc.utf8_trim_whitespace(pc.cast(values, pa.string())).drop_null()
    alike = pc.sum(pc.match_substring_regex(text, _DATE_LIKE)).as_py() or 0
    return bool(len(text)) and alike >= _MOST * len(text)


def has_times(column: pa.ChunkedArray) -> bool:
    """Whether a column of dates contains times of day other than midnight.

    Examples
    --------
    >>> has_times(pa.chunked_array([["1999-12-31 08:30", None]])), has_times(pa.chunked_array([["1999-12-31"]]))
    (True, False)
    """
    kind = value_type(column.type)
    if not (is_text(kind) or pa.types.is_timestamp(kind)):
        return False
    text = pc.cast(encode(column).dictionary, pa.string())
    timed = pc.match_substring_regex(text, r"^\d[\d/.-]*\d[T ]\d{2}:\d{2}")
    midnight = pc.match_substring_regex(text, r"[T ]00:00(:00([.,]0+)?)?\b")
    return bool(pc.any(pc.and_(timed, pc.invert(midnight))).as_py())


def format_question(formats: tuple[Format, ...]) -> str:
    """Return the remark or question about a column that fits these formats.

    Examples
    --------
    >>> format_question((Format.MONTH_FIRST,))
    'dates such as 12/31/1999, month first'
    """
    if len(formats) > 1:
        return "dates in which day and month are ambiguous: set format: day-first or format: month-first"
    return {
        Format.DAY_FIRST: "dates such as 31/12/1999, day first",
        Format.MONTH_FIRST: "dates such as 12/31/1999, month first",
        Format.COMPACT: "dates such as 19991231",
        Format.THOUSANDS: "numbers such as 1,234.56",
    }[formats[0]]
