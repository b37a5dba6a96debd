from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import comparisons, slow_ncp, suppress_all, two_columns

from hushtable.utility.loss import Loss
from hushtable.utility.ncp import Ncp


@given(comparisons())
def test_against_rows(comparison):
    ncp = slow_ncp(comparison)
    geometric = math.prod((1 + x) ** (1 / len(ncp)) for x in ncp) - 1
    assert math.isclose(Loss().compute(comparison), geometric, abs_tol=1e-12)


@given(comparisons())
def test_never_above_the_arithmetic_mean(comparison):
    assert 0 <= Loss().compute(comparison) <= Ncp().compute(comparison) + 1e-12
    assert Loss().compute(suppress_all(comparison)) == pytest.approx(1)


def test_by_hand():
    assert Loss().compute(two_columns([0, 0, 1, 1])) == pytest.approx(math.sqrt(7 / 6 * 3 / 2) - 1)
    assert Loss().compute(two_columns([0, 1, 2, 2])) == 0
