"""Mixed data, odd data and the parameters that all microaggregation shares."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_microaggregation import points_run

from hushtable.algorithms.cluster.optimal_univariate import OptimalUnivariate
from hushtable.algorithms.cluster.space import Space
from hushtable.engines import local
from hushtable.errors import DataError, IncompatibleError, Infeasible, PolicyError
from hushtable.kernels import compile as kernels
from hushtable.kernels.metric import squared_distances
from hushtable.models.k_anonymity import KAnonymity
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan
from hushtable.testing import check_pair, check_release, random_case
from support_core import WORLD, plan_of, quasi, sensitive

NAMES = ["mdav", "cbfs", "v-mdav", "mst", "mu-approx", "k-first", "p-first"]
SIZES = ("S", "M", "L")
COLUMNS = (
    quasi("age", Kind.NUMERIC),
    quasi("country", Kind.NOMINAL, hierarchy=WORLD),
    quasi("size", Kind.ORDINAL, order=SIZES),
    quasi("visit", Kind.DATE),
    sensitive("illness"),
)


def mixed(n, seed):
    generator = np.random.default_rng(seed)

    def column(values, type_):
        drawn = [None if generator.random() < 0.1 else values[int(generator.integers(len(values)))] for _ in range(n)]
        return pa.array(drawn, type_)

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(d)) for d in generator.integers(0, 900, 60)]
    return pa.table(
        {
            "age": column(list(range(18, 90)), pa.int64()),
            "country": column(["China", "Japan", "France", "Italy", "Spain", "Fiji"], pa.string()),
            "size": column(list(SIZES), pa.string()),
            "visit": column(days, pa.date32()),
            "illness": pa.array(generator.choice(["flu", "cold"], n)),
        }
    )


@pytest.mark.parametrize("name", NAMES)
def test_mixed_data_keep_their_types(name):
    table = mixed(120, 3)
    outcome = local.run(table, plan_of([KAnonymity(k=4)], COLUMNS, algorithms.build(name, {"round": True})))
    shown = {f.name: f.type.value_type for f in outcome.published.schema if pa.types.is_dictionary(f.type)}
    assert shown["age"] == pa.int64() and shown["visit"] == pa.date32()
    assert outcome.verification.evidence[0].achieved >= 4
    source = sorted(table["illness"].to_pylist())
    assert sorted(outcome.published["illness"].to_pylist()) == source
    for column in ("age", "country", "size", "visit"):
        gaps = outcome.published[column].null_count
        assert gaps < table[column].null_count  # only groups without any value publish none
    floats = local.run(table, plan_of([KAnonymity(k=4)], COLUMNS, algorithms.build(name)))
    assert floats.published["age"].type.value_type == pa.float64()


@pytest.mark.parametrize("name", ["mdav", "p-first"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(20, 200))
def test_the_index_gives_the_same_groups_on_mixed_data(name, seed, n):
    table, before = mixed(n, seed), kernels.COMPILE_FROM
    found = []
    try:
        for threshold in (0, 1 << 62):
            kernels.COMPILE_FROM = threshold
            plan = plan_of([KAnonymity(k=3)], COLUMNS, algorithms.build(name))
            found.append(local.run(table, plan).partition.labels.tolist())
    finally:
        kernels.COMPILE_FROM = before
    assert found[0] == found[1]


def space_of(table, columns, **more):
    encoded = local.problem_of(table, plan_of([KAnonymity(k=2)], columns)).table
    return Space.of(encoded, np.arange(encoded.n_sample), **more)


def test_distances_of_mixed_records():
    table = pa.table(
        {
            "age": pa.array([10, 20, None, 40]),
            "country": pa.array(["China", "Japan", "Spain", None]),
            "size": pa.array(["S", "M", "L", "L"]),
            "visit": pa.array([datetime.date(2020, 1, d) for d in (1, 2, 3, 31)]),
            "illness": pa.array(["flu"] * 4),
        }
    )
    space = space_of(table, COLUMNS, scale="range")
    away = squared_distances(space.points, space.points[0], space.metric)
    day = 1 / 30
    expected = [0.0, (1 / 3) ** 2 + 0.25 + 0.25 + day**2, 1 + 1 + 1 + (2 * day) ** 2, 1 + 1 + 1 + 1]
    assert away == pytest.approx(expected)
    flat = space_of(table, COLUMNS, scale="none", hierarchical=False)
    away = squared_distances(flat.points, flat.points[0], flat.metric)
    assert away == pytest.approx([0.0, 100 + 1 + 1 + 1, 1 + 1 + 4 + 4, 900 + 1 + 4 + 900])


def test_weights_multiply_distances():
    rows = pa.table({"x": [0.0, 0.0, 3.0, 3.0], "y": [0.0, 4.0, 0.0, 4.0]})
    plain = local.run(rows, plan_of([KAnonymity(k=2)], (quasi("x", weight=1.0), quasi("y", weight=1.0)),
                                    algorithms.build("mdav", {"scale": "none"})))  # fmt: skip
    assert plain.partition.labels.tolist() == [0, 1, 0, 1] or plain.partition.labels.tolist() == [1, 0, 1, 0]
    heavy = local.run(rows, plan_of([KAnonymity(k=2)], (quasi("x", weight=2.0), quasi("y", weight=1.0)),
                                    algorithms.build("mdav", {"scale": "none"})))  # fmt: skip
    assert heavy.partition.labels[0] == heavy.partition.labels[1] != heavy.partition.labels[2]
    for bad in (0, -1):
        with pytest.raises(PolicyError, match="weight"):
            Policy(quasi={"x": {"weight": bad}}, models=[KAnonymity(k=2)], algorithm="mdav")


@pytest.mark.parametrize("name", [*NAMES, "optimal-univariate"])
class TestOddData:
    def run(self, values, name, type_=None, k=2, **parameters):
        table = pa.table({"x": pa.array(values, type_)})
        algorithm = algorithms.build(name, parameters)
        return local.run(table, plan_of([KAnonymity(k=k)], (quasi("x", Kind.NUMERIC),), algorithm))

    def test_a_constant_column(self, name):
        assert self.run([7] * 9, name).published["x"].to_pylist() == [7] * 9

    def test_fewer_than_2k_records(self, name):
        assert self.run([1, 2, 6], name).published["x"].to_pylist() == [3, 3, 3]
        with pytest.raises(Infeasible, match="k=4 but the table has 3 people"):
            self.run([1, 2, 6], name, k=4)

    def test_sentinels_are_values_and_nan_is_missing(self, name):
        outcome = self.run([-999.0, -999.0, 1.0, 2.0, 3.0, float("nan")], name, pa.float64())
        shown = outcome.published["x"].to_pylist()
        assert -999.0 in shown and None not in shown

    def test_infinite_numbers_are_refused(self, name):
        with pytest.raises(DataError, match="Column 'x' has infinite numbers"):
            self.run([1.0, 2.0, 3.0, float("inf")], name)

    def test_integers_beyond_floats(self, name):
        big = 2**62
        values = [big, big + 2, big + 2**40, big + 2**40 + 4]
        shown = self.run(values, name, pa.int64(), round=True).published["x"].to_pylist()
        assert shown == [big + 1, big + 1, big + 2**40 + 2, big + 2**40 + 2]

    def test_text_in_a_numeric_column(self, name):
        with pytest.raises(DataError, match="'x'"):
            self.run(["1", "2", "many", "4"], name)

    def test_numbers_too_far_apart_for_no_scale(self, name):
        with pytest.raises(DataError, match="too far apart"):
            self.run([-1e300, 0.0, 1.0, 1e300], name, scale="none")
        assert self.run([-1e300, -1e300, 1e300, 1e300], name).verification.classes == 2

    def test_all_values_missing(self, name):
        assert self.run([None] * 4, name, pa.float64()).published["x"].to_pylist() == [None] * 4


def test_entities_are_counted_as_people():
    table = pa.table({"id": [1, 1, 2, 2, 3, 3, 4, 4], "x": [0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3]})
    columns = (ColumnPlan("id", Role.IDENTIFIER), quasi("x", Kind.NUMERIC))
    plan = plan_of([KAnonymity(k=2)], columns, algorithms.build("mdav"), entity="id")
    outcome = local.run(table, plan)
    assert outcome.partition.n_groups == 2
    assert outcome.verification.evidence[0].achieved == 2.0


def test_optimal_univariate_refuses_what_has_no_line():
    with pytest.raises(IncompatibleError, match="exactly one quasi-identifier, and the policy has 2"):
        plan_of([KAnonymity(k=2)], (quasi("x"), quasi("y")), OptimalUnivariate())
    with pytest.raises(IncompatibleError, match="labels of 'x' have no order"):
        plan_of([KAnonymity(k=2)], (quasi("x", Kind.NOMINAL),), OptimalUnivariate())
    with pytest.raises(IncompatibleError, match="labels of 'x' have no order"):
        local.run(pa.table({"x": ["b", "a", "b", "a"]}), plan_of([KAnonymity(k=2)], (quasi("x"),), OptimalUnivariate()))


def test_optimal_univariate_keeps_the_contract_where_there_is_one_column():
    done = 0
    for seed in range(40):
        case = random_case(seed, 24, entity=seed % 3 == 2)
        answer = check_release([KAnonymity(k=3)], OptimalUnivariate(), case)
        done += answer.value == "released"
    assert done >= 4
    assert check_pair(KAnonymity, OptimalUnivariate, tables=4)["brute force"]


def test_coinciding_groups_after_rounding_are_one_class():
    rows = [[v] for v in (0.0, 1.0, 0.0, 1.0, 9.0, 9.0)]
    table = pa.table({"x": pa.array([int(r[0]) for r in rows])})
    columns = (quasi("x", Kind.NUMERIC),)
    rounded = local.run(table, plan_of([KAnonymity(k=2)], columns, algorithms.build("mdav", {"round": True})))
    assert rounded.published["x"].type.value_type == pa.int64()
    assert rounded.verification.ok
    assert points_run(rows, [KAnonymity(k=2)], "mdav").verification.ok
