from __future__ import annotations

import math

import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of

from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.non_uniform_entropy import NonUniformEntropy


def slow_bits(rows, suppress_all=False):
    total = 0.0
    for j in range(len(rows[0])):
        codes = [row[j].code for row in rows]
        for row in rows:
            hidden = suppress_all or row[j].suppressed
            inside = len(rows) if hidden else sum(code in row[j].covered for code in codes)
            total -= math.log2(codes.count(row[j].code) / inside)
    return total


@given(comparisons())
def test_against_rows(comparison):
    rows = rows_of(comparison)
    bits, most = slow_bits(rows), slow_bits(rows, suppress_all=True)
    assert math.isclose(NonUniformEntropy(bits=True).compute(comparison), bits, abs_tol=1e-9)
    share = NonUniformEntropy().compute(comparison)
    assert math.isclose(share, bits / most if most > 1e-12 else 0.0, abs_tol=1e-9)


def test_by_hand():
    # values a a a b c c: {a, b} covers 4 records, so a costs log2(4/3) and b log2(4); c is untouched
    coded = make_coded(Kind.NOMINAL, 3, False)
    release = make_comparison([([0, 0, 0, 1, 2, 2], coded, Sets(), 1.0)], [0, 0, 0, 0, 1, 1])
    bits = 3 * math.log2(4 / 3) + 2
    assert NonUniformEntropy(bits=True).compute(release) == pytest.approx(bits)
    entropy = 3 * 1 + math.log2(6) + 2 * math.log2(3)
    assert NonUniformEntropy().compute(release) == pytest.approx(bits / entropy)


def test_a_cell_counts_records_of_other_classes_that_it_covers():
    # class 0 publishes [0, 2] though nobody in it has 1; the record with 1 is in class 1
    coded = make_coded(Kind.NUMERIC, 3, False)
    release = make_comparison([([0, 2, 1], coded, Ranges(), 1.0)], [0, 0, 1])
    assert NonUniformEntropy(bits=True).compute(release) == pytest.approx(2 * math.log2(3))


def test_untouched_is_exactly_zero_and_suppressed_exactly_one():
    coded = make_coded(Kind.NOMINAL, 3, False)
    columns = [([0, 0, 1, 2, 2, 2, 1], coded, Sets(), 1.0)]
    assert NonUniformEntropy().compute(make_comparison(columns, [0, 0, 1, 2, 2, 2, 1])) == 0
    assert NonUniformEntropy().compute(make_comparison(columns, [-1] * 7)) == pytest.approx(1)


def test_constant_columns_have_nothing_to_lose():
    coded = make_coded(Kind.NOMINAL, 1, False)
    assert NonUniformEntropy().compute(make_comparison([([0, 0], coded, Nodes(), 1.0)], [0, -1])) == 0
