from __future__ import annotations

import datetime as dt
import decimal
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_prepare import CANARY, POINTS, fails, ready

from hushtable.errors import DataError, PolicyError
from hushtable.io.frames import to_arrow
from hushtable.io.text import to_labels
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import prepare

NUMBERS_HINT = (
    "Write numbers with digits and a decimal point only, or set format: thousands for numbers such as 1,234.56, list "
    "markers such as NA under missing_values, or set "
    "kind: nominal."
)


@pytest.mark.parametrize(
    ("values", "kind", "reason"),
    [
        ([3, 1], Kind.NUMERIC, "stored as numbers"),
        ([3.5, 1.0], Kind.NUMERIC, "stored as numbers"),
        ([decimal.Decimal("1.5")], Kind.NUMERIC, "stored as numbers"),
        ([True, False], Kind.NOMINAL, "stored as true/false"),
        ([dt.date(2020, 1, 1)], Kind.DATE, "stored as dates"),
        ([dt.datetime(2020, 1, 1, 5)], Kind.DATE, "stored as dates"),
        (["1", " 2 ", "-3.5", "1e3", ".5", "+7"], Kind.NUMERIC, "every value is a plain number"),
        (["0", "0.5", "-0.25"], Kind.NUMERIC, "every value is a plain number"),
        (["1", "", "  ", None], Kind.NUMERIC, "every value is a plain number"),
        (["01234", "99999"], Kind.NOMINAL, "numbers with leading zeros are codes"),
        (["1", "?"], Kind.NOMINAL, "text"),
        (["1,000", "2"], Kind.NOMINAL, "text"),
        (["1999-12-31", "1850-01-01T10:00:00Z"], Kind.DATE, "every value is an ISO date"),
        (["1999-12-31", "2023-02-30"], Kind.NOMINAL, "text"),
        (["31.12.1999", "1999-1-02"], Kind.NOMINAL, "text"),
        (["31.12.1999", "1.2.2003 10:00", "1999-12-31"], Kind.DATE, POINTS),
        (["1999/12/31", "1999.1.2"], Kind.DATE, POINTS),
        (["31.02.1999"], Kind.NOMINAL, "text"),
        (["31/12/1999", "13/12/1999"], Kind.NOMINAL, "text"),
        (["172,5", "17.736,93", "3"], Kind.NUMERIC, "every value is a number, some with a decimal comma"),
        (["172,5", "17.736"], Kind.NOMINAL, "text"),
        (["172,5", "1,234"], Kind.NOMINAL, "text"),
        (["07,5", "1,2"], Kind.NOMINAL, "numbers with leading zeros are codes"),
        (["NaN", "1"], Kind.NOMINAL, "text"),
        (["a"], Kind.NOMINAL, "text"),
        (["", None], Kind.NOMINAL, "no values"),
        ([None], Kind.NOMINAL, "no values"),
        ([], Kind.NOMINAL, "no values"),
    ],
)
def test_inference(values: list[Any], kind: Kind, reason: str) -> None:
    found = ready(values)
    assert (found.kind, found.reason) == (kind, reason)
    coded = pa.array(values).dictionary_encode()
    again = ready(coded)
    assert (again.kind, again.data.to_pylist()) == (kind, found.data.to_pylist())


def test_missing_values_together() -> None:
    assert ready(["b", None, "", "?", "NA", "b"]).data.to_pylist() == ["b", None, None, "?", "NA", "b"]
    found = ready(["b", None, "", "?", " ? ", "NA"], missing_values=("?",))
    assert found.data.to_pylist() == ["b", None, None, None, None, "NA"]
    assert found.missing == 4
    assert ready([1.5, float("nan"), None]).data.to_pylist() == [1.5, None, None]
    frame = pd.DataFrame({"x": pd.Series(["v", None, np.nan, "", "?"], dtype=object)})
    assert prepare(to_arrow(frame)["x"], name="x").data.to_pylist() == ["v", None, None, None, "?"]
    assert ready(["5", "", "?"], Kind.NUMERIC, missing_values=["?"]).data.to_pylist() == [5, None, None]


def test_a_listed_number_matches_every_spelling_and_an_unlisted_one_is_a_value() -> None:
    for values in ([5, -999], [5.0, -999.0], ["5", "-999"], ["5", "-999.0"], pa.array([5, -999], pa.int16())):
        assert ready(values).values.to_pylist() == [-999, 5]
        for token in ("-999", "-999.0"):
            assert ready(values, missing_values=(token,)).values.to_pylist() == [5]
    decimals = pa.array([decimal.Decimal("5.00"), decimal.Decimal("-0.50")], pa.decimal128(9, 2))
    for kind, left in ((Kind.NUMERIC, [5]), (Kind.NOMINAL, ["5"])):
        for token in ("-0.5", "-0.50"):
            assert ready(decimals, kind, missing_values=(token,)).values.to_pylist() == left


def test_blanks_belong_to_labels_but_not_to_numbers() -> None:
    assert ready([" a", "a", "  "]).values.to_pylist() == ["  ", " a", "a"]
    assert ready([" 1", "1 ", "1.0", "\t", "1"]).data.to_pylist() == [1, 1, 1, None, 1]


def test_the_dictionary_is_sorted_typed_and_holds_what_occurs() -> None:
    numbers = ready(["10", "9", "10", "", "-1"])
    assert numbers.values.equals(pa.array([-1, 9, 10], pa.int64()))
    assert numbers.codes().tolist() == [2, 1, 2, -1, 0]
    assert numbers.counts().tolist() == [1, 1, 2]
    assert ready(["é", "z", "Z", "a"]).values.to_pylist() == ["Z", "a", "z", "é"]
    dates = ready(["2020-01-01", "1850-06-30"])
    assert dates.values.equals(pa.array([dt.date(1850, 6, 30), dt.date(2020, 1, 1)], pa.date32()))
    unused = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array([CANARY, "5"]))
    assert ready(unused).values.to_pylist() == [5]
    assert ready(unused).kind is Kind.NUMERIC


@pytest.mark.parametrize("values", [[1.0, 2.0, None], ["1", "2.0", ""], pa.array([1, 2, None], pa.uint8())])
def test_whole_numbers_are_int64_whatever_they_came_as(values: Any) -> None:
    assert ready(values).values.equals(pa.array([1, 2], pa.int64()))


def test_mixed_whole_and_broken_numbers() -> None:
    assert ready(["1", "2.5"]).values.equals(pa.array([1.0, 2.5]))
    assert ready([decimal.Decimal("1.50"), decimal.Decimal("2")]).values.equals(pa.array([1.5, 2.0]))
    assert ready(pa.array([0.1], pa.float32())).values.equals(pa.array([0.1]))
    assert ready([-0.0, 0.5, 0.0]).values.to_pylist() == [0.0, 0.5]


def test_large_whole_numbers() -> None:
    big = [2**53 + 1, 2**53, 2**63 - 1]
    assert ready(big).values.to_pylist() == sorted(big)
    assert ready([str(b) for b in big]).values.to_pylist() == sorted(big)
    hint = "Set kind: nominal if they are codes rather than quantities."
    beyond = f"Column 'x' has whole numbers beyond 64 bits. {hint}"
    fails(["1", str(10**30 + 7731)], None, beyond, "number-too-large")
    fails(pa.array([2**64 - 7731], pa.uint64()), None, beyond, "number-too-large")
    fails(
        ["0.5", str(2**53 * 10 + 7731)],
        None,
        f"Column 'x' mixes fractions with whole numbers beyond 2**53, which floats cannot distinguish. {hint}",
        "number-too-large",
    )
    assert ready([str(10**30)], Kind.NOMINAL).values.to_pylist() == [str(10**30)]


def test_infinite_numbers() -> None:
    hint = "Replace them with numbers, or leave the cells empty."
    fails([1.0, float("inf"), -float("inf")], None, f"Column 'x' has infinite numbers (2 distinct). {hint}", "infinite")
    for text in ("inf", "-Infinity", "1e999"):
        fails(["1", text], None, f"Column 'x' has infinite numbers (1 distinct). {hint}", "infinite")


def test_numbers_that_cannot_be_read() -> None:
    fails(
        ["7731,000", "1,234.50", "1'000'000", "12", CANARY, "n/a", "7731%", "€ 7731", "7,731", "3,5", "<7731"],
        Kind.NUMERIC,
        "Column 'x' cannot be read as numeric: 9 of 11 distinct values are not plain numbers (3 numbers with "
        "thousands separators, 1 missing-value marker, 1 number with a decimal comma, 1 percentage, 1 amount with a "
        f"currency sign, 1 bound or range, 1 text). {NUMBERS_HINT}",
        "not-numeric",
    )
    fails(
        ["1", CANARY],
        Kind.NUMERIC,
        f"Column 'x' cannot be read as numeric: 1 of 2 distinct values is not a plain number (1 text). {NUMBERS_HINT}",
        "not-numeric",
    )
    fails(
        ["2020-01-01"],
        Kind.NUMERIC,
        "Column 'x' cannot be read as numeric: 1 of 1 distinct values is not a plain number (1 ISO date or impossible "
        f"date). {NUMBERS_HINT}",
        "not-numeric",
    )
    fails(
        [True],
        Kind.NUMERIC,
        "Column 'x' cannot be read as numeric: it is stored as true/false. Set kind: nominal.",
        "not-numeric",
    )


def test_decimal_commas() -> None:
    written = ["172,5", "1.234.567,5", "-0,125", "1\u202f000,50", "3", "2,0000"]
    assert ready(written).values.to_pylist() == [-0.125, 2.0, 3.0, 172.5, 1000.5, 1234567.5]
    fails(
        ["172,5", "17.736"],
        Kind.NUMERIC,
        "Column 'x' has numbers with decimal commas and others with points that may separate thousands. Write all of "
        "them with a decimal point and without thousands separators, or set kind: nominal.",
        "not-numeric",
    )


def test_ordinal() -> None:
    found = ready(["high", "low", None, "high"], Kind.ORDINAL, order=("low", "middle", "high"))
    assert found.values.to_pylist() == ["low", "high"]
    assert found.codes().tolist() == [1, 0, -1, 1]
    assert found.kind is Kind.ORDINAL
    assert ready([2, 1], order=("1", "2")).kind is Kind.ORDINAL
    fails(
        ["low", CANARY, "x"],
        Kind.ORDINAL,
        "Column 'x' has 2 distinct values that its order does not list. Add them to 'order', or list them as "
        "missing_values. Blanks and case matter.",
        "not-in-order",
        order=("low",),
    )
    fails(
        ["low"],
        Kind.ORDINAL,
        "Column 'x' is ordinal but its order is not given. List its values from low to high under 'order', or set "
        "kind: nominal.",
        "no-order",
    )
    with pytest.raises(PolicyError, match=r"is numeric but has an order\. Set kind: ordinal"):
        ready(["1"], Kind.NUMERIC, order=("1",))
    with pytest.raises(PolicyError, match=r"lists a value more than once"):
        ready(["1"], order=("1", "1"))


def test_a_million_distinct_labels_are_fast() -> None:
    values = pa.array(np.char.add("value-", np.random.default_rng(0).permutation(1_000_000).astype(str)))
    start = time.process_time()
    found = ready(values)
    assert time.process_time() - start < 15
    assert len(found.values) == 1_000_000
    assert found.values[found.codes()[5]].as_py() == values[5].as_py()


cell = st.one_of(
    st.none(),
    st.sampled_from(["", " ", "?", "1", "1.0", " 1", "01", "-2.5", "1e3", "2020-01-01", "x", "NaN", "1,000"]),
)


def _twin(value: str | None, kind: Kind, tokens: Sequence[str]) -> Any:
    """One cell, the slow obvious way."""
    if value is None or value == "" or value.strip() in tokens:
        return None
    if kind is Kind.NOMINAL:
        return value
    if not value.strip():
        return None
    return float(value) if kind is Kind.NUMERIC else dt.date.fromisoformat(value.strip()[:10])


@given(st.lists(cell, max_size=12), st.sampled_from([(), ("?",), ("?", "x", "1,000", "NaN")]), st.integers(1, 3))
def test_agrees_with_cell_by_cell_reading(values: list[str | None], tokens: tuple[str, ...], chunks: int) -> None:
    parts = [pa.array(values[i::chunks], pa.string()) for i in range(chunks)]
    flat = [v for part in parts for v in part.to_pylist()]
    column = pa.chunked_array([p.dictionary_encode() for p in parts])
    found = prepare(column, name="x", missing_values=tokens)
    assert found.data.to_pylist() == [_twin(v, found.kind, tokens) for v in flat]
    assert found.values.null_count == 0
    assert len(set(found.values.to_pylist())) == len(found.values)
    assert found.counts().sum() + found.missing == len(flat)
    # The canonical text of the values reads back as the same values.
    again = prepare(to_labels(found.data), name="x", kind=found.kind, missing_values=tokens)
    assert again.data.to_pylist() == found.data.to_pylist()


def test_errors_are_data_errors_with_exit_code_2() -> None:
    with pytest.raises(DataError) as caught:
        ready([CANARY], Kind.NUMERIC)
    assert caught.value.exit_code == 2
    assert CANARY not in str(caught.value.as_dict())
