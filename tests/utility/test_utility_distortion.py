from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import (
    comparisons,
    make_coded,
    make_comparison,
    rows_of,
    suppress_all,
    two_columns,
    without_steps,
)

from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.distortion import DistortionRatio
from hushtable.utility.ncp import Ncp
from hushtable.utility.prec import Prec


@given(comparisons())
def test_against_rows(comparison):
    cells = [cell for row in rows_of(comparison) for cell in row]
    ratio = sum(c.height for c in cells) / sum(c.top for c in cells)
    assert math.isclose(DistortionRatio().compute(comparison), ratio, abs_tol=1e-12)
    assert DistortionRatio().compute(suppress_all(comparison)) == 1


def test_by_hand():
    assert DistortionRatio().compute(two_columns([0, 0, 1, 1])) == pytest.approx((2 * 1 + 2 * 1) / (4 * 3))
    assert DistortionRatio().compute(two_columns([0, 1, 2, 2])) == 0


def test_is_not_one_minus_prec():
    release = two_columns([0, 0, 1, 1])
    assert DistortionRatio().compute(release) == pytest.approx(1 / 3)
    assert 1 - Prec().compute(release) == pytest.approx(3 / 8)


def test_sets_count_the_height_of_the_lowest_node_above_them():
    # leaves 1 and 2 lie under different nodes: only the root covers both, though the set has 2 of 4 leaves
    zips = make_coded(Kind.NOMINAL, 4, False, [[0, 0, 1, 1]])
    release = make_comparison([([1, 2], zips, Sets(), 1.0)], [0, 0])
    assert DistortionRatio().compute(release) == 1
    assert Ncp().compute(release) == pytest.approx(1 / 3)


def test_hierarchies_without_a_step_are_not_distorted():
    assert DistortionRatio().compute(without_steps([0, -1])) == 0
