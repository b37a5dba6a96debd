from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of, slow_ncp, suppress_all, two_columns

from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind
from hushtable.utility.ncp import Ncp, ncp_of_columns


@given(comparisons())
def test_against_rows(comparison):
    ncp = slow_ncp(comparison)
    assert np.allclose(ncp_of_columns(comparison), ncp)
    assert math.isclose(Ncp().compute(comparison), sum(ncp) / len(ncp), abs_tol=1e-12)
    weights = [c.weight for c in comparison.table.quasi]
    weighted = sum(w * x for w, x in zip(weights, ncp, strict=True)) / sum(weights)
    assert math.isclose(Ncp(weighted=True).compute(comparison), weighted, abs_tol=1e-12)


@given(comparisons())
def test_runs_from_zero_to_one(comparison):
    assert 0 <= Ncp().compute(comparison) <= 1 + 1e-12
    assert Ncp().compute(suppress_all(comparison)) == 1
    if all(len(cell.covered) == 1 for row in rows_of(comparison) for cell in row if not cell.suppressed):
        assert Ncp().compute(comparison) == pytest.approx(comparison.n_suppressed / comparison.n)


def test_by_hand():
    release = two_columns([0, 0, 1, 1])
    assert ncp_of_columns(release).tolist() == pytest.approx([(1 / 3) / 2, 1 / 2])
    assert Ncp().compute(release) == pytest.approx(1 / 3)
    assert Ncp(weighted=True).compute(release) == pytest.approx((3 / 6 + 1 / 2) / 4)
    assert Ncp().compute(two_columns([0, 1, 2, 2])) == 0


def test_one_leaf_costs_only_when_suppressed():
    one = make_coded(Kind.NOMINAL, 1, False)
    assert Ncp().compute(make_comparison([([0, 0], one, Nodes(), 1.0)], [0, 0])) == 0
    assert Ncp().compute(make_comparison([([0, 0], one, Nodes(), 1.0)], [0, -1])) == 0.5


def test_weights_of_zero_leave_the_weighted_mean_undefined():
    coded = make_coded(Kind.NOMINAL, 2, False)
    release = make_comparison([([0, 1], coded, Nodes(), 0.0)], [0, 0])
    assert math.isnan(Ncp(weighted=True).compute(release))
