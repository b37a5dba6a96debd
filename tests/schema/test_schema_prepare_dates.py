"""Dates: which texts and types are days, and which only look so."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from support_prepare import CANARY, fails, ready

from hushtable.errors import DataError
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import check_publishable

DATES_HINT = (
    "Write dates as 1999-12-31 or 31.12.1999, or set their format (format: day-first, month-first or compact), list "
    "markers such as NA under missing_values, or set kind: nominal."
)


def test_dates_before_1900_and_with_time_zones() -> None:
    values = ["1066-10-14", "2020-01-01T23:30:00-08:00", "2020-01-01T23:30:00+0900", "2020-01-01 00:10Z", ""]
    found = ready(values)
    assert found.kind is Kind.DATE
    day = dt.date(2020, 1, 1)
    assert found.data.to_pylist() == [dt.date(1066, 10, 14), day, day, day, None]
    utc = pa.array([dt.datetime(2020, 1, 1, 20)], pa.timestamp("us", "UTC"))
    assert ready(utc).values.to_pylist() == [day]
    assert ready(utc.cast(pa.timestamp("us", "Asia/Tokyo"))).values.to_pylist() == [dt.date(2020, 1, 2)]
    old = pa.array([dt.datetime(1850, 6, 1, 3, 4, 5)], pa.timestamp("ns"))
    assert ready(old).values.to_pylist() == [dt.date(1850, 6, 1)]
    assert ready(pa.array([dt.date(1850, 6, 1)], pa.date64())).values.to_pylist() == [dt.date(1850, 6, 1)]


def test_timestamps_of_one_day_are_one_value() -> None:
    stamps = pa.array([dt.datetime(2020, 1, 1, h) for h in (1, 5, 23)])
    assert ready(stamps).values.to_pylist() == [dt.date(2020, 1, 1)]


def test_dates_with_points_and_with_the_year_first() -> None:
    written = ["31.12.1999", "1.2.2003", "01.02.2003 23:59", "1999/12/31", "1999.12.31", "1999-12-31", None]
    assert ready(written).data.to_pylist() == [
        dt.date(1999, 12, 31), dt.date(2003, 2, 1), dt.date(2003, 2, 1), *[dt.date(1999, 12, 31)] * 3, None,
    ]  # fmt: skip


def test_dates_that_cannot_be_read() -> None:
    head = "Column 'x' cannot be read as date:"
    fails(
        ["31/12/7731", "02/01/1999", "1999-01-01"],
        Kind.DATE,
        f"{head} 2 of 3 distinct values are not dates like 1999-12-31 (2 dates that are not ISO). {DATES_HINT}",
        "not-date",
    )
    fails(
        ["2023-02-30", "7731-13-01", CANARY],
        Kind.DATE,
        f"{head} 3 of 3 distinct values are not dates like 1999-12-31 (2 ISO dates or impossible dates, 1 text). "
        f"{DATES_HINT}",
        "not-date",
    )
    fails(
        [19991231],
        Kind.DATE,
        f"{head} it is stored as whole number. Set format: compact for dates like 19991231, or kind: numeric.",
        "not-date",
    )


def test_time_zones_that_nobody_knows() -> None:
    times = pa.array([7731], pa.timestamp("us", "Nowhere/Land"))
    fails(
        times,
        None,
        "Column 'x' contains times in a time zone that this system does not know. Install the package tzdata, or "
        "convert the times to UTC.",
        "unknown-zone",
    )
    with pytest.raises(DataError, match="does not know"):
        check_publishable("x", times.type)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([-719_163], pa.int32()).cast(pa.date32()),
        pa.array([2_932_897], pa.int32()).cast(pa.date32()),
        pa.array([2**62], pa.int64()).cast(pa.timestamp("s")),
        pa.array([2_932_897 * 86_400_000], pa.int64()).cast(pa.date64()),
        # already the next year in the zone that it is told in
        pa.array([2_932_897 * 86_400 - 1], pa.timestamp("s", "Asia/Tokyo")),
    ],
    ids=lambda values: str(values.type),
)
def test_dates_that_no_text_can_tell(values: pa.Array) -> None:
    fails(
        values,
        None,
        "Column 'x' has dates before the year 1 or after 9999. Correct them or leave the cells empty, or set kind: "
        "nominal.",
        "not-date",
    )


def test_the_first_and_the_last_day() -> None:
    for unit, low, high in (("ns", -(2**63), 2**63 - 1), ("s", -719_162 * 86_400, 2_932_897 * 86_400 - 1)):
        ticks = pa.array([low, -1, high, None], pa.int64())
        days = [d and str(d) for d in ready(ticks.cast(pa.timestamp(unit))).data.to_pylist()]
        first, last = ("1677-09-21", "2262-04-11") if unit == "ns" else ("0001-01-01", "9999-12-31")
        assert days == [first, "1969-12-31", last, None]
