"""Likely hierarchies: numbers that are codes, bands of round numbers, classifications."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.schema.columns import Kind
from hushtable.schema.hierarchies import code_reason, round_cuts, suggest_hierarchy
from hushtable.schema.prepare import prepare
from hushtable.schema.profile import profile


def suggested(name: str, values: list[object], ignored: tuple[str, ...] = ()) -> tuple[Kind, object]:
    found = suggest_hierarchy(prepare(pa.array(values), name=name), ignored)
    return found.kind, found.hierarchy


@pytest.mark.parametrize(
    ("name", "numbers", "code"),
    [
        ("detailed industry recode", range(52), True),
        ("occupation", range(47), True),
        ("sex", (1, 2), True),
        ("region", range(1, 10), True),
        ("number of regions", range(9), False),
        ("wage per hour", range(50), False),
        ("industry", range(-5, 5), False),
        ("industry", range(2000), False),
        ("temperature", range(30), False),
        ("status", (1,), False),
    ],
)
def test_whole_numbers_that_are_codes(name: str, numbers: range, code: bool) -> None:
    assert bool(code_reason(name, np.array(list(numbers)))) is code


def test_fractions_are_no_codes() -> None:
    assert code_reason("industry", np.array([1.5, 2.0])) == ""


def money(zeros: int, amounts: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    drawn = np.concatenate([np.zeros(zeros, dtype=np.int64), np.exp(rng.normal(8, 1.5, amounts)).astype(np.int64) + 1])
    return np.unique(drawn, return_counts=True)


def test_money_gets_bands_of_round_numbers() -> None:
    numbers, counts = money(9000, 1000)
    levels = round_cuts(numbers, counts)
    sizes = [len(level) + 1 for level in levels]
    assert sizes[0] >= 10
    assert sizes == sorted(set(sizes), reverse=True)
    assert levels[-1] == [1]
    for cut in levels[0][1:]:
        assert len(f"{cut}".rstrip("0")) <= 2


def test_long_tails_without_zeros_get_them_too() -> None:
    numbers, counts = money(0, 3000)
    levels = round_cuts(numbers, counts)
    assert len(levels) >= 3
    assert levels[-1] == [cut for cut in levels[0] if cut in levels[-1]]


def test_even_numbers_and_few_of_them_get_none() -> None:
    assert round_cuts(np.arange(500), np.full(500, 3)) == []
    assert round_cuts(np.arange(10), np.array([900, *[50] * 9])) == []
    assert round_cuts(*money(30, 10)) == []


@given(
    st.lists(st.integers(-50, 10**6), min_size=1, max_size=60, unique=True),
    st.integers(0, 500),
    st.integers(1, 40),
    st.booleans(),
)
def test_cut_points_nest_and_have_many_records_on_both_sides(
    values: list[int], zeros: int, each: int, fractions: bool
) -> None:
    numbers = np.array(sorted({0, *values})) / (7 if fractions else 1)
    numbers = numbers if fractions else numbers.astype(np.int64)
    counts = np.where(numbers == 0, zeros, each)
    levels = round_cuts(numbers[counts > 0], counts[counts > 0])
    for fine, coarse in zip(levels, levels[1:], strict=False):
        assert set(coarse) < set(fine)
        assert coarse == sorted(coarse)
    # a policy is handed over: what it says of the numbers, many have in common
    for first, last in pairwise([-np.inf, *levels[0], np.inf] if levels else []):
        assert int(counts[(numbers >= first) & (numbers < last)].sum()) >= 20


def test_by_name_and_value() -> None:
    assert suggested("age", [3, 40, 80]) == (Kind.NUMERIC, {"standard": "ages"})
    assert suggested("age in days", [3, 4000, 8000])[1] != {"standard": "ages"}
    assert suggested("industry", [1, 2, 3]) == (Kind.NOMINAL, "flat")
    assert suggested("industry", list(range(1, 50))) == (Kind.NOMINAL, "frequency")
    assert suggested("postcode", ["14248", "14250", "14251"]) == (Kind.NOMINAL, {"prefix": "*"})
    assert suggested("plz", [14248, 14250, 14251]) == (Kind.NOMINAL, {"prefix": "*"})
    assert suggested("zip", ["14248", "14250", "14251"]) == (Kind.NOMINAL, {"standard": "us-zip3"})
    assert suggested("hair", ["brown", "red"]) == (Kind.NOMINAL, "flat")
    assert suggested("job", [f"job {i}" for i in range(17)]) == (Kind.NOMINAL, "frequency")
    assert suggested("x", list(range(200))) == (Kind.NUMERIC, {"intervals": {"quantiles": [16, 8, 4, 2]}})
    assert suggested("x", [1, 2, 3]) == (Kind.NUMERIC, {"intervals": {"quantiles": [2]}})
    assert suggested("x", [1, 3]) == (Kind.NUMERIC, "flat")
    assert suggested("x", [1, 2]) == suggested("x", [0, 1]) == (Kind.NOMINAL, "flat")
    assert suggested("weeks", [0, 1]) == (Kind.NUMERIC, "flat")


def test_missing_value_markers_are_no_values() -> None:
    assert suggested("country", ["Germany", "Peru", "Chile", "?"], ("?",)) == (Kind.NOMINAL, {"standard": "countries"})


def test_words_that_may_be_values_get_a_group() -> None:
    table = pa.table({"country": ["Germany", "Peru", "Chile", "Kenya", "Ghana", "unknown"] * 5})
    (column,) = profile(table).columns
    assert column.hierarchy == {"standard": {"classification": "countries", "others": "other"}}
    assert column.hierarchy_reason.endswith("; 1 other becomes the group 'other'")


def test_a_profile_says_why() -> None:
    table = pa.table({"diagnosis code": ["I21.9", "J45.0", "E11.9", "?"] * 5, "isco": [2211, 5223, 9112, 110] * 5})
    dx, isco = profile(table).columns
    assert dx.hierarchy == {"standard": "icd-10"}
    assert dx.hierarchy_reason == "its values are ICD-10 codes"
    assert isco.kind is Kind.NOMINAL
    assert isco.kind_reason == "its values are ISCO-08 codes of occupations"
