from __future__ import annotations

import pytest
from hypothesis import given
from support_utility import classes, comparisons

from hushtable.utility.average_class_size import AverageClassSize


@given(comparisons())
def test_suppressed_records_are_one_class(comparison):
    labels = comparison.labels.tolist()
    assert AverageClassSize().compute(comparison) == pytest.approx(len(labels) / len(set(labels)))


def test_by_hand():
    assert AverageClassSize().compute(classes([0, 0, 0, 1, 1, -1, -1])) == pytest.approx(7 / 3)
    assert AverageClassSize().compute(classes([0, 0, 1, 1])) == 2
