"""Conversion of distinct stored values to distinct values of a kind."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray
from hushtable.errors import DataError, counted
from hushtable.io.formulas import PLAIN_NUMBER
from hushtable.io.inferred import mixed_sizes
from hushtable.io.text import EXACT, is_text, to_labels, type_words
from hushtable.schema.columns import Format, Kind

# Dates.

_TIME = r"([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?$"
_ISO = rf"^\d{{4}}-\d{{2}}-\d{{2}}{_TIME}"
_OTHERS = ((r"^(\d{1,2})\.(\d{1,2})\.(\d{4})", r"\3-0\2-0\1"), (r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})", r"\1-0\2-0\3"))
DAY_FIRST = r"^\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})\b|^\d{4}[/.]\d{1,2}[/.]\d{1,2}\b"
_DAYS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_FIRST_DAY, _END_DAY = -719_162, 2_932_897  # the days of 0001-01-01 and of 10000-01-01
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
    return low is None or (_FIRST_DAY * ticks <= low and high < _END_DAY * ticks)


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


# The kind of a column, and its values in the type of that kind.


_FIRST = 100


def infer_kind(values: pa.Array) -> tuple[Kind, str]:
    """Infer a column's kind from its distinct values (null if missing), with the reason.

    Examples
    --------
    >>> infer_kind(pa.array(["1", "2.5"]))
    (<Kind.NUMERIC: 'numeric'>, 'every value is a plain number')
    >>> infer_kind(pa.array(["01234", "99999"]))
    (<Kind.NOMINAL: 'nominal'>, 'numbers with leading zeros are codes')
    """
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Kind.NUMERIC, "stored as numbers"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Kind.DATE, "stored as dates"
    if pa.types.is_boolean(kind):
        return Kind.NOMINAL, "stored as true/false"
    text = _trimmed(values).drop_null()
    if not len(text):
        return Kind.NOMINAL, "no values"
    plain = plain_numbers(text)
    # An infinite number makes a column of numbers an error later on, not silently one of labels.
    numbers = pc.or_(plain, pc.match_substring_regex(text, INFINITY))
    if pc.all(numbers).as_py() and pc.any(plain).as_py():
        if pc.any(pc.match_substring_regex(text, LEADING_ZERO)).as_py():
            return Kind.NOMINAL, "numbers with leading zeros are codes"
        return Kind.NUMERIC, "every value is a plain number"
    first = text.slice(0, _FIRST)
    if not (readable_dates(first).all() or pc.all(pc.or_(comma_numbers(first), plain.slice(0, _FIRST))).as_py()):
        # for most text columns, a few values decide the kind
        return Kind.NOMINAL, "text"
    comma = comma_numbers(text)
    if pc.all(pc.or_(comma, plain)).as_py() and not pc.any(pc.match_substring(text.filter(plain), ".")).as_py():
        if pc.any(pc.match_substring_regex(text, LEADING_ZERO)).as_py():
            return Kind.NOMINAL, "numbers with leading zeros are codes"
        return Kind.NUMERIC, "every value is a number, some with a decimal comma"
    if iso_dates(text).all():
        return Kind.DATE, "every value is an ISO date"
    if readable_dates(text).all():
        return Kind.DATE, "every value is a date like 31.12.1999 or 1999-12-31"
    return Kind.NOMINAL, "text"


def standard(values: pa.Array, format: Format) -> pa.Array:
    """Return distinct texts in a format as unambiguous texts; others stay unchanged.

    Examples
    --------
    >>> standard(pa.array(["4/22/1906", "1906-04-22", "?"]), Format.MONTH_FIRST).to_pylist()
    ['1906-04-22', '1906-04-22', '?']
    >>> standard(pa.array(["1,234.56", "12"]), Format.THOUSANDS).to_pylist()
    ['1234.56', '12']
    >>> standard(pa.array(["HIV ", "hiv"]), Format.ANY_SPELLING).to_pylist()
    ['hiv', 'hiv']
    >>> standard(pa.array([19991231]), Format.COMPACT).to_pylist()
    ['1999-12-31']
    """
    if format is Format.COMPACT and (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        values = to_labels(values)
    if not is_text(values.type):
        return values
    if format is Format.ANY_SPELLING:
        # spaces of all kinds are one, and characters that nobody sees (zero-width ones, soft hyphens) are none
        seen = pc.replace_substring_regex(pc.cast(values, pa.string()), r"\p{Cf}+", "")
        text = _trimmed(pc.replace_substring_regex(seen, r"[\s\p{Z}]+", " "))
        return pc.utf8_lower(pc.utf8_normalize(text, "NFC"))
    text = _trimmed(values)
    if format is Format.COMPACT:
        return _turned(text, r"^(\d{4})(\d{2})(\d{2})$", r"\1-\2-\3")
    return without_thousands(text) if format is Format.THOUSANDS else numeric_dates(text, format is Format.DAY_FIRST)


def convert(values: pa.Array, kind: Kind, name: str) -> pa.Array:
    """Return distinct values in the type of a kind: int64, float64, date32 or string; null stays null.

    Raises
    ------
    DataError
        If a value cannot be read as that kind.

    Examples
    --------
    >>> convert(pa.array([" 5 ", "", None]), Kind.NUMERIC, "age").to_pylist()
    [5, None, None]
    """
    if kind is Kind.NUMERIC:
        return _numeric(values, name)
    if kind is Kind.DATE:
        return _date(values, name)
    return to_labels(values)


def _trimmed(values: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(pc.cast(values, pa.string()))
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _numeric(values: pa.Array, name: str) -> pa.Array:
    kind = values.type
    if pa.types.is_integer(kind):
        if kind == pa.uint64() and pc.any(pc.greater(values, pa.scalar(2**63 - 1, pa.uint64()))).as_py():
            raise too_large(name)
        return pc.cast(values, pa.int64())
    if pa.types.is_floating(kind):
        check_finite(values if kind != pa.float16() else pc.cast(values, pa.float32()), name)
        # A float32 means its own shortest decimal: 0.1, not 0.10000000149011612.
        exact = values if kind == pa.float64() else pc.cast(to_labels(values), pa.float64())
        return whole(exact)
    if pa.types.is_decimal(kind):
        return parse_numbers(to_labels(values), name)
    if pa.types.is_null(kind):
        return pc.cast(values, pa.int64())
    if not is_text(kind):
        raise _wrong_type(values, Kind.NUMERIC, name, "Set kind: nominal.")
    text = _trimmed(values)
    plain = pc.fill_null(pc.or_(plain_numbers(text), comma_numbers(text)), True)
    if not pc.all(plain, min_count=0).as_py():
        infinite = pc.fill_null(pc.match_substring_regex(text, INFINITY), False)
        if pc.all(pc.or_(plain, infinite)).as_py():
            check_finite(pc.cast(text.filter(infinite), pa.float64()), name)
        raise _unreadable(text, text.filter(pc.invert(plain)), Kind.NUMERIC, name)
    return parse_numbers(text, name)


def _date(values: pa.Array, name: str) -> pa.Array:
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        dates = timestamps_to_dates(values) if in_calendar(values) else None
        # a zone may lead out of the calendar
        if dates is None or (pa.types.is_timestamp(kind) and not in_calendar(dates)):
            raise DataError(
                f"Column {name!r} has dates before the year 1 or after 9999.",
                code="not-date",
                hint="Correct them or leave the cells empty, or set kind: nominal.",
            )
        return dates
    if pa.types.is_null(kind):
        return pc.cast(values, pa.date32())
    if not is_text(kind):
        raise _wrong_type(values, Kind.DATE, name, "Set format: compact for dates like 19991231, or kind: numeric.")
    text = _trimmed(values)
    good = pa.array(readable_dates(text))
    if not pc.all(good, min_count=0).as_py():
        raise _unreadable(text, text.filter(pc.invert(good)), Kind.DATE, name)
    return parse_dates(text)


def _wrong_type(values: pa.Array, kind: Kind, name: str, hint: str) -> DataError:
    return DataError(
        f"Column {name!r} cannot be read as {kind}: it is stored as {type_words(values.type)}.",
        code=f"not-{kind}",
        hint=hint,
    )


def _unreadable(text: pa.Array, bad: pa.Array, kind: Kind, name: str) -> DataError:
    total = len(text) - text.null_count
    what = "a plain number" if kind is Kind.NUMERIC else "a date like 1999-12-31"
    many = "plain numbers" if kind is Kind.NUMERIC else "dates like 1999-12-31"
    verb = f"is not {what}" if len(bad) == 1 else f"are not {many}"
    remedy = (
        "Write numbers with digits and a decimal point only, or set format: thousands for numbers such as 1,234.56"
        if kind is Kind.NUMERIC
        else "Write dates as 1999-12-31 or 31.12.1999, or set their format (format: day-first, month-first or compact)"
    )
    return DataError(
        f"Column {name!r} cannot be read as {kind}: {len(bad):,} of {total:,} distinct values {verb} "
        f"({describe(bad)}).",
        code=f"not-{kind}",
        hint=f"{remedy}, list markers such as NA under missing_values, or set kind: nominal.",
    )


MARKERS: tuple[str, ...] = (
    "?", "na", "n/a", "#n/a", "#na", "<na>", "nan", "null", "none", "nil", "-", "--", "---", ".", "..", "*",
    "unknown", "unk", "missing", "not available", "not applicable", "not known", "not stated", "not specified",
    "no data", "n.a.", "k.a.", "keine angabe", "tbd", "#value!", "#null!", "(blank)", "(null)", "undefined",
)  # fmt: skip
"""Texts that often represent a missing value, in lowercase. None of them counts as missing unless listed."""

_NUMBER = r"[+-]?\d+([.,]\d+)*"
_SHAPES: tuple[tuple[str, str, str], ...] = (
    (r"^[+-]?\d{1,3}([,.' \x{00a0}\x{202f}]\d{3})+([.,]\d+)?$", "number with thousands separators",
     "numbers with thousands separators"),
    (r"^[+-]?\d+,\d+$", "number with a decimal comma", "numbers with a decimal comma"),
    (rf"^{_NUMBER}\s*%$", "percentage", "percentages"),
    (rf"^[\p{{Sc}}]\s*{_NUMBER}$|^{_NUMBER}\s*[\p{{Sc}}]$", "amount with a currency sign",
     "amounts with a currency sign"),
    (INFINITY, "infinite number", "infinite numbers"),
    (r"^\d{4}-\d{2}-\d{2}($|[T ])", "ISO date or impossible date", "ISO dates or impossible dates"),
    (DAY_FIRST, "date that is not ISO", "dates that are not ISO"),
    (rf"^[<>≤≥~]=?\s*{_NUMBER}$|^{_NUMBER}\s*(-|–|to|\.\.)\s*{_NUMBER}$|^{_NUMBER}\+$", "bound or range",
     "bounds or ranges"),
)  # fmt: skip


def describe(text: pa.Array) -> str:
    """Return the number of (trimmed, distinct) texts of each kind, the most frequent kind first.

    Examples
    --------
    >>> describe(pa.array(["1,000", "2,500", "n/a", "many"]))
    '2 numbers with thousands separators, 1 missing-value marker, 1 text'
    """
    counts: Counter[tuple[str, str]] = Counter()
    left = text
    marker = pc.is_in(pc.utf8_lower(left), pa.array(MARKERS))
    counts["missing-value marker", "missing-value markers"] = _true(marker)
    left = left.filter(pc.invert(marker))
    for pattern, one, many in _SHAPES:
        hit = pc.match_substring_regex(left, pattern)
        counts[one, many] = _true(hit)
        left = left.filter(pc.invert(hit))
    numbers = plain_numbers(left)
    counts["number", "numbers"] = _true(numbers)
    counts["text", "texts"] = len(left) - _true(numbers)
    return ", ".join(counted(n, *words) for words, n in counts.most_common() if n)


def _true(mask: pa.Array) -> int:
    return int(pc.sum(mask).as_py() or 0)
