from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.models.guarding_nodes import GuardingNodes
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

VALUES = ["flu", "cold", "HIV", "cancer"]
LEVELS = ([0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0])
NAMES = (VALUES, ["mild", "HIV", "cancer"], ["*"])  # an unbalanced tree repeats its leaves
UNDER = {
    "flu": {"flu"},
    "cold": {"cold"},
    "HIV": {"HIV"},
    "cancer": {"cancer"},
    "mild": {"flu", "cold"},
    "*": set(VALUES),
}
GUARDS = ["", "*", "HIV", "flu", "mild"]
RECORDS = st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(GUARDS), st.integers(1, 6)), max_size=8)
PLAIN = RECORDS.map(lambda records: [(v, g, 1) for v, g, _ in records])
KEY = ("disease", "guard")


def described(classes, unit=1):
    """Groups and reference of classes given as lists of (value, guard, units)."""
    size = len(VALUES) * len(GUARDS)
    matrix = np.zeros((len(classes), size), dtype=np.int64)
    for row, records in zip(matrix, classes, strict=True):
        for value, guard, units in records:
            row[VALUES.index(value) * len(GUARDS) + GUARDS.index(guard)] += units
    plain = Histogram.dense(matrix)
    groups = GroupStats(matrix.sum(axis=1), unit, {KEY: Histogram(plain.offsets, plain.values, plain.units, unit)})
    by_value = matrix.sum(axis=0).reshape(len(VALUES), len(GUARDS))
    attributes = (
        Attribute(
            ("disease",),
            VALUES,
            by_value.sum(axis=1),
            unit,
            levels=tuple(map(np.array, LEVELS)),
            level_labels=tuple(map(tuple, NAMES)),
        ),
        Attribute(("guard",), GUARDS, by_value.sum(axis=0), unit),
        Attribute(KEY, range(size), matrix.sum(axis=0), unit),
    )
    return groups, Reference(int(matrix.sum()), unit, {a.key: a for a in attributes})


def twin(records):
    """Record by record: what share of the class lies under its node?"""
    total = sum(units for _, _, units in records)
    if not total:
        return float("inf")
    shares = [Fraction(0)]
    for _, guard, _ in records:
        if guard:
            shares.append(Fraction(sum(u for v, _, u in records if v in UNDER[guard]), total))
    return float(max(shares))


def model(breach=0.5):
    return GuardingNodes(guard="guard", breach=breach, on="disease")


@settings(max_examples=200, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=4), st.sampled_from([1, 6]))
def test_score_equals_the_slow_twin(classes, unit):
    groups, table = described(classes, unit)
    assert model().score(groups, table).tolist() == pytest.approx([twin(c) for c in classes])


def test_guards_are_personal():
    # the same values; only the second class has somebody who minds
    careless = [("HIV", "", 1), ("HIV", "", 1), ("flu", "HIV", 1)]
    groups, table = described([[("HIV", "", 1), ("HIV", "", 1), ("flu", "", 1)], careless])
    assert model().score(groups, table).tolist() == pytest.approx([0, 2 / 3])
    assert model().satisfied(groups, table).tolist() == [True, False]


def test_an_inner_node_guards_all_values_under_it():
    groups, table = described([[("flu", "mild", 1), ("cold", "", 1), ("HIV", "", 2)]])
    assert model().score(groups, table).tolist() == [0.5]


def test_merging_two_satisfied_groups_may_violate():
    assert GuardingNodes.monotone is Monotone.NONE
    groups, table = described([[("HIV", "HIV", 1), ("flu", "", 1)], [("HIV", "", 2)]])
    assert model().satisfied(groups, table).tolist() == [True, True]
    assert model().satisfied(groups.whole(), table).tolist() == [False]


def test_adding_or_removing_a_record_may_violate():
    groups, table = described(
        [
            [("HIV", "HIV", 1), ("flu", "", 1)],
            [("HIV", "HIV", 1), ("flu", "", 1), ("HIV", "", 1)],
            [("HIV", "HIV", 1)],
            [],
        ]
    )
    assert model().satisfied(groups, table).tolist() == [True, False, False, False]


def groupings(items):
    if not items:
        yield []
        return
    for rest in groupings(items[1:]):
        yield [[items[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]]


@settings(max_examples=80, deadline=None)
@given(PLAIN.filter(lambda r: 0 < len(r) <= 5), st.sampled_from([0.0, 1 / 3, 0.5, 0.9]))
def test_infeasible_only_where_no_grouping_exists(records, breach):
    _, table = described([records])
    if model(breach).feasible(table) is not None:
        assert not any(all(twin(c) <= breach + 1e-9 for c in grouping) for grouping in groupings(records))


def test_infeasible_says_why():
    _, table = described([[("HIV", "HIV", 3), ("flu", "", 1)]])
    reason = model().feasible(table)
    assert reason is not None
    assert "make up 0.75 of their classes" in reason.message
    assert model(0.75).feasible(table) is None
    _, everything = described([[("HIV", "*", 1), ("flu", "", 1)]])
    reason = model().feasible(everything)
    assert reason is not None
    assert reason.hint == "Guard lower nodes."


def test_a_label_that_is_no_node_is_refused_without_showing_it():
    disease = Attribute.of("disease", ["flu", "HIV"], [1, 1])
    guard = Attribute.of("guard", ["", "secret wish", "HIV"], [1, 1, 0])
    joint = Attribute(KEY, range(6), np.array([1, 0, 0, 0, 1, 0]))
    with pytest.raises(PolicyError, match="'guard' holds 1 labels that are not nodes") as caught:
        model().feasible(Reference.of(2, disease, guard, joint))
    assert "secret" not in str(caught.value)


def test_without_a_hierarchy_values_guard_themselves():
    disease = Attribute.of("disease", ["flu", "HIV"], [1, 1])
    guard = Attribute.of("guard", ["", "HIV"], [1, 1])
    table = Reference.of(2, disease, guard, Attribute(KEY, range(4), np.array([1, 0, 0, 1])))
    assert model().score(table.whole(), table).tolist() == [0.5]


def test_binding_finds_the_one_column_beside_the_guard():
    free = GuardingNodes(guard="guard", breach=0.5)
    bound = AllOf.bound_to([free], ("guard", "disease"))
    assert bound.histogram_keys() == {KEY}
    with pytest.raises(PolicyError, match="needs one sensitive column, but 2 are possible"):
        free.bind(("guard", "disease", "income"))
    with pytest.raises(PolicyError, match="protects a sensitive column"):
        AllOf.bound_to([free], ("guard",))
    with pytest.raises(PolicyError, match="not a sensitive column"):
        AllOf.bound_to([model()], ("disease",))


def test_parameters():
    with pytest.raises(ParameterError, match="one column other than 'guard'"):
        GuardingNodes(guard="guard", breach=0.5, on="guard")
    with pytest.raises(ParameterError, match="one column other than 'guard'"):
        GuardingNodes(guard="guard", breach=0.5, on=("a", "b"))
    with pytest.raises(ParameterError, match="'breach' parameter"):
        GuardingNodes(guard="guard", breach=1.5)
