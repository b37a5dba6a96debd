"""Round numbers lie where they must, and none is rounder."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hushtable.release.forms.rounding import number_text, round_between, significant_bins
from hushtable.schema.columns import Kind

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.floats(-1e12, 1e12),
    st.floats(-1e-6, 1e-6),
    st.sampled_from([0.0, 1e300]),
)


def steps():
    """From coarse to fine: 5, 2 and 1 times each power of ten."""
    for exponent in range(301, -20, -1):
        for digit in (5, 2, 1):
            yield Decimal(digit).scaleb(exponent)


@given(NUMBERS, NUMBERS)
def test_no_rounder_number_lies_between(a, b):
    low, high = sorted((a, b))
    assume(low < high and high - low > 1e-9 * max(abs(low), abs(high)))
    found = float(round_between(np.array([low]), np.array([high]))[0])
    assert low < found <= high
    if low < 0 <= high:
        assert found == 0
        return
    for step in steps():
        # the greatest multiple that is not above the upper end
        multiple = (Decimal(high) / step).to_integral_value("ROUND_FLOOR") * step
        if float(multiple) > low:
            assert float(Decimal(repr(found)) % step) == 0 or abs(Decimal(repr(found)) % step) < step * Decimal("1e-9")
            return


def test_neighbours_among_floats_have_a_bound():
    low = np.array([1.0, 0.1])
    high = np.nextafter(low, np.inf)
    found = round_between(low, high)
    assert (low < found).all() and (found <= high).all()


def test_infinite_values_have_bounds():
    found = round_between(np.array([-np.inf, 3.0, -np.inf]), np.array([2.0, np.inf, np.inf]))
    assert np.isfinite(found).all()
    assert found[0] <= 2 and found[1] > 3


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)), st.integers(1, 20000))
def test_dates_are_whole_years_months_or_days(first, apart):
    low = (first - datetime.date(1970, 1, 1)).days
    found = round_between(np.array([float(low)]), np.array([float(low + apart)]), Kind.DATE)[0]
    assert low < found <= low + apart
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=int(found))
    inside = [first + datetime.timedelta(days=i) for i in range(1, apart + 1)]
    if any((d.month, d.day) == (1, 1) for d in inside):
        assert (day.month, day.day) == (1, 1)
    elif any(d.day == 1 for d in inside):
        assert day.day == 1


@given(st.lists(NUMBERS.filter(lambda x: abs(x) < 1e15), min_size=1, max_size=20), st.integers(1, 4), st.booleans())
def test_bins_hold_their_numbers_and_do_not_overlap(values, digits, whole):
    numbers = np.unique(np.rint(values) if whole else np.array(values)) + 0.0
    low, high = significant_bins(numbers, digits, whole=whole)
    assert (low <= numbers).all()
    assert ((numbers < high) | (low == high)).all()
    order = np.argsort(low, kind="stable")
    same = low[order][1:] == low[order][:-1]
    assert (high[order][:-1] <= low[order][1:])[~same].all()
    assert np.array_equal(high[order][1:][same], high[order][:-1][same])
    # ... and are as narrow as so many digits allow
    wide = np.abs(high - low)
    most = np.maximum(np.abs(numbers) * 10.0 ** (1 - digits), 1.0 if whole else 0.0)
    assert (wide <= most * (1 + 1e-6)).all()


@pytest.mark.parametrize(("number", "text"), [(20.0, "20"), (-0.5, "-0.5"), (1e21, "1e+21")])
def test_numbers_are_written_plainly(number, text):
    assert number_text([number]) == [text]
