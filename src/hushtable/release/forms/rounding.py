"""Round numbers: between two values, and around one.

A bound that is a person's own value reveals it. A round number between two adjacent values reveals neither.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.schema.columns import Kind

EXACT_DIGITS = 15
"""Significant digits that every float keeps; with more, adjacent bins could not be distinguished."""

FIRST_DAY = -719162
"""1 January of the year 1, in days since 1970: there is no date before it."""

LAST_DAY = 2932896
"""31 December 9999: there is no date after it."""

_EPOCH = datetime.date(1970, 1, 1)


def round_between(low: FloatArray, high: FloatArray, kind: Kind = Kind.NUMERIC) -> FloatArray:
    """Return the roundest number r with ``low < r <= high``: a multiple of the largest of 1, 2, 5 times a power of ten.

    If there are several, the one nearest to the middle. Dates are days since 1970: the first day of the roundest year,
    otherwise of a month, otherwise any day.

    Examples
    --------
    >>> round_between(np.array([19.0, 23.0, 0.123, -7.0]), np.array([23.0, 24.0, 0.131, -2.0])).tolist()
    [20.0, 24.0, 0.13, -5.0]
    >>> round_between(np.array([18321.0]), np.array([18421.0]), Kind.DATE).tolist()
    [18414.0]
    """
    low, high = _finite(low, high)
    if kind is Kind.DATE:
        return _days_between(low, high)
    return numbers_between(low, high)


def _finite(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Replace infinite values by finite ones beyond all others."""
    known = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)], [1.0]])
    beyond = min(10.0 * float(np.abs(known).max()), float(np.finfo(np.float64).max))
    return np.clip(low, -beyond, beyond), np.clip(high, -beyond, beyond)


def numbers_between(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the roundest number above ``low`` and up to ``high``."""
    out = high.astype(np.float64).copy()
    open_to = np.flatnonzero(low < high)
    if not len(open_to):
        return out
    most = max(float(np.abs(low[open_to]).max()), float(np.abs(high[open_to]).max()))
    top = int(np.floor(np.log10(most))) + 1 if most else 0
    # zero is a multiple of everything
    zero = (low[open_to] < 0) & (high[open_to] >= 0)
    out[open_to[zero]] = 0.0
    open_to = open_to[~zero]
    for exponent in range(min(top, 308), -309, -1):
        for digit in (5, 2, 1):
            if not len(open_to):
                return out
            a, b = low[open_to], high[open_to]
            found = _multiple(a, b, digit, exponent)
            hit = ~np.isnan(found)
            out[open_to[hit]] = found[hit]
            open_to = open_to[~hit]
    return out


def _multiple(low: FloatArray, high: FloatArray, digit: int, exponent: int) -> FloatArray:
    """The multiple of ``digit * 10**exponent`` in (low, high] that is nearest to the middle; NaN for none."""
    best = np.full(len(low), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        count = np.rint(_scaled(low / 2 + high / 2, -exponent) / digit)
        last = np.floor(_scaled(high, -exponent) / digit)
        # the nearest to the middle may lie outside; then the greatest one inside is tried
        for turn in (count, last, last - 1):
            value = _scaled(turn * digit, exponent)
            fits = (value > low) & (value <= high) & np.isnan(best)
            best[fits] = value[fits]
    return best


def _scaled(numbers: FloatArray, exponent: int) -> FloatArray:
    """Return ``numbers * 10**exponent``, correctly rounded if the power is exact."""
    if abs(exponent) > 300:
        numbers, exponent = numbers * 10.0 ** (exponent - int(np.sign(exponent)) * 300), int(np.sign(exponent)) * 300
    return numbers * 10.0**exponent if exponent >= 0 else numbers / 10.0**-exponent


def _days_between(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the first day of the roundest year in (low, high], otherwise of the last month, or the last day."""
    first, last = (low + 1).astype("datetime64[D]"), high.astype("datetime64[D]")
    # years and months that begin between the two days
    years = [_begun(first, "Y"), last.astype("datetime64[Y]").astype(np.int64)]
    months = [_begun(first, "M"), last.astype("datetime64[M]").astype(np.int64)]
    year = numbers_between(years[0].astype(np.float64) + 1969, years[1].astype(np.float64) + 1970) - 1970
    with_year = year.astype(np.int64).astype("datetime64[Y]").astype("datetime64[D]").astype(np.float64)
    with_month = months[1].astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
    return np.where(years[0] <= years[1], with_year, np.where(months[0] <= months[1], with_month, high))


def _begun(days: AnyArray, unit: str) -> IntArray:
    """The first year or month that begins on or after each day, counted from 1970."""
    whole = days.astype(f"datetime64[{unit}]")
    return np.asarray(whole.astype(np.int64) + (whole.astype("datetime64[D]") < days))


def _date(day: int) -> datetime.date:
    return _EPOCH + datetime.timedelta(days=int(np.clip(day, FIRST_DAY, LAST_DAY)))


def significant_bins(numbers: FloatArray, digits: int, *, whole: bool) -> tuple[FloatArray, FloatArray]:
    """Return the bins of numbers rounded to some significant digits: the lower end, and the exclusive upper end.

    Parameters
    ----------
    numbers : float array
    digits : int
        At least 1.
    whole : bool
        Whether all numbers are whole: then bins are no narrower than 1.

    Examples
    --------
    >>> low, high = significant_bins(np.array([7.0, 1234, -999, -1000, 0]), 2, whole=True)
    >>> low.tolist(), high.tolist()
    ([7.0, 1200.0, -1000.0, -1000.0, 0.0], [8.0, 1300.0, -990.0, -990.0, 1.0])
    """
    low, high = numbers.astype(np.float64).copy(), numbers.astype(np.float64).copy()
    size = np.abs(numbers)
    open_to = np.isfinite(numbers) & (numbers != 0)
    exponent = np.zeros(len(numbers), dtype=np.int64)
    exponent[open_to] = np.floor(np.log10(size[open_to])).astype(np.int64)
    # logarithms round; and negative bins include their lower end, which may be a power of ten
    for e in np.unique(exponent[open_to]).tolist():
        here = open_to & (exponent == e)
        exponent[here & (size >= 10.0 ** (e + 1) if e < 308 else False)] = e + 1
        exponent[here & (size < 10.0**e)] = e - 1
    exact = open_to & (numbers < 0) & (size == np.power(10.0, exponent.astype(np.float64)))
    exponent[exact] -= 1
    step = exponent - digits + 1
    if whole:
        step = np.maximum(step, 0)
    for e in np.unique(step[open_to]).tolist():
        here = np.flatnonzero(open_to & (step == e))
        count = np.floor(_scaled(numbers[here], -e))
        for _ in range(2):  # division rounds
            with np.errstate(over="ignore"):
                count = np.where(_scaled(count, e) > numbers[here], count - 1, count)
                count = np.where(_scaled(count + 1, e) <= numbers[here], count + 1, count)
        with np.errstate(over="ignore"):
            low[here], high[here] = _scaled(count, e), _scaled(count + 1, e)
    if whole:
        high[numbers == 0] = 1.0
    return low, high


def whole_bins(numbers: IntArray, digits: int) -> tuple[AnyArray, AnyArray]:
    """Return the bins of ``significant_bins`` for whole numbers of any size, as Python integers.

    Examples
    --------
    >>> low, high = whole_bins(np.array([7, -1000, 9_099_999_999_999_999_999]), 2)
    >>> low.tolist(), high.tolist()
    ([7, -1000, 9000000000000000000], [8, -990, 9100000000000000000])
    """
    ends = []
    for number in numbers.tolist():
        # negative bins include their lower end, which may be a power of ten
        size = len(str(number if number >= 0 else -number - 1))
        step = 10 ** max(size - digits, 0)
        ends.append((number // step * step, (number // step + 1) * step))
    low, high = np.array(ends, dtype=object).reshape(-1, 2).T
    return low, high


def number_text(numbers: Sequence[float] | FloatArray | IntArray, kind: Kind = Kind.NUMERIC) -> list[str]:
    """Write bounds: whole numbers without a fraction, dates as days.

    Examples
    --------
    >>> number_text([20.0, 0.35, -5.0]), number_text([18262.0], Kind.DATE)
    (['20', '0.35', '-5'], ['2020-01-01'])
    """
    if kind is Kind.DATE:
        return [_date(int(n)).isoformat() for n in numbers]
    return [
        str(int(n)) if isinstance(n, int) or (float(n).is_integer() and abs(n) < 2**63) else repr(float(n))
        for n in numbers
    ]
