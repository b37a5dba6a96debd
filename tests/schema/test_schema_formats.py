from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import DataError
from hushtable.schema.columns import Format, Kind
from hushtable.schema.formats import fitting_formats, format_question, has_times
from hushtable.schema.prepare import prepare
from hushtable.schema.profile import profile

dates = st.dates(datetime.date(1000, 1, 1), datetime.date(9999, 12, 31))


@given(st.lists(dates, min_size=1), st.sampled_from("/.-"), st.booleans())
def test_dates_are_read_as_they_were_written(days, sign, day_first):
    order = "{0.day}{1}{0.month}{1}{0.year:04d}" if day_first else "{0.month:02d}{1}{0.day:02d}{1}{0.year:04d}"
    text = pa.array([order.format(day, sign) for day in days])
    wanted = Format.DAY_FIRST if day_first else Format.MONTH_FIRST
    assert wanted in fitting_formats(text)
    found = prepare(text, name="d", format=wanted)
    assert found.kind is Kind.DATE
    assert found.data.to_pylist() == days


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1))
def test_numbers_with_thousands(numbers):
    text = pa.array([f"{n:,.2f}" for n in numbers])
    found = prepare(text, name="n", format=Format.THOUSANDS)
    assert [float(v) for v in found.data.to_pylist()] == pytest.approx([float(n) for n in numbers])


def test_formats_that_the_values_do_not_decide_are_both_named():
    assert fitting_formats(pa.array(["01/02/1999"])) == (Format.DAY_FIRST, Format.MONTH_FIRST)
    assert fitting_formats(pa.array(["13/02/1999"])) == (Format.DAY_FIRST,)
    assert fitting_formats(pa.array(["13/02/1999", "02/13/1999"])) == ()
    assert fitting_formats(pa.array(["1,234", "5,678"])) == ()  # may be decimal commas
    assert fitting_formats(pa.array(["a", None])) == ()
    assert fitting_formats(pa.array([None], pa.string())) == ()
    assert "day and month are ambiguous" in format_question((Format.DAY_FIRST, Format.MONTH_FIRST))


def test_what_is_not_in_the_format_is_an_error_without_a_value():
    with pytest.raises(DataError, match="cannot be read as date: 1 of 2 distinct values") as caught:
        prepare(pa.array(["13/13/1999", "12/31/1999"]), name="d", format=Format.MONTH_FIRST)
    assert "13/13" not in str(caught.value)


def test_iso_dates_are_read_in_any_format():
    assert prepare(pa.array(["1999-12-31"]), name="d", format=Format.DAY_FIRST).data.to_pylist() == [
        datetime.date(1999, 12, 31)
    ]


def test_any_spelling_joins_labels_that_differ_in_capitals_and_spaces():
    found = prepare(pa.array(["HIV", "HIV ", " HIV", "hiv", "flu", ""]), name="d", format=Format.ANY_SPELLING)
    assert (found.kind, found.values.to_pylist(), found.missing) == (Kind.NOMINAL, ["flu", "hiv"], 1)


@pytest.mark.parametrize("other", ["HIV\u200b", "\ufeffHIV", "H\u00adIV", "HIV\u00a0", "\u2003HIV", "HIV\u200b "])
def test_any_spelling_joins_labels_that_look_the_same(other):
    """Two values that nobody can tell apart must not be the two values of a diverse class."""
    found = prepare(pa.array(["HIV", other, "\u200b"]), name="d", format=Format.ANY_SPELLING)
    assert (found.values.to_pylist(), found.missing) == (["hiv"], 1)
    spaced = prepare(
        pa.array(["lung cancer", "lung\u00a0cancer", "lung \u200bcancer"]), name="d", format=Format.ANY_SPELLING
    )
    assert spaced.values.to_pylist() == ["lung cancer"]


def test_times_of_day_count_when_uniqueness_is_counted():
    texts = [f"2020-01-0{1 + i % 3} 08:{i:02d}" for i in range(30)]
    for column in (pa.array(texts), pa.array([datetime.datetime.fromisoformat(t) for t in texts])):
        (found,) = profile(pa.table({"admission": column})).columns
        assert (found.kind, found.times, found.unique_share) == (Kind.DATE, True, 1.0)
    (found,) = profile(pa.table({"admission": [t[:10] for t in texts]})).columns
    assert (found.times, found.unique) == (False, 0)
    assert not has_times(pa.chunked_array([["2020-01-01 00:00", "2020-01-02T00:00:00"]]))
