from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of

from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import numbers_of
from hushtable.utility.sse import SquaredError


def slow_sse(comparison):
    rows = rows_of(comparison)
    error = records = 0.0
    for j, column in enumerate(comparison.table.quasi):
        numbers = numbers_of(column.coded)
        if numbers is None:
            continue
        cells = [row[j] for row in rows if not math.isnan(numbers[row[j].code])]
        values = [float(numbers[cell.code]) for cell in cells]
        if len(set(values)) < 2:
            continue
        mean = sum(values) / len(values)
        variance = sum((v - mean) ** 2 for v in values) / len(values)
        for cell, value in zip(cells, values, strict=True):
            inside = [float(numbers[c]) for c in cell.covered if not math.isnan(numbers[c])]
            guess = mean if cell.suppressed else (min(inside) + max(inside)) / 2
            error += (value - guess) ** 2 / variance
        records += len(cells)
    return 100 * error / records if records else math.nan


@given(comparisons())
def test_against_rows(comparison):
    assert SquaredError().compute(comparison) == pytest.approx(slow_sse(comparison), nan_ok=True, abs=1e-9)


def test_by_hand():
    # 0, 10 | 20, 40: midpoints 5 and 30; SSE 50 + 200, SST around 17.5: 875
    coded = make_coded(Kind.NUMERIC, 4, False, numbers=[0, 10, 20, 40])
    columns = [([0, 1, 2, 3], coded, Ranges(), 1.0)]
    assert SquaredError().compute(make_comparison(columns, [0, 0, 1, 1])) == pytest.approx(100 * 250 / 875)


def test_columns_are_standardised():
    small = make_coded(Kind.NUMERIC, 2, False, numbers=[0, 1])
    large = make_coded(Kind.NUMERIC, 2, False, numbers=[0, 1000])
    columns = [([0, 1], small, Ranges(), 1.0), ([0, 1], large, Ranges(), 1.0)]
    assert SquaredError().compute(make_comparison(columns, [0, 1])) == 0
    assert SquaredError().compute(make_comparison(columns, [0, 0])) == pytest.approx(100)
    half = make_comparison([columns[0], ([0, 1], make_coded(Kind.NOMINAL, 2, False), Sets(), 1.0)], [0, 0])
    assert SquaredError().compute(half) == pytest.approx(100)


def test_suppressed_records_are_estimated_by_the_mean():
    coded = make_coded(Kind.NUMERIC, 3, False, numbers=[0, 1, 8])
    columns = [([0, 1, 2], coded, Ranges(), 1.0)]
    assert SquaredError().compute(make_comparison(columns, [-1, -1, -1])) == pytest.approx(100)
    assert SquaredError().compute(make_comparison(columns, [0, 1, -1])) == pytest.approx(100 * 25 / 38)


def test_undefined_without_numbers_that_vary():
    nominal = ([0, 1], make_coded(Kind.ORDINAL, 2, False), Sets(), 1.0)
    constant = ([1, 1], make_coded(Kind.NUMERIC, 2, True), Sets(), 1.0)
    assert math.isnan(SquaredError().compute(make_comparison([nominal, constant], [0, 0])))


def test_huge_numbers_do_not_overflow():
    coded = make_coded(Kind.NUMERIC, 3, False, numbers=[-1.5e308, 0.0, 1.5e308])
    release = make_comparison([([0, 1, 2], coded, Ranges(), 1.0)], [0, 0, 1])
    assert SquaredError().compute(release) == pytest.approx(25)
