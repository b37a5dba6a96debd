from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from support_utility import comparisons, rows_of

from hushtable.utility.pair_error import PairError


@given(comparisons())
def test_against_rows(comparison):
    rows = rows_of(comparison)
    sizes = [cells.column.coded.size for cells in comparison.cells]
    bins = [[code * min(size, 10) // size for code in range(size)] for size in sizes]
    distances = []
    for a, b in combinations(range(len(sizes)), 2):
        before, after = np.zeros((10, 10)), np.zeros((10, 10))
        for row in rows:
            before[bins[a][row[a].code], bins[b][row[b].code]] += 1
            if not row[0].suppressed:
                for one in row[a].covered:
                    for other in row[b].covered:
                        after[bins[a][one], bins[b][other]] += 1 / len(row[a].covered) / len(row[b].covered)
        left_out = sum(row[0].suppressed for row in rows)
        distances.append((np.abs(before - after).sum() + left_out) / 2 / len(rows))
    got = PairError().compute(comparison)
    assert got == pytest.approx(np.mean(distances) if distances else math.nan, nan_ok=True, abs=1e-9)
    assert not got > 1 + 1e-9
