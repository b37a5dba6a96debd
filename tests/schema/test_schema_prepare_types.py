"""Types of Arrow: as what they are taken, and which are refused."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from support_prepare import CANARY, fails, ready

from hushtable.errors import DataError
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import check_publishable, prepare


def test_nominal_takes_every_type_as_its_canonical_text() -> None:
    assert ready([22.0, 22.5], Kind.NOMINAL).values.to_pylist() == ["22", "22.5"]
    assert ready([True, None]).data.to_pylist() == ["true", None]
    assert ready([dt.date(1850, 1, 2)], Kind.NOMINAL).values.to_pylist() == ["1850-01-02"]
    assert ready(["007", "7"], Kind.NOMINAL).values.to_pylist() == ["007", "7"]
    assert ready(["007", "7"], Kind.NUMERIC).values.to_pylist() == [7]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pa.array([[CANARY]]), "list or struct"),
        (pa.array([{"a": CANARY}]), "list or struct"),
        (pa.array([CANARY.encode()]), "bytes"),
        (pa.array([dt.time(7, 31)]), "time of day"),
        (pa.array([dt.timedelta(7731)]), "duration"),
    ],
)
@pytest.mark.parametrize("kind", [None, Kind.NOMINAL])
def test_types_that_cannot_be_used(values: pa.Array, words: str, kind: Kind | None) -> None:
    fails(
        values,
        kind,
        f"Column 'x' contains values of type {words}, which cannot be used. Convert it to numbers, dates or text, or "
        "remove it from the table.",
        "unsupported-type",
    )


@pytest.mark.parametrize(
    "type_", [pa.dictionary(pa.int8(), pa.list_(pa.int8())), pa.month_day_nano_interval(), pa.uuid(), pa.bool8()]
)
def test_types_that_cannot_be_published(type_: pa.DataType) -> None:
    with pytest.raises(DataError, match=r"Column 'x' contains values of type .*, which cannot be published"):
        check_publishable("x", type_)


def test_no_values_of_a_declared_kind() -> None:
    assert ready([None, None], Kind.NUMERIC).values.equals(pa.array([], pa.int64()))
    assert ready(["", None], Kind.DATE).values.equals(pa.array([], pa.date32()))
    assert ready(["", ""], Kind.NUMERIC).values.equals(pa.array([], pa.int64()))
    assert ready([], Kind.NUMERIC).data.to_pylist() == []


@pytest.mark.parametrize("kind", [Kind.NUMERIC, Kind.DATE])
def test_text_without_any_value_can_be_of_any_kind(kind):
    found = prepare(pa.array([None, None], pa.string()), name="x", kind=kind)
    assert found.kind is kind and found.missing == 2 and len(found.values) == 0
