from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError
from hushtable.models.average_risk import AverageRisk
from hushtable.models.base import Monotone
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

TABLE = Reference.of(99)
RISKS = st.sampled_from([None, 0.05, 0.1, 0.2, 0.25, 1 / 3, 0.5, 1.0])
SIZES = st.lists(st.integers(0, 40), min_size=1, max_size=6)


def twin(units, unit, average, maximum):
    """One table: both risks, as fractions."""
    sizes = [Fraction(u, unit) for u in units]
    if not all(sizes):
        return False
    fine = average is None or Fraction(len(sizes)) / sum(sizes) <= Fraction(average) * (1 + Fraction(1, 10**9))
    return fine and (maximum is None or 1 / min(sizes) <= Fraction(maximum) * (1 + Fraction(1, 10**9)))


def tables_of(tables, unit):
    offsets = np.cumsum([0, *map(len, tables)])
    units = np.array([u for t in tables for u in t], dtype=np.int64)
    return GroupStats(units, unit, tables=offsets)


@settings(max_examples=200)
@given(st.lists(SIZES, min_size=1, max_size=4), st.sampled_from([1, 6]), RISKS, RISKS)
def test_each_candidate_table_equals_the_slow_twin(tables, unit, average, maximum):
    if average is None and maximum is None:
        maximum = 0.5
    model = AverageRisk(average=average, maximum=maximum)
    got = model.table_satisfied(tables_of(tables, unit), TABLE).tolist()
    assert got == [twin(t, unit, average, maximum) for t in tables]


def test_comparison_is_exact():
    eleven = GroupStats.of(sizes=[11, 11])
    assert AverageRisk(maximum=0.09).table_satisfied(eleven, TABLE).tolist() == [False]
    assert AverageRisk(average=0.09).table_satisfied(eleven, TABLE).tolist() == [False]
    assert AverageRisk(average=1 / 11, maximum=1 / 11).table_satisfied(eleven, TABLE).tolist() == [True]
    assert AverageRisk(maximum=1e-5).table_satisfied(GroupStats.of(sizes=[99_999]), TABLE).tolist() == [False]


def test_the_average_is_over_people_not_over_classes():
    # classes of 1 and 9: two classes for ten people
    groups = GroupStats.of(sizes=[1, 9])
    assert AverageRisk(average=0.2).table_satisfied(groups, TABLE).tolist() == [True]
    assert AverageRisk(average=0.19).table_satisfied(groups, TABLE).tolist() == [False]


def test_the_small_classes_are_to_blame():
    groups = GroupStats.of(sizes=[2, 1, 20])
    model = AverageRisk(average=0.1)
    assert np.argsort(-model.score(groups, TABLE)).tolist() == [1, 0, 2]
    assert model.satisfied(groups, TABLE).tolist() == [False, False, True]


@settings(max_examples=100)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=6), st.integers(0, 5), RISKS, RISKS)
def test_adding_and_merging_keep_it(sizes, index, average, maximum):
    if average is None and maximum is None:
        average = 0.2
    model = AverageRisk(average=average, maximum=maximum)
    groups = GroupStats.of(sizes=sizes)
    if model.table_satisfied(groups, TABLE)[0]:
        more = groups.units.copy()
        more[index % len(sizes)] += 1
        assert model.table_satisfied(replace(groups, units=more), TABLE)[0]
        labels = np.maximum(np.arange(len(sizes)) - 1, 0)
        assert model.table_satisfied(groups.merge(labels, len(sizes) - 1), TABLE)[0]


def test_removing_records_may_violate():
    assert AverageRisk.monotone == Monotone.ADD | Monotone.MERGE
    model = AverageRisk(average=0.1)
    assert model.table_satisfied(tables_of([[10, 10], [10, 9]], 1), TABLE).tolist() == [True, False]


def test_a_table_without_classes_violates_nothing():
    assert AverageRisk(average=0.1).table_satisfied(tables_of([[], [3]], 1), TABLE).tolist() == [True, False]


@given(st.sampled_from([0.1, 0.4, 1 / 3, 1 / 7, 0.09]), st.integers(1, 80), st.sampled_from([1, 6]))
def test_no_smaller_group_than_the_minimum_is_satisfied(maximum, units, unit):
    model = AverageRisk(maximum=maximum)
    groups = GroupStats(np.array([units]), unit)
    if model.table_satisfied(groups, TABLE)[0]:
        assert units / unit >= model.min_group_size()
    assert AverageRisk(average=0.1).min_group_size() == 1
    assert AverageRisk(maximum=0.1).min_group_size() == 10


def test_infeasible_says_how_many_people_are_needed():
    assert AverageRisk(average=0.2, maximum=0.1).feasible(Reference.of(10)) is None
    reason = AverageRisk(average=0.2, maximum=0.09).feasible(Reference.of(11))
    assert reason is not None
    assert reason.message == "maximum=0.09 but the table has 11 people, and at least 12 are needed."
    assert AverageRisk(average=0.2).feasible(Reference.of(0)) is not None


def test_one_bound_must_be_given():
    with pytest.raises(ParameterError, match="needs the parameter 'average' or 'maximum'"):
        AverageRisk()
    with pytest.raises(ParameterError, match="'average' parameter of AverageRisk"):
        AverageRisk(average=0.0)
