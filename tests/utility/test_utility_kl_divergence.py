from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of, weights_of

from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility import kl_divergence
from hushtable.utility.kl_divergence import KLDivergence


def slow_kl(comparison):
    """Every record of the release spreads its share over all tuples that its cells cover."""
    rows, weights = rows_of(comparison), weights_of(comparison)
    n = sum(weights)
    p = Counter()
    for row, weight in zip(rows, weights, strict=True):
        p[tuple(cell.code for cell in row)] += weight
    total = 0.0
    for row, count in p.items():
        q = 0.0
        for cells, weight in zip(rows, weights, strict=True):
            if all(code in cell.covered for code, cell in zip(row, cells, strict=True)):
                q += weight / n / math.prod(len(cell.covered) for cell in cells)
        total += count / n * math.log2(count / n / q)
    return total


@given(comparisons())
def test_against_rows(comparison):
    assert KLDivergence().compute(comparison) == pytest.approx(slow_kl(comparison), abs=1e-9)


@given(comparisons())
def test_chunks_do_not_change_the_result(comparison):
    whole = KLDivergence().compute(comparison)
    before = kl_divergence._AT_ONCE
    kl_divergence._AT_ONCE = 1
    try:
        assert KLDivergence().compute(comparison) == pytest.approx(whole, abs=1e-12)
    finally:
        kl_divergence._AT_ONCE = before


def test_by_hand():
    # a a b c, class {a, b} of three and class {c}: q(a) = q(b) = 3/8
    coded = make_coded(Kind.NOMINAL, 3, False)
    release = make_comparison([([0, 0, 1, 2], coded, Sets(), 1.0)], [0, 0, 0, 1])
    want = 1 / 2 * math.log2((1 / 2) / (3 / 8)) + 1 / 4 * math.log2((1 / 4) / (3 / 8))
    assert KLDivergence().compute(release) == pytest.approx(want)


def test_by_hand_with_survey_weights():
    # a a b c stand for 1 + 2, 3 and 2 people: q(a) = q(b) = 3/8, as p
    coded = make_coded(Kind.NOMINAL, 3, False)
    release = make_comparison([([0, 0, 1, 2], coded, Sets(), 1.0)], [0, 0, 0, 1], weights=[1, 2, 3, 2])
    assert KLDivergence().compute(release) == pytest.approx(0, abs=1e-12)


def test_overlapping_classes_share_their_tuples():
    # the interval [0, 2] of class 0 also covers class 1's record: q(1) = 2/3 x 1/3 + 1/3
    coded = make_coded(Kind.NUMERIC, 3, False)
    release = make_comparison([([0, 2, 1], coded, Ranges(), 1.0)], [0, 0, 1])
    want = 2 / 3 * math.log2((1 / 3) / (2 / 9)) + 1 / 3 * math.log2((1 / 3) / (5 / 9))
    assert KLDivergence().compute(release) == pytest.approx(want)


def test_untouched_is_zero():
    coded = make_coded(Kind.NUMERIC, 3, False)
    release = make_comparison([([0, 2, 1, 2], coded, Ranges(), 1.0)], [0, 1, 2, 1])
    assert KLDivergence().compute(release) == 0


def test_many_columns_do_not_underflow():
    coded = make_coded(Kind.NOMINAL, 200, False)
    columns = [(np.array([0, 1]), coded, Nodes(), 1.0)] * 150
    got = KLDivergence().compute(make_comparison(columns, [0, 0]))
    assert got == pytest.approx(150 * math.log2(200) - 1)
