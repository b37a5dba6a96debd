import math

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds, stats
from hypothesis import given, settings

from hushtable.errors import ParameterError
from hushtable.models.base import Monotone
from hushtable.models.delta_disclosure import DeltaDisclosure
from hushtable.table.reference import Attribute, Reference

BINARY = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))


def twin(row, units):
    if not sum(row):
        return math.inf
    gaps = [0.0]
    for count, overall in zip(row, units, strict=True):
        if overall:
            q, p = count / sum(row), overall / sum(units)
            gaps.append(abs(math.log(q / p)) if q else math.inf)
        elif count:
            gaps.append(math.inf)
    return max(gaps)


@settings(max_examples=150, deadline=None)
@given(counts=count_tables(values=(1, 4)))
def test_score_equals_the_slow_twin(counts):
    units = counts.matrix.sum(axis=0).tolist()
    score = DeltaDisclosure(delta=1, on="disease").score(counts.groups, counts.table())
    assert score.tolist() == pytest.approx([twin(r, units) for r in counts.matrix.tolist()])


@settings(max_examples=100, deadline=None)
@given(counts=count_tables(groups=(2, 2), values=(1, 3)))
def test_merging_satisfied_groups_keeps_them_satisfied(counts):
    filled = Counts(counts.matrix + 1, counts.unit)
    other = Counts(filled.matrix * np.array([[1], [5]]), counts.unit).table()
    worst = float(DeltaDisclosure(delta=1, on="disease").score(filled.groups, other).max())
    model = DeltaDisclosure(delta=worst + 1e-6, on="disease")
    assert holds(model, filled.groups, other) == [True, True]
    assert holds(model, filled.groups.whole(), other) == [True]


def test_the_bound_is_strict():
    assert holds(DeltaDisclosure(delta=math.log(2), on="disease"), stats([[2, 2]]), BINARY) == [False]
    assert holds(DeltaDisclosure(delta=math.log(2) + 1e-6, on="disease"), stats([[2, 2]]), BINARY) == [True]


def test_an_absent_and_a_foreign_value_are_infinite():
    table = Reference.of(8, Attribute.of("disease", ["a", "b", "c"], [2, 6, 0]))
    assert DeltaDisclosure(delta=1, on="disease").score(stats([[0, 4, 0], [1, 3, 1]]), table).tolist() == [
        math.inf,
        math.inf,
    ]


def test_missing_values_contribute_before_the_score_moves():
    table = Reference.of(9, Attribute.of("disease", ["a", "b", "c", "never"], [3, 3, 3, 0]))
    model = DeltaDisclosure(delta=0.1, on="disease")
    groups = stats([[2, 0, 0, 0], [3, 1, 2, 0], [0, 0, 0, 0]])
    assert model.contributes(groups, table).tolist() == [
        [False, True, True, False],
        [False, True, False, False],
        [True, True, True, False],
    ]


def test_adding_or_removing_a_record_may_violate():
    assert DeltaDisclosure.monotone is Monotone.MERGE
    model = DeltaDisclosure(delta=0.1, on="disease")
    assert holds(model, stats([[1, 3], [2, 3], [1, 2]]), BINARY) == [True, False, False]


@given(counts=count_tables())
def test_whole_table_is_always_feasible(counts):
    assert DeltaDisclosure(delta=0.01, on="disease").feasible(counts.table()) is None


def test_refusals():
    empty = Reference.of(0, Attribute.of("disease", ["a"], [0]))
    reason = DeltaDisclosure(delta=1, on="disease").feasible(empty)
    assert reason is not None
    assert "no values at all" in reason.message
    below_tolerance = DeltaDisclosure(delta=1e-12, on="disease").feasible(BINARY)
    assert below_tolerance is not None
    assert "even the whole table" in below_tolerance.message
    with pytest.raises(ParameterError, match="'delta' parameter of DeltaDisclosure must be a float > 0"):
        DeltaDisclosure(delta=0)
