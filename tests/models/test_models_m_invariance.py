from __future__ import annotations

import itertools

import numpy as np
import pytest
from count_tables import count_tables, holds, stats
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.models.base import Monotone
from hushtable.models.m_invariance import MInvariance
from hushtable.table.reference import Attribute, Reference
from hushtable.testing.brute import set_partitions


def table_of(*counts):
    return Reference.of(sum(counts), Attribute.of("disease", "abcdefgh"[: len(counts)], counts))


@settings(max_examples=200, deadline=None)
@given(count_tables(), st.integers(2, 5))
def test_satisfied_equals_the_slow_twin(counts, m):
    expected = []
    for row in counts.matrix.tolist():
        different = sum(c > 0 for c in row)
        expected.append(all(c <= counts.unit for c in row) and min(different, sum(row) // counts.unit) >= m)
    assert holds(MInvariance(m=m, on="disease"), counts.groups, counts.table()) == expected


def test_at_most_one_of_each_value():
    model = MInvariance(m=2, on="disease")
    assert holds(model, stats([[1, 1, 0], [2, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]]), table_of(5, 3, 1)) == [
        True, False, False, True, False,
    ]  # fmt: skip


def test_it_survives_nothing():
    assert MInvariance.monotone is Monotone.NONE
    groups = stats([[1, 1], [1, 1]])
    model = MInvariance(m=2, on="disease")
    assert holds(model, groups, table_of(2, 2)) == [True, True]
    assert holds(model, groups.whole(), table_of(2, 2)) == [False]


def test_people_keep_their_signature():
    """What the classes share must be all that the richest of them has."""
    model, table = MInvariance(m=2, on="disease"), table_of(2, 2, 2)
    left = stats([[1, 1, 0], [1, 1, 0], [1, 0, 0]])
    assert model.composed(left, np.array([2, 3, 1]), table).tolist() == [True, False, False]


def test_nobodys_value_may_be_likelier_than_one_in_m():
    left = stats([[2, 2, 0], [2, 1, 1], [3, 1, 1], [1, 0, 0], [0, 0, 0]])
    model, widest = MInvariance(m=2, on="disease"), np.array([2, 3, 3, 1, 1])
    assert model.composed(left, widest, table_of(8, 4, 2)).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("counts", [(2, 1), (3, 1, 1), (1, 1, 1), (2, 2, 1), (2, 2), (4, 1, 1), (2, 1, 1), (1,)])
@pytest.mark.parametrize("m", [2, 3])
def test_infeasible_exactly_where_no_partition_fits(counts, m):
    """With one record per person m-eligibility decides; every partition of a tiny table is tried."""
    model, table = MInvariance(m=m, on="disease"), table_of(*counts)
    records = list(itertools.chain.from_iterable([v] * c for v, c in enumerate(counts)))
    fits = False
    for groups in set_partitions(len(records)):
        rows = [[sum(records[i] == v for i in group) for v in range(len(counts))] for group in groups]
        fits |= all(holds(model, stats(rows), table))
    assert (model.feasible(table) is None) == fits
    if not fits:
        assert f"m={m}" in model.feasible(table).message and model.feasible(table).hint
