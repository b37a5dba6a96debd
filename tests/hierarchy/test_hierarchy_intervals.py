from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.intervals import (
    EqualIntervals,
    Intervals,
    decimals,
    equal_frequency_cuts,
    first_at_least,
    scaled_text,
)
from hushtable.schema.columns import Kind


def code(recipe, values, arrow=None, missing=False, counts=None):
    array = pa.array(values, arrow)
    counts = np.ones(len(array), dtype=np.int64) if counts is None else np.array(counts)
    return recipe.code(array, Kind.NUMERIC, missing=missing, column="age", counts=counts)


def labels_of(coded, level):
    return dict(
        zip(coded.values.to_pylist(), (coded.labels[level][n] for n in coded.levels[level].tolist()), strict=True)
    )


def test_widths_with_negative_numbers():
    coded = code(Intervals(widths=(5, 10)), [-11, -10, -1, 0, 4, 5])
    assert labels_of(coded, 1) == {
        -11: "[-15, -10)",
        -10: "[-10, -5)",
        -1: "[-5, 0)",
        0: "[0, 5)",
        4: "[0, 5)",
        5: "[5, 10)",
    }
    assert coded.labels[2] == ("[-20, -10)", "[-10, 0)", "[0, 10)")
    assert coded.labels[3] == ("*",)


def test_floats_that_meet_a_bound_belong_to_the_interval_that_begins_there():
    coded = code(Intervals(widths=(0.1,)), [0.3, 0.1 + 0.2, 0.7, 0.1 * 3 + 0.4, 0.29999999999999993])
    got = labels_of(coded, 1)
    assert got[0.3] == got[0.1 + 0.2] == "[0.3, 0.4)"
    assert got[0.7] == "[0.7, 0.8)"
    assert got[0.29999999999999993] == "[0.2, 0.3)"


def test_integers_beyond_the_reach_of_floats():
    big = 2**53
    coded = code(Intervals(widths=(1, 2)), [big, big + 1, big + 2, 2**63 - 1, -(2**63)])
    got = labels_of(coded, 1)
    assert got[big + 1] == f"[{big + 1}, {big + 2})"
    assert labels_of(coded, 2)[big + 1] == f"[{big}, {big + 2})"
    assert got[2**63 - 1] == f"[{2**63 - 1}, {2**63})"
    assert len(set(got.values())) == 5


def test_cuts_beyond_the_reach_of_floats():
    big = 2**53 + 1
    assert labels_of(code(Intervals(cuts=(big,)), [big - 1, big]), 1) == {big - 1: f"< {big}", big: f">= {big}"}


def test_huge_and_tiny_floats():
    coded = code(Intervals(widths=(1, 10)), [1e300, -1e300, 5e-324, 0.5])
    got = labels_of(coded, 1)
    assert got[5e-324] == got[0.5] == "[0, 1)"
    assert len(set(got.values())) == 3


def test_open_ends_clip_the_intervals_they_cut():
    coded = code(Intervals(widths=(5, 10), low=22, high=33.5), [3, 21, 22, 24, 30, 33, 34, 99])
    assert coded.labels[1] == ("< 22", "[22, 25)", "[30, 33.5)", ">= 33.5")
    assert coded.labels[2] == ("< 22", "[22, 30)", "[30, 33.5)", ">= 33.5")


def test_origin_shifts_the_intervals():
    assert code(Intervals(widths=(10,), origin=18), [17, 18, 27, 28]).labels[1] == ("[8, 18)", "[18, 28)", "[28, 38)")


def test_whole_floats_are_printed_without_a_point():
    assert code(Intervals(widths=(5.0,)), [20.0, 24.5]).labels[:2] == (("20", "24.5"), ("[20, 25)",))


def test_a_flat_list_of_cuts_is_one_level():
    coded = code(Intervals(cuts=(20, 30)), [10, 20, 29, 30])
    assert coded.labels[1:] == (("< 20", "[20, 30)", ">= 30"), ("*",))
    assert Intervals(cuts=(20, 30)) == Intervals(cuts=((20, 30),))


def test_cuts_with_open_ends():
    coded = code(Intervals(cuts=((0, 20, 30, 99), (20,)), low=10, high=50), [5, 15, 25, 40, 60])
    assert coded.labels[1] == ("< 10", "[10, 20)", "[20, 30)", "[30, 50)", ">= 50")
    assert coded.labels[2] == ("< 10", "[10, 20)", "[20, 50)", ">= 50")


def test_quantiles_balance_records_not_values():
    coded = code(Intervals(quantiles=(4, 2)), [1, 2, 3, 4, 5], counts=[10, 1, 1, 4, 4])
    assert coded.labels[1] == ("< 2", "[2, 5)", ">= 5")
    assert coded.labels[2] == ("< 2", ">= 2")


@settings(max_examples=200, deadline=None)
@given(
    counts=st.lists(st.integers(1, 9), min_size=1, max_size=20),
    bins=st.sampled_from([(2,), (4, 2), (6, 3), (8, 4, 2), (16, 4)]),
)
def test_quantiles_agree_with_the_obvious_search(counts, bins):
    total, below = sum(counts), np.cumsum(counts)[:-1].tolist()
    finest = bins[0]
    cuts = []
    for j in range(1, finest):
        if below:
            best = min(range(len(below)), key=lambda i: (abs(Fraction(j * total, finest) - below[i]), i))
            cuts.append(best + 1)
    got = equal_frequency_cuts(np.arange(len(counts)), np.array(counts), bins)
    step = [finest // n for n in bins]
    assert got == [sorted(set(cuts[s - 1 :: s])) for s in step]
    for fine, coarse in pairwise(got):
        assert set(coarse) <= set(fine)


@settings(max_examples=300, deadline=None)
@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-99, 99), min_size=1, unique=True).map(sorted),
    origin=st.integers(-(2**64), 2**64) | st.integers(-9, 9),
    width=st.integers(1, 2**64) | st.integers(1, 9),
    digits=st.integers(0, 3),
)
def test_integers_find_their_interval_exactly(values, origin, width, digits):
    got = EqualIntervals(origin, width, digits).index(np.array(values, dtype=np.int64)).tolist()
    assert got == [(v * 10**digits - origin) // width for v in values]


@settings(max_examples=300, deadline=None)
@given(
    numerators=st.lists(st.integers(-(10**6), 10**6), min_size=1, unique=True),
    width=st.integers(1, 300),
    origin=st.integers(-50, 50),
    digits=st.integers(0, 4),
)
def test_decimal_floats_find_the_interval_of_the_decimal(numerators, width, origin, digits):
    values = np.unique(np.array([n / 10**digits for n in numerators]))
    got = EqualIntervals(origin, width, digits).index(values).tolist()
    assert got == [(n - origin) // width for n in sorted(numerators)]


@given(st.lists(st.floats(allow_nan=False), unique=True).map(sorted), st.floats(allow_nan=False))
def test_first_at_least_agrees_with_a_scan(values, bound):
    assert first_at_least(np.array(values, dtype=np.float64), bound) == sum(v < bound for v in values)


@pytest.mark.parametrize(("bound", "expected"), [(2**70, 2), (-(2**70), 0), (0.5, 1), (Fraction(1, 3), 1), (0, 0)])
def test_first_at_least_of_integers(bound, expected):
    assert first_at_least(np.array([0, 5]), bound) == expected


def test_bounds_beyond_all_floats():
    assert first_at_least(np.array([1.0, 2.0]), 10**400) == 2
    assert first_at_least(np.array([1.0, 2.0]), -(10**400)) == 0


@given(st.integers(-(10**30), 10**30), st.integers(0, 12))
def test_scaled_text_reads_back(number, digits):
    text = scaled_text(number, digits)
    assert Fraction(text) == Fraction(number, 10**digits)
    assert not ("." in text and text.endswith("0"))
    assert decimals(number) == 0


@pytest.mark.parametrize("widths", [(5, 7), (0.1, 0.25), (10, 5), (5, 5)])
def test_widths_that_do_not_nest(widths):
    with pytest.raises(HierarchyError, match=r"do not nest: the width .* at level 2") as caught:
        Intervals(widths=widths)
    assert caught.value.code == "not-nested"


def test_decimal_widths_nest_although_their_float_quotient_is_not_whole():
    assert code(Intervals(widths=(0.1, 0.3)), [0.25, 0.31]).labels[2] == ("[0, 0.3)", "[0.3, 0.6)")


def test_cuts_and_quantiles_that_do_not_nest():
    with pytest.raises(HierarchyError, match="cuts at level 2 are not a proper subset"):
        Intervals(cuts=((10, 20), (15,)))
    with pytest.raises(HierarchyError, match="4 quantiles at level 2 do not divide 10"):
        Intervals(quantiles=(10, 4))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "Got none"),
        ({"widths": (5,), "cuts": (1,)}, "Got widths and cuts"),
        ({"widths": (0,)}, "must be numbers > 0"),
        ({"widths": ()}, "must be numbers > 0"),
        ({"widths": (float("inf"),)}, "must be numbers > 0"),
        ({"cuts": (3, 1)}, "must be ascending"),
        ({"cuts": ()}, "must be ascending"),
        ({"cuts": (1, (2, 3))}, "not both"),
        ({"quantiles": (1,)}, "int >= 2"),
        ({"quantiles": (4,), "origin": 1}, "cannot be used with 'quantiles'"),
        ({"widths": (5,), "low": 9, "high": 9}, "low < high"),
        ({"widths": (5,), "high": float("inf")}, "finite"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ParameterError, match=message):
        Intervals(**params)


def test_text_is_refused_with_the_column_and_a_remedy():
    with pytest.raises(HierarchyError, match=r"'age' .* not numbers") as caught:
        Intervals(widths=(5,)).code(pa.array(["x"]), Kind.NOMINAL, missing=False, column="age", counts=np.array([1]))
    assert "kind: numeric" in caught.value.hint


def test_infinite_values_need_open_ends():
    values = [1.0, float("inf"), float("-inf")]
    with pytest.raises(HierarchyError, match="'age' has 2 infinite values"):
        code(Intervals(widths=(5,)), values)
    with pytest.raises(HierarchyError, match="'age' has 1 infinite values"):
        code(Intervals(quantiles=(2,), low=0), values)
    coded = code(Intervals(widths=(5,), low=0, high=100), values)
    assert coded.labels[1] == ("< 0", "[0, 5)", ">= 100")


def test_missing_and_a_single_value():
    coded = code(Intervals(widths=(5,)), [7], missing=True)
    assert coded.labels == ((None, "7"), (None, "[5, 10)"), ("*",))
    assert code(Intervals(quantiles=(4, 2)), [7], missing=True).labels == (
        (None, "7"),
        (None, "*"),
        (None, "*"),
        ("*",),
    )
