from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of, suppress_all, two_columns, without_steps

from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.distortion import DistortionRatio
from hushtable.utility.prec import Prec


@given(comparisons())
def test_against_rows(comparison):
    cells = [cell for row in rows_of(comparison) for cell in row]
    kept = 1 - sum(c.height / c.top for c in cells) / len(cells)
    assert math.isclose(Prec().compute(comparison), kept, abs_tol=1e-12)
    assert Prec().compute(suppress_all(comparison)) == 0


def test_by_hand():
    assert Prec().compute(two_columns([0, 0, 1, 1])) == pytest.approx(1 - (2 * 1 / 2 + 2) / 8)
    assert Prec().compute(two_columns([0, 1, 2, 2])) == 1


def test_a_hierarchy_without_a_step_cannot_lose_precision():
    assert Prec().compute(without_steps([0, -1])) == 1


def test_a_range_is_as_high_as_all_that_it_covers():
    crossed = make_coded(Kind.ORDINAL, 4, False, [[0, 1, 0, 1]])
    for style, height in ((Ranges(), 2), (Sets(), 1)):
        given = make_comparison([([1, 3], crossed, style, 1.0)], [0, 0])
        assert Prec().compute(given) == 1 - height / 2
        assert DistortionRatio().compute(given) == height / 2
