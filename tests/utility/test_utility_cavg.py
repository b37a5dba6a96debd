from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import classes, comparisons

from hushtable.utility.cavg import NormalisedClassSize


@given(comparisons())
def test_against_rows(comparison):
    released = [label for label in comparison.labels.tolist() if label >= 0]
    want = len(released) / len(set(released)) / comparison.k if released else math.nan
    assert NormalisedClassSize().compute(comparison) == pytest.approx(want, nan_ok=True)


def test_by_hand():
    assert NormalisedClassSize().compute(classes([0, 0, 0, 1, 1, -1, -1], k=2)) == pytest.approx(5 / 2 / 2)
    assert NormalisedClassSize().compute(classes([0, 0, 1, 1], k=2)) == 1
