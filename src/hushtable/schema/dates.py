"""Reading distinct texts as calendar dates.

Unambiguous notations are read: ISO 8601 (``1999-12-31``), the year first with other separators (``1999/12/31``), and
day, month and year with periods (``31.12.1999``: with periods, the day comes first); each with or without a time of
day and a zone. The result is the calendar date as written, in the value's own zone; the time of day is dropped.
``31/12/1999`` is refused, because ``01/02/1999`` could be two dates.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray

_TIME = r"([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?$"
_ISO = rf"^\d{{4}}-\d{{2}}-\d{{2}}{_TIME}"
_OTHERS = ((r"^(\d{1,2})\.(\d{1,2})\.(\d{4})", r"\3-0\2-0\1"), (r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})", r"\1-0\2-0\3"))
DAY_FIRST = r"^\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})\b|^\d{4}[/.]\d{1,2}[/.]\d{1,2}\b"
_DAYS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_FIRST, _END = -719_162, 2_932_897  # the days of 0001-01-01 and of 10000-01-01
_TICKS = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def iso_dates(text: pa.Array) -> BoolArray:
    """Return which (trimmed) texts are ISO dates that exist in the calendar; null counts as one.

    Examples
    --------
    >>> iso_dates(pa.array(["1850-01-31", "2023-02-29", "2020-01-01T10:00:00+02:00", "1/2/2020", None])).tolist()
    [True, False, True, False, True]
    """
    shaped = pc.fill_null(pc.match_substring_regex(text, _ISO), True).to_numpy(zero_copy_only=False)
    safe = pc.if_else(pa.array(shaped), pc.fill_null(text, "2000-01-01"), "2000-01-01")
    year, month, day = (_field(safe, start, stop) for start, stop in ((0, 4), (5, 7), (8, 10)))
    in_year = (year >= 1) & (month >= 1) & (month <= 12)
    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    last = _DAYS[np.clip(month, 1, 12) - 1] - ((month == 2) & ~leap)
    exists: BoolArray = shaped & in_year & (day >= 1) & (day <= last)
    return exists


def readable_dates(text: pa.Array) -> BoolArray:
    """Return which (trimmed) texts are unambiguous dates that exist; null counts as one.

    Examples
    --------
    >>> readable_dates(pa.array(["1999-12-31", "31.12.1999", "31.2.1999", "1999/12/31 10:00", "31/12/1999"])).tolist()
    [True, True, False, True, False]
    """
    return iso_dates(_as_iso(text))


def numeric_dates(text: pa.Array, day_first: bool) -> pa.Array:
    """Turn dates such as 04/22/1906 into ISO dates; other texts stay unchanged.

    Examples
    --------
    >>> numeric_dates(pa.array(["1/2/1999", "31.12.1999 08:30"]), day_first=True).to_pylist()
    ['1999-02-01', '1999-12-31 08:30']
    """
    return _turned(text, r"^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})", r"\3-0\2-0\1" if day_first else r"\3-0\1-0\2")


def _turned(text: pa.Array, pattern: str, order: str) -> pa.Array:
    turned = pc.replace_substring_regex(text, pattern, order)
    # two digits each, whether they were written with a zero or without
    padded = pc.replace_substring_regex(turned, r"^(\d{4})-0?(\d{2})-0?(\d{2})", r"\1-\2-\3")
    return pc.if_else(pc.match_substring_regex(text, pattern), padded, text)


def _as_iso(text: pa.Array) -> pa.Array:
    for pattern, order in _OTHERS:
        text = _turned(text, pattern, order)
    return text


def _field(text: pa.Array, start: int, stop: int) -> npt.NDArray[np.int64]:
    return np.asarray(pc.cast(pc.utf8_slice_codeunits(text, start, stop), pa.int64()))


def parse_dates(text: pa.Array) -> pa.Array:
    """Read dates (all must pass ``readable_dates``) as date32; null stays null.

    Examples
    --------
    >>> parse_dates(pa.array(["31.1.1850", "2020-01-01 23:59-08:00", None])).to_pylist()
    [datetime.date(1850, 1, 31), datetime.date(2020, 1, 1), None]
    """
    return pc.cast(pc.utf8_slice_codeunits(_as_iso(text), 0, 10), pa.date32())


def in_calendar(values: pa.Array) -> bool:
    """Whether all timestamps or dates are in the years 1 to 9999, which texts can express.

    Examples
    --------
    >>> in_calendar(pa.array([0, 2**40], pa.timestamp("us"))), in_calendar(pa.array([2**40], pa.timestamp("s")))
    (True, False)
    """
    ticks = 1 if pa.types.is_date32(values.type) else _TICKS[getattr(values.type, "unit", "ms")]
    numbers = values.cast(pa.int32() if ticks == 1 else pa.int64())
    low, high = pc.min_max(numbers).as_py().values()
    return low is None or (_FIRST * ticks <= low and high < _END * ticks)


def timestamps_to_dates(values: pa.Array) -> pa.Array:
    """Return the calendar dates of timestamps or dates, in their own time zone.

    Examples
    --------
    >>> import datetime as dt
    >>> noon = pa.array([dt.datetime(2020, 1, 1, 20)], pa.timestamp("us", "UTC"))
    >>> timestamps_to_dates(noon.cast(pa.timestamp("us", "Asia/Tokyo"))).to_pylist()
    [datetime.date(2020, 1, 2)]
    """
    if pa.types.is_timestamp(values.type):
        values = pc.local_timestamp(values) if values.type.tz else values
    # not safe: the time of day is lost
    return pc.cast(values, pa.date32(), safe=False)
