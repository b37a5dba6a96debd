"""Mondrian: order, models, regions, people, and its compiled kernels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_mondrian import run

from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.engines import local
from hushtable.errors import Infeasible
from hushtable.kernels import compile as compiling
from hushtable.models.alp_dif import AlpDif
from hushtable.models.average_risk import AverageRisk
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan
from support_core import (
    PEOPLE,
    WHO,
    people_table,
    plan_of,
    quasi,
    random_people,
    sensitive,
)


def published(table, plan):
    return local.run(table, plan).published.to_pydict()


ALGORITHMS = [Mondrian(), Mondrian(mode="relaxed"), Mondrian(nominal="children")]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
@pytest.mark.parametrize("suppression", [0.0, 0.2])
def test_row_order_and_column_order_do_not_matter(algorithm, suppression):
    table = random_people(120, seed=3, missing=0.05)
    table = table.append_column("visits", pa.array(np.arange(120) % 3))
    table = table.append_column("who", pa.array([f"p{i * i % 47}" for i in range(120)]))
    columns = (WHO, *PEOPLE, ColumnPlan("visits", Role.INSENSITIVE))
    plan = plan_of([KAnonymity(k=3), DistinctL(l=2)], columns, algorithm, suppression=suppression, entity="who")
    expected = published(table, plan)
    generator = np.random.default_rng(1)
    for _ in range(4):
        shuffled = table.take(pa.array(generator.permutation(120)))
        names = list(generator.permutation(table.column_names))
        assert published(shuffled.select(names), plan) == expected


def test_relaxed_division_of_equal_rows_of_people_with_unequal_weights():
    # both of b's rows, one of c's and one of a's are equal in all that is published; a's weighs 1, the others 1/2
    who = ["a", "b", "b", "c", "c", "d"]
    ages = [5, 5, 5, 5, 9, 9]
    table = pa.table({"age": ages, "country": ["Fiji"] * 6, "illness": ["flu"] * 6, "who": who})
    plan = plan_of([KAnonymity(k=2)], (WHO, *PEOPLE), Mondrian(mode="relaxed"), entity="who")
    results = {
        tuple(published(table.take(pa.array(order)), plan)["age"])
        for order in ([0, 1, 2, 3, 4, 5], [1, 2, 3, 0, 4, 5], [3, 1, 0, 2, 5, 4], [1, 0, 3, 2, 4, 5])
    }
    assert len(results) == 1


@settings(max_examples=25)
@given(st.integers(2, 6), st.integers(0, 1000), st.sampled_from(ALGORITHMS))
def test_every_group_satisfies_every_model_and_no_row_is_lost(k, seed, algorithm):
    plan = plan_of([KAnonymity(k=k), TCloseness(t=0.3), DistinctL(l=2)], algorithm=algorithm)
    problem, partition = run(random_people(90, seed, missing=0.1), plan)
    stats = problem.table.stats_of(partition.labels, partition.n_groups, problem.model.histogram_keys())
    assert problem.model.satisfied(stats, problem.reference).all()
    assert set(partition.labels) == set(range(partition.n_groups))


@pytest.mark.parametrize("nominal", ["cuts", "children"])
@pytest.mark.parametrize("n", [60, 6000])
def test_regions_reproduce_the_groups_and_hold_their_cells(n, nominal):
    plan = plan_of([KAnonymity(k=4)], algorithm=Mondrian(nominal=nominal))
    problem, partition = run(random_people(n, seed=n, missing=0.1), plan)
    codes = [c.codes for c in problem.table.quasi]
    assert np.array_equal(partition.regions.assign(codes), partition.labels)
    low, high = partition.regions.boxes([c.coded.size for c in problem.table.quasi], partition.n_groups)
    for j, column in enumerate(codes):
        assert np.all(low[partition.labels, j] <= column) and np.all(column <= high[partition.labels, j])
    # regions tile the space: any code tuple falls into exactly the box of its group
    generator = np.random.default_rng(0)
    new = [generator.integers(0, c.coded.size, 300) for c in problem.table.quasi]
    inside = np.all([(low[:, j][:, None] <= new[j]) & (new[j] <= high[:, j][:, None]) for j in range(len(new))], axis=0)
    assert np.array_equal(inside.sum(axis=0), np.ones(300))
    assert np.array_equal(np.argmax(inside, axis=0), partition.regions.assign(new))


def test_relaxed_partitions_have_no_regions():
    _, partition = run(random_people(40, 1), plan_of([KAnonymity(k=4)], algorithm=Mondrian(mode="relaxed")))
    assert partition.regions is None


@pytest.mark.parametrize("n", [200, 5000])
def test_a_bound_on_the_average_risk_is_used_up_but_not_exceeded(n):
    plan = plan_of([AverageRisk(average=0.1)])
    problem, partition = run(random_people(n, seed=n), plan)
    assert 1 < partition.n_groups <= 0.1 * n
    assert partition.n_groups > 0.05 * n
    outcome = local.run(random_people(n, seed=n), plan)
    assert outcome.verification.ok


def test_average_leakage_keeps_more_than_one_group():
    table = random_people(300, seed=8)
    plan = plan_of([KAnonymity(k=3), AlpDif(alp={"HIV": 0.3}, dif={"HIV": 0.3})])
    outcome = local.run(table, plan)
    assert outcome.verification.ok and outcome.verification.classes > 1
    shown = outcome.published
    by_class: dict = {}
    for row in shown.to_pylist():
        by_class.setdefault((row["age"], row["country"]), []).append(row["illness"])
    having = sum(c.count("HIV") for c in by_class.values())
    average = sum(c.count("HIV") ** 2 / len(c) for c in by_class.values()) / having
    assert average <= 0.3 + 1e-9
    assert all(c.count("HIV") / len(c) - average <= 0.3 + 1e-9 for c in by_class.values())


def test_equal_records_stay_one_group():
    _, partition = run(people_table([(30, "Fiji", "flu")] * 9), plan_of([KAnonymity(k=2)]))
    assert partition.n_groups == 1


def test_too_few_people_are_proved_infeasible():
    with pytest.raises(Infeasible, match="k=5 but the table has 3 people"):
        run(people_table([(30, "Fiji", "flu")] * 3), plan_of([KAnonymity(k=5)]))


def test_one_column_and_many_distinct_values_take_the_compiled_path():
    n = 5000
    table = pa.table({"pay": np.arange(n)[::-1] * 7919 % 100_003, "illness": ["flu", "cold"] * (n // 2)})
    plan = plan_of([KAnonymity(k=5)], (quasi("pay", Kind.NUMERIC), sensitive("illness")))
    problem, partition = run(table, plan)
    assert np.bincount(partition.labels).min() >= 5
    assert np.bincount(partition.labels).max() < 10
    pay = problem.table.quasi[0].codes[np.argsort(partition.labels, kind="stable")]
    edges = np.cumsum(np.bincount(partition.labels))[:-1]
    parts = np.split(pay, edges)
    assert all(a.max() < b.min() for a, b in zip(parts, parts[1:], strict=False))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
@pytest.mark.parametrize("entity", [False, True])
def test_compiled_kernels_and_their_twins_give_the_same_partition(monkeypatch, algorithm, entity):
    table = random_people(700, seed=5, missing=0.05)
    columns = PEOPLE
    if entity:
        table = table.append_column("who", pa.array([f"p{i * i % 401}" for i in range(700)]))
        columns = (WHO, *PEOPLE)
    models = [KAnonymity(k=3), TCloseness(t=0.35)]
    plan = plan_of(models, columns, algorithm, suppression=0.03, entity="who" if entity else None)
    labels = []
    for compile_from in (0, 10**9):
        monkeypatch.setattr(compiling, "COMPILE_FROM", compile_from)
        labels.append(run(table, plan)[1].labels)
    assert np.array_equal(*labels)


@settings(max_examples=15)
@given(st.permutations(range(24)))
def test_trimming_does_not_depend_on_row_order(order):
    who = [f"p{i // 3}" for i in range(12)] + [f"q{i}" for i in range(12)]
    illness = ["cold"] * 18 + ["flu", "HIV"] * 3
    rows = people_table([(30 + i % 2, "Fiji", s) for i, s in enumerate(illness)]).append_column("who", pa.array(who))
    plan = plan_of([ProbabilisticL(l=2)], (WHO, *PEOPLE), suppression=0.3, entity="who")
    expected = published(rows, plan)
    assert len(expected["illness"]) < 24
    assert published(rows.take(pa.array(order)), plan) == expected
