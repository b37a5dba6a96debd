"""Suppression: trimming an unfit table and shaving outliers, within the budget."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.algorithms.shave import shave
from hushtable.algorithms.trim import trim
from hushtable.engines import local
from hushtable.errors import Infeasible, NotFound
from hushtable.models.delta_presence import DeltaPresence
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.schema.columns import Kind
from hushtable.table.plan import SideTables
from support_core import PEOPLE, WHO, people_table, plan_of, quasi, random_people, sensitive


def loss(problem, labels) -> int:
    """Width of every kept row's cells on the columns' scales; a suppressed row loses the whole scale."""
    table = problem.table
    rows = np.arange(table.n_sample)
    weights = table.row_units if len(table.row_units) else np.ones(table.n_rows, dtype=np.int64)
    total = 0
    for column in table.quasi:
        position = column.positions[column.codes.astype(np.int64)]
        for g in set(labels[rows].tolist()):
            mine = rows[labels[rows] == g]
            if g < 0:
                total += int(weights[mine].sum()) * round(2**30 * column.weight)
                continue
            everyone = np.flatnonzero(labels == g)
            total += int(weights[mine].sum()) * int(position[everyone].max() - position[everyone].min())
    return total


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.05, 0.2, 0.6]), st.booleans(), st.booleans())
def test_shaving_keeps_to_the_budget_and_the_models_and_lowers_the_loss(seed, budget, entity, with_values):
    table = random_people(70, seed, missing=0.05)
    columns = PEOPLE
    if entity:
        table = table.append_column("who", pa.array([f"{i % 31}" for i in range(70)]))
        columns = (WHO, *PEOPLE)
    models = [KAnonymity(k=3), TCloseness(t=0.4)] if with_values else [KAnonymity(k=3)]
    plan = plan_of(models, columns, suppression=budget, entity="who" if entity else None)
    problem = local.problem_of(table, plan)
    whole = local.problem_of(table, plan_of(models, columns, entity="who" if entity else None))
    before = Mondrian().run(whole)
    after = shave(problem, before)
    gone = after.labels < 0
    weights = problem.table.row_units if entity else np.ones(70, dtype=np.int64)
    assert weights[gone].sum() <= problem.budget
    assert np.array_equal(after.labels[~gone], before.labels[~gone])
    stats = problem.table.stats_of(after.labels, after.n_groups, problem.model.histogram_keys())
    assert problem.model.satisfied(stats, problem.reference).all()
    if gone.any():
        assert loss(problem, after.labels) < loss(problem, before.labels)
    assert np.array_equal(Mondrian().run(problem).labels, after.labels)


def test_an_outlier_is_left_out():
    ages = [*range(20, 30), 99]
    table = people_table([(a, "Fiji", "flu") for a in ages])
    outcome = local.run(table, plan_of([KAnonymity(k=10)], suppression=0.1))
    assert outcome.published.num_rows == 10
    assert set(outcome.published["age"].to_pylist()) == {"[20, 29]"}


def test_population_rows_hold_a_cell_open_so_nothing_is_left_out_for_it():
    # leaving out the 99 would not narrow the class: it must cover the population's 99 as well
    sample = people_table([(a, "Fiji", "flu") for a in [*range(20, 30), 99]])
    population = pa.table({"age": [*range(20, 30), 99, 99], "country": ["Fiji"] * 12})
    plan = plan_of([KAnonymity(k=10), KMap(k=12)], suppression=0.1, side_tables=SideTables(population=population))
    outcome = local.run(sample, plan)
    assert outcome.published.num_rows == 11


@pytest.mark.parametrize("model", [EntropyL(l=2.9), ProbabilisticL(l=3)], ids=repr)
def test_one_dominating_value_is_trimmed(model):
    rows = [(i % 7, "Fiji", "cold") for i in range(30)]
    rows += [(i % 7, "Fiji", illness) for illness in ("HIV", "flu") for i in range(10)]
    table = people_table(rows)
    with pytest.raises(Infeasible):
        local.run(table, plan_of([model]))
    with pytest.raises(NotFound):
        local.run(table, plan_of([model], suppression=0.05))
    outcome = local.run(table, plan_of([model], suppression=0.45))
    assert outcome.verification.ok
    counts = Counter(outcome.published["illness"].to_pylist())
    assert counts["cold"] < 30 and sum(counts.values()) >= 50 * 0.55


def test_two_values_that_dominate_together_are_trimmed():
    # leaving out one of either alone raises the other's share, so neither step looks like progress
    rows = [(i % 7, "Fiji", illness) for illness in ("cold", "flu") for i in range(20)]
    rows += [(i % 7, "Fiji", "HIV") for i in range(10)]
    outcome = local.run(people_table(rows), plan_of([ProbabilisticL(l=3)], suppression=0.45))
    assert outcome.verification.ok


def test_trim_keeps_everything_where_the_table_is_fit():
    problem = local.problem_of(random_people(30, 1), plan_of([KAnonymity(k=2)], suppression=0.5))
    assert trim(problem).all()


def test_trim_gives_up_where_no_value_is_to_blame():
    problem = local.problem_of(random_people(3, 1), plan_of([KAnonymity(k=5)], suppression=0.5))
    assert trim(problem) is None


def test_trim_counts_people_not_rows():
    who = [f"c{i // 4}" for i in range(40)] + [f"x{i}" for i in range(10)]
    illness = ["cold"] * 40 + ["HIV", "flu"] * 5
    table = pa.table({"age": [30] * 50, "country": ["Fiji"] * 50, "illness": illness, "who": who})
    plan = plan_of([ProbabilisticL(l=3)], (WHO, *PEOPLE), entity="who", suppression=0.3)
    problem = local.problem_of(table, plan)
    kept = trim(problem)
    gone = problem.table.row_units[~kept].sum()
    assert 0 < gone <= 0.3 * 20 * problem.table.unit
    assert (~kept).sum() > 6  # six people's worth of rows, four rows a person


def test_presence_is_judged_again_after_shaving():
    sample = people_table([(a, "Fiji", "flu") for a in [*range(20, 30), 99]])
    population = pa.table({"age": [*range(20, 30), 99] * 3, "country": ["Fiji"] * 33})
    model = DeltaPresence(low=0.05, high=0.35)
    outcome = local.run(sample, plan_of([model], suppression=0.3, side_tables=SideTables(population=population)))
    assert outcome.verification.ok


def test_shaving_needs_no_other_column():
    table = pa.table({"pay": [1, 2, 3, 4, 1000], "illness": ["flu"] * 5})
    columns = (quasi("pay", Kind.NUMERIC), sensitive("illness"))
    outcome = local.run(table, plan_of([KAnonymity(k=2)], columns, suppression=0.2))
    assert "1000" not in str(outcome.published["pay"].to_pylist())
