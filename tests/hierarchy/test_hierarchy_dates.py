from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.dates import Dates
from hushtable.schema.columns import Kind


def code(recipe, days, missing=False):
    values = pa.array(days, pa.date32())
    return recipe.code(values, Kind.DATE, missing=missing, column="born", counts=np.ones(len(days), dtype=np.int64))


def test_dates_before_1900_and_before_1970():
    coded = code(Dates(levels=("month", "year", "century")), [datetime.date(1969, 12, 31), datetime.date(1865, 4, 9)])
    assert coded.labels == (
        ("1865-04-09", "1969-12-31"),
        ("1865-04", "1969-12"),
        ("1865", "1969"),
        ("1800-1899", "1900-1999"),
        ("*",),
    )


@settings(max_examples=100, deadline=None)
@given(st.dates())
def test_labels_agree_with_the_calendar(day):
    labels = [level[0] for level in code(Dates(), [day]).labels]
    year, quarter = f"{day.year:04d}", (day.month + 2) // 3
    assert labels == [
        day.isoformat(),
        f"{year}-{day.month:02d}",
        f"{year}-Q{quarter}",
        year,
        f"{year[:3]}0s",
        "*",
    ]


def test_day_is_the_leaf():
    day = [datetime.date(2024, 2, 29)]
    assert code(Dates(levels=("day", "month")), day).labels == code(Dates(levels=("month",)), day).labels


def test_missing_dates_stay_apart_until_the_root():
    coded = code(Dates(levels=("year",)), [datetime.date(2024, 2, 29)], missing=True)
    assert coded.labels == ((None, "2024-02-29"), (None, "2024"), ("*",))


@pytest.mark.parametrize("levels", [(), ("year", "month"), ("year", "year"), ("month", "day")])
def test_periods_out_of_order(levels):
    with pytest.raises(ParameterError, match="the shortest first"):
        Dates(levels=levels)


def test_unknown_period():
    with pytest.raises(ParameterError, match="'week'"):
        Dates(levels=("week",))


def test_values_that_are_no_dates():
    with pytest.raises(HierarchyError, match=r"'born' .* not dates") as caught:
        Dates().code(pa.array(["x"]), Kind.NOMINAL, missing=False, column="born", counts=np.array([1]))
    assert "kind: date" in caught.value.hint
