from fractions import Fraction

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds, stats
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import Monotone
from hushtable.models.value_bounds import ValueBounds
from hushtable.table.reference import Attribute, Reference

BINARY = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))
BOUNDS = st.dictionaries(st.integers(0, 5), st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0]), min_size=1)


def named(bounds, n_values):
    return {f"v{code % n_values}": share for code, share in bounds.items()}


@settings(max_examples=150, deadline=None)
@given(counts=count_tables(), bounds=BOUNDS)
def test_score_equals_the_slow_twin(counts, bounds):
    n = counts.matrix.shape[1]
    bounds = named(bounds, n)
    model = ValueBounds(bounds=bounds, on="disease")
    expected = []
    for row in counts.matrix.tolist():
        shares = {f"v{i}": Fraction(c, sum(row)) if sum(row) else None for i, c in enumerate(row)}
        expected.append(
            max(float(shares[v]) - b for v, b in bounds.items()) if sum(row) else float("inf")  # type: ignore
        )
    assert model.score(counts.groups, counts.table()).tolist() == pytest.approx(expected)


@settings(max_examples=100, deadline=None)
@given(counts=count_tables(groups=(2, 2)))
def test_merging_satisfied_groups_keeps_them_satisfied(counts):
    if counts.matrix.sum(axis=1).all():
        shares = counts.matrix / counts.matrix.sum(axis=1, keepdims=True)
        model = ValueBounds(bounds={f"v{i}": float(s) for i, s in enumerate(shares.max(axis=0))}, on="disease")
        assert holds(model, counts.groups, counts.table()) == [True, True]
        assert holds(model, counts.groups.whole(), counts.table()) == [True]


def test_adding_or_removing_a_record_may_violate():
    assert ValueBounds.monotone is Monotone.MERGE
    model = ValueBounds(bounds={"HIV": 0.25}, on="disease")
    assert holds(model, stats([[1, 3], [2, 3], [1, 2]]), BINARY) == [True, False, False]


def test_each_value_has_its_own_bound():
    model = ValueBounds(bounds={"HIV": 0.25, "flu": 0.9}, on="disease")
    assert holds(model, stats([[1, 3], [2, 2], [0, 4], [0, 0]]), BINARY) == [True, False, False, False]


def test_infeasible_where_the_table_exceeds_a_bound():
    assert ValueBounds(bounds={"HIV": 0.25}, on="disease").feasible(BINARY) is None
    reason = ValueBounds(bounds={"HIV": 0.2}, on="disease").feasible(BINARY)
    assert reason is not None
    assert str(reason) == (
        "At most 0.2 of a class may have value 1 of 'bounds', but 0.25 of the whole table do in 'disease'. "
        "Raise the bound of value 1 to 0.25 or more."
    )
    empty = Reference.of(0, Attribute.of("disease", ["HIV"], [0]))
    reason = ValueBounds(bounds={"HIV": 0.2}, on="disease").feasible(empty)
    assert reason is not None
    assert "no values at all" in reason.message


def test_refusals():
    with pytest.raises(PolicyError, match="Column 'disease' has no value 'HVI'"):
        ValueBounds(bounds={"HVI": 0.2}, on="disease").feasible(BINARY)
    with pytest.raises(ParameterError, match=r"float in \[0, 1\]") as refused:
        ValueBounds(bounds={"HIV": 1.2})
    assert "HIV" not in str(refused.value)
    with pytest.raises(ParameterError, match="protects no value"):
        ValueBounds(bounds={})
    joint = Attribute(("a", "b"), ["0", "1"], np.array([1, 1]))
    with pytest.raises(PolicyError, match="taken jointly"):
        ValueBounds(bounds={"0": 0.5}, on=("a", "b")).feasible(Reference.of(2, joint))


def test_only_values_that_gain_nothing_contribute():
    counts = Counts(np.array([[2, 1, 1]]), 1)
    model = ValueBounds(bounds={"v0": 0.25}, on="disease")
    assert model.contributes(counts.groups, counts.table()).tolist() == [[False, True, True]]
