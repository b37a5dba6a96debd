from fractions import Fraction

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds, stats
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError
from hushtable.models.base import Monotone
from hushtable.models.m_confidentiality import MConfidentiality
from hushtable.table.reference import Attribute, Reference


@settings(max_examples=200, deadline=None)
@given(count_tables(), st.integers(2, 8), st.integers(2, 8))
def test_satisfied_equals_the_slow_twin(counts, m, k):
    if m > k:
        m, k = k, m
    expected = []
    for row in counts.matrix.tolist():
        people, size = sum(row) // counts.unit, Fraction(sum(row), counts.unit)
        block = min(size, Fraction(k))
        fits = all(Fraction(c, counts.unit) <= block / m for c in row)
        expected.append(bool(people >= m and fits))
    assert holds(MConfidentiality(m=m, k=k, on="disease"), counts.groups, counts.table()) == expected


def worst_block(row, k):
    """The adversary's best guess over all blocks of at least k records that the class may hide."""
    records = [v for v, c in enumerate(row) for _ in range(c)]
    best = Fraction(0)
    for value in set(records):
        others = len(records) - records.count(value)
        for size in range(min(k, len(records)), len(records) + 1):
            inside = min(records.count(value), size)
            if size - inside <= others:
                best = max(best, Fraction(inside, size))
    return best


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any), st.integers(2, 5))
def test_no_block_that_can_be_rebuilt_gives_more_confidence(row, k):
    table = Counts(np.array([row]), 1)
    score = MConfidentiality(m=2, k=k, on="disease").score(table.groups, table.table())[0]
    # a value with more than k records fills blocks alone; the score then says by how much it is too frequent
    assert min(float(score), 1.0) == pytest.approx(float(worst_block(row, k)))


def test_merging_two_satisfied_groups_may_violate():
    assert MConfidentiality.monotone is Monotone.NONE
    table = Counts(np.array([[1, 1, 1, 1], [1, 1, 1, 1]]), 1)
    model = MConfidentiality(m=4, k=4, on="disease")
    assert holds(model, table.groups, table.table()) == [True, True]
    assert holds(model, table.groups.whole(), table.table()) == [False]


def test_adding_or_removing_a_record_may_violate():
    table = Reference.of(4, Attribute.of("disease", ["a", "b"], [2, 2]))
    model = MConfidentiality(m=2, k=2, on="disease")
    assert holds(model, stats([[1, 1], [2, 1], [1, 0]]), table) == [True, False, False]


def test_removing_records_is_safe_above_k():
    # while the class keeps k records, only the counts matter, and they fall
    table = Reference.of(8, Attribute.of("disease", ["a", "b", "c", "d"], [2, 2, 2, 2]))
    model = MConfidentiality(m=2, k=4, on="disease")
    assert holds(model, stats([[2, 2, 2, 2], [2, 2, 2, 1], [2, 2, 1, 0], [2, 2, 0, 0]]), table) == [True] * 4


def test_a_class_smaller_than_k_is_a_block_of_its_own():
    table = Reference.of(4, Attribute.of("disease", ["a", "b"], [2, 2]))
    model = MConfidentiality(m=2, k=8, on="disease")
    assert holds(model, stats([[1, 0], [3, 1], [2, 2], [0, 0]]), table) == [False, False, True, False]


def test_infeasible():
    table = Reference.of(6, Attribute.of("disease", ["a", "b", "c"], [3, 2, 1]))
    model = MConfidentiality(m=3, k=3, on="disease")
    reason = model.feasible(table)
    assert reason is not None
    assert reason.message.startswith("m=3 but one value of 'disease' makes up 0.5 of the table")
    assert reason.hint == "Lower m to 2 or less."
    assert MConfidentiality(m=2, k=3, on="disease").feasible(table) is None
    few = MConfidentiality(m=7, k=7, on="disease").feasible(table)
    assert few is not None
    assert few.message == "m=7 but the table has 6 people."


def test_parameters():
    with pytest.raises(ParameterError, match="must not be above 'k'"):
        MConfidentiality(m=5, k=4)
    with pytest.raises(ParameterError, match="'m' parameter of MConfidentiality"):
        MConfidentiality(m=1, k=4)
    assert MConfidentiality(m=2, k=4).min_group_size() == 2
