from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of, weights_of

from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.pair_error import PairError


@given(comparisons())
def test_against_rows(comparison):
    rows = rows_of(comparison)
    sizes = [cells.column.coded.size for cells in comparison.cells]
    bins = [[code * min(size, 10) // size for code in range(size)] for size in sizes]
    distances, weights = [], weights_of(comparison)
    for a, b in combinations(range(len(sizes)), 2):
        before, after = np.zeros((10, 10)), np.zeros((10, 10))
        for row, weight in zip(rows, weights, strict=True):
            before[bins[a][row[a].code], bins[b][row[b].code]] += weight
            if not row[0].suppressed:
                for one in row[a].covered:
                    for other in row[b].covered:
                        after[bins[a][one], bins[b][other]] += weight / len(row[a].covered) / len(row[b].covered)
        left_out = sum(weight * row[0].suppressed for row, weight in zip(rows, weights, strict=True))
        distances.append((np.abs(before - after).sum() + left_out) / 2 / sum(weights))
    got = PairError().compute(comparison)
    assert got == pytest.approx(np.mean(distances) if distances else math.nan, nan_ok=True, abs=1e-9)
    assert not got > 1 + 1e-9


def test_by_hand_with_survey_weights():
    # a class of two records with weights 1 and 3, spread over (0, 0), (0, 1), (1, 0), (1, 1): one person on each
    coded = make_coded(Kind.NOMINAL, 2, False)
    release = make_comparison([([0, 1], coded, Sets(), 1.0)] * 2, [0, 0], weights=[1, 3])
    # instead of 1, 0, 0, 3
    assert PairError().compute(release) == (0 + 1 + 1 + 2) / 2 / 4
