from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support_utility import comparisons, make_coded, make_comparison, rows_of

from hushtable.release.forms.intervals import Ranges
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import scaled_numbers


@given(comparisons(), st.data())
def test_cover_is_what_the_style_says(comparison, data):
    rows = rows_of(comparison)
    for j, cells in enumerate(comparison.cells):
        size = cells.column.coded.size
        weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)))
        sums, (low, high) = cells.covered(weights), cells.extent
        for i, label in enumerate(comparison.labels.tolist()):
            if label < 0:
                continue
            want = rows[i][j].covered
            assert sums[label] == sum(weights[c] for c in want)
            assert (low[label], high[label]) == (min(want), max(want))
            assert cells.leaves[label] == len(want)
            assert cells.height[label] == rows[i][j].height
            inside = cells.covers(np.full(size, label), np.arange(size))
            assert set(np.flatnonzero(inside).tolist()) == want


@given(comparisons())
def test_midpoints_leave_the_missing_value_out(comparison):
    rows = rows_of(comparison)
    for j, cells in enumerate(comparison.cells):
        coded = cells.column.coded
        numbers = scaled_numbers(coded)
        if numbers is None:
            assert coded.kind in (Kind.NOMINAL, Kind.ORDINAL)
            continue
        known = numbers[int(coded.missing) :]
        assert not coded.missing or np.isnan(numbers[0])
        assert len(known) < 2 or (known[0], known[-1]) == (0, 1)
        middle = cells.middles(numbers)
        for i, label in enumerate(comparison.labels.tolist()):
            want = [numbers[c] for c in rows[i][j].covered if not np.isnan(numbers[c])]
            if label >= 0 and want:
                assert np.isclose(middle[label], (min(want) + max(want)) / 2)
            elif label >= 0:
                assert np.isnan(middle[label])


def test_extreme_numbers_do_not_overflow():
    coded = make_coded(Kind.NUMERIC, 3, False, numbers=[-1.7e308, 0.0, 1.7e308])
    assert scaled_numbers(coded).tolist() == [0.0, 0.5, 1.0]
    comparison = make_comparison([([0, 1, 2], coded, Ranges(), 1.0)], [0, 0, 0])
    assert comparison.cells[0].middles(np.array([-1.7e308, 0.0, 1.7e308])).tolist() == [0.0]


def test_infinite_numbers_have_no_scale():
    assert scaled_numbers(make_coded(Kind.NUMERIC, 2, False, numbers=[0.0, np.inf])) is None
