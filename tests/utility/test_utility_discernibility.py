from __future__ import annotations

import numpy as np
from hypothesis import given
from support_utility import classes, comparisons

from hushtable.utility.discernibility import Discernibility


@given(comparisons())
def test_counts_indistinguishable_pairs(comparison):
    labels = comparison.labels.tolist()
    plain = sum(a == b for a in labels for b in labels if a >= 0 and b >= 0)
    assert Discernibility(suppressed=False).compute(comparison) == plain
    assert Discernibility().compute(comparison) == plain + labels.count(-1) * len(labels)


def test_exact_beyond_floats_and_int64():
    comparison = classes([0, 1])
    # cached sizes stand in for a table that no test can hold
    comparison.__dict__["sizes"] = np.array([2**33 + 1, 3], dtype=np.int64)
    got = Discernibility().compute(comparison)
    assert isinstance(got, int)
    assert got == (2**33 + 1) ** 2 + 9


def test_by_hand():
    comparison = classes([0, 0, 0, 1, 1, -1, -1])
    assert Discernibility().compute(comparison) == 9 + 4 + 2 * 7
    assert Discernibility(suppressed=False).compute(comparison) == 13
