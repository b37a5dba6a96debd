from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import comparisons, rows_of, two_columns

from hushtable.utility.wang_loss import WangLoss


@given(comparisons())
def test_against_rows(comparison):
    cells = [cell for row in rows_of(comparison) for cell in row]
    total = sum((len(cell.covered) - 1) / cell.domain for cell in cells)
    assert math.isclose(WangLoss(total=True).compute(comparison), total, abs_tol=1e-12)
    assert math.isclose(WangLoss().compute(comparison), total / len(cells), abs_tol=1e-12)


def test_by_hand():
    # the denominator is D (4 and 2), not D - 1
    assert WangLoss(total=True).compute(two_columns([0, 0, 1, 1])) == pytest.approx(2 * 1 / 4 + 2 * 1 / 2)
    assert WangLoss().compute(two_columns([0, 0, 1, 1])) == pytest.approx(1.5 / 8)
    assert WangLoss(total=True).compute(two_columns([-1, 0, 1, 1])) == pytest.approx(3 / 4 + 1 / 2)
    assert WangLoss().compute(two_columns([0, 1, 2, 2])) == 0
