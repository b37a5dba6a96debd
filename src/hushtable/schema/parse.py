"""Conversion of distinct stored values to distinct values of a kind."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, counted
from hushtable.io.text import is_text, to_labels, type_words
from hushtable.schema.columns import Format, Kind
from hushtable.schema.dates import (
    DAY_FIRST,
    in_calendar,
    iso_dates,
    numeric_dates,
    parse_dates,
    readable_dates,
    timestamps_to_dates,
)
from hushtable.schema.numbers import (
    INFINITY,
    LEADING_ZERO,
    check_finite,
    comma_numbers,
    parse_numbers,
    plain_numbers,
    too_large,
    whole,
    without_thousands,
)

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
    """
    if not is_text(values.type):
        return values
    text = _trimmed(values)
    if format is Format.ANY_SPELLING:
        return pc.utf8_lower(pc.replace_substring_regex(pc.utf8_normalize(text, "NFC"), r"\s+", " "))
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
    return pc.cast(to_labels(values), pa.string())


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
        if dates is None or not in_calendar(dates):  # a zone may lead out of the calendar
            raise DataError(
                f"Column {name!r} has dates before the year 1 or after 9999.",
                code="not-date",
                hint="Correct them or leave the cells empty, or set kind: nominal.",
            )
        return dates
    if pa.types.is_null(kind):
        return pc.cast(values, pa.date32())
    if not is_text(kind):
        raise _wrong_type(values, Kind.DATE, name, "Store dates as text like 1999-12-31, or set kind: numeric.")
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
        else "Write dates as 1999-12-31 or 31.12.1999, or set their format (format: day-first or month-first)"
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
