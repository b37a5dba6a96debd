"""The Spark engine against the local one: the same groups, the same cells, the same evidence."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support_spark import NOTE, WHO, same

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.errors import DataError, HushtableError
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.release.forms.midpoint import Midpoint
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind, Missing
from hushtable.testing import model_examples, random_case
from support_core import PEOPLE, plan_of, quasi, random_people, sensitive

pytestmark = pytest.mark.spark

# (algorithm, parameters, model, settings of the case, suppression, partitions)
PAIRS = [
    ("mondrian", {}, "entropy-l", {}, 0.0, 1),
    ("mondrian", {"mode": "relaxed"}, "t-closeness", {"entity": True}, 0.2, 7),
    ("mondrian", {"nominal": "children"}, "k-map", {"cells": Nodes()}, 0.1, 3),
    ("information-cuts", {}, "entropy-l", {"entity": True}, 0.1, 3),
    ("information-cuts", {"refine": True}, "distinct-l", {}, 0.0, 7),
    ("localpk", {}, "p-sensitive", {"cells": Sets(), "entity": True}, 0.1, 7),
    ("optimal", {}, "delta-disclosure", {}, 0.3, 3),
    ("lattice-sweep", {}, "k-anonymity", {"missing": Missing.WILDCARD}, 0.0, 1),
    ("datafly", {}, "distinct-l", {"entity": True}, 0.3, 3),
    ("greedy-loss", {}, "alp-dif", {}, 0.1, 7),
    ("k-member", {}, "bayes-optimal", {}, 0.2, 3),
    ("mdav", {"quality": "fast"}, "alpha-k", {"cells": Midpoint()}, 0.1, 1),
    ("anti-unification", {}, "recursive-cl", {"entity": True}, 0.3, 3),
]


@pytest.mark.parametrize(("name", "parameters", "model", "settings", "suppression", "partitions"), PAIRS)
def test_same_as_one_machine(on_spark, name, parameters, model, settings, suppression, partitions):
    algorithm = registry.algorithms.build(name, parameters)
    case = random_case(partitions, 60, **settings).suited(algorithm)
    models = list(model_examples(registry.models[model], case))[:1]
    plan = case.plan(models, algorithm, suppression=suppression, seed=5)
    same(on_spark(case.table, plan, partitions), run_plan(case.table, plan))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(registry.algorithms))
@pytest.mark.parametrize("model", list(registry.models))
def test_every_pair_is_the_same(on_spark, name, model):
    fast = {"quality": "fast"} if "quality" in {p.name for p in registry.algorithms[name].params()} else {}
    algorithm = registry.algorithms.build(name, fast)
    case = random_case(3, 50).suited(algorithm)
    models = list(model_examples(registry.models[model], case))[:1]
    try:
        plan = case.plan(models or [KAnonymity(k=2)], algorithm, suppression=0.1)
        want = run_plan(case.table, plan)
        got = on_spark(case.table, plan, 3)
    except HushtableError:
        return
    same(got, want)


def test_people_with_more_rows_than_divide_evenly(on_spark):
    table = random_people(120, 8, missing=0.1)
    # 53 rows of one person: what does not divide evenly goes to the first in canonical order
    who = pa.array(["p"] * 53 + [f"q{i % 30}" for i in range(67)])
    table = table.append_column("who", who).append_column("note", pa.array(["ab"[i % 2] for i in range(120)]))
    plan = plan_of([KAnonymity(k=3)], (WHO, *PEOPLE, NOTE), entity="who")
    same(on_spark(table, plan, 3), run_plan(table, plan))


def test_text_that_is_numbers_dates_and_listed_missing_values(on_spark):
    rows = 80
    generator = np.random.default_rng(4)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(d)) for d in generator.integers(0, 90, rows)]
    table = pa.table(
        {
            "age": [str(a) if a % 7 else " ?" for a in generator.integers(20, 60, rows)],
            "day": pa.array(days),
            "weight": pa.array(generator.normal(70, 9, rows).round(1)),
            "big": pa.array(generator.integers(2**60, 2**60 + 50, rows)),
            "flag": pa.array(generator.random(rows) < 0.5),
            "sick": generator.choice(["ü", "z", "", "é, x"], rows),
        }
    )
    names = ("age", "day", "weight", "big", "flag")
    columns = (*map(quasi, names), sensitive("sick"))
    plan = plan_of([KAnonymity(k=3), EntropyL(l=1.5)], columns, missing_values=("?",), suppression=0.1)
    same(on_spark(table, plan, 3), run_plan(table, plan))


def test_formats_and_dropped_columns(on_spark):
    n = 60
    table = pa.table(
        {
            "born": [f"{1 + i % 12}/{1 + i % 28}/{1950 + i % 40}" for i in range(n)],
            "pay": [f"{1000 + 37 * i:,}.50" for i in range(n)],
            "illness": [["Flu", "flu ", "cold", "gout"][i % 4] for i in range(n)],
            "gone": [f"secret {i}" for i in range(n)],
        }
    )
    policy = ht.Policy(
        quasi={"born": {"format": "month-first"}, "pay": {"format": "thousands"}},
        sensitive={"illness": {"format": "any-spelling"}},
        drop=["gone"],
        models=[{"k-anonymity": {"k": 4}}, {"distinct-l": {"l": 3}}],
    )
    release = run_plan(table, policy.plan())
    assert release.columns == ["born", "pay", "illness"]
    same(on_spark(table, policy.plan(), 3), release)


def test_awkward_names_collations_and_columns_of_nothing(on_spark, spark):
    from pyspark.sql import functions

    table = random_people(60, 2).append_column("v", pa.nulls(60))
    capitals = [c.upper() if i % 2 else c for i, c in enumerate(table["country"].to_pylist())]
    table = table.set_column(1, "country", pa.array(capitals)).rename_columns(["a.b`c", "A.B`C", " s", "v"])
    plan = plan_of([KAnonymity(k=3)], (quasi("a.b`c"), quasi("A.B`C"), sensitive(" s"), quasi("v")))
    frame = spark.createDataFrame(table.rename_columns(list("abcd")))
    # to this column 'fiji' and 'FIJI' are the same; to a policy they are not
    frame = frame.withColumn("b", functions.collate("b", "UTF8_LCASE")).toDF(*table.column_names)
    same(on_spark(frame, plan), run_plan(table, plan))


@pytest.mark.parametrize("guard", list(registry.guards))
def test_guards_act_alike(on_spark, guard):
    plan = replace(plan_of([KAnonymity(k=3)]), guards=(registry.guards.build(guard, {}),))
    table = random_people(80, 2)
    same(on_spark(table, plan), run_plan(table, plan))


def test_spellings_of_one_value_are_one_value(on_spark):
    draw, rows = np.random.default_rng(2), 60
    table = pa.table(
        {
            "age": draw.choice(["30", "?", "", "41"], rows),
            "country": draw.choice(["Fiji", "Japan", "?", None], rows),
            "illness": draw.choice(["flu", "cold"], rows),
            "note": [f"n{i * 7 % 13}" for i in range(rows)],
        }
    )
    plan = plan_of([KAnonymity(k=4)], (*PEOPLE, NOTE), ht.Mondrian(mode="relaxed"), missing_values=("?",))
    same(on_spark(table, plan, 3), run_plan(table, plan))
    plan = replace(plan, algorithm=ht.Optimal())
    same(on_spark(table, plan, 1), run_plan(table, plan))


def test_moments_in_time_are_published(on_spark):
    table = random_people(30, 4)
    moments = [datetime.datetime(2021, 5, 1 + i % 3, tzinfo=datetime.UTC) for i in range(30)]
    table = table.append_column("note", pa.array(moments, pa.timestamp("us", "UTC")))
    plan = plan_of([KAnonymity(k=4)], (*PEOPLE, NOTE))
    same(on_spark(table, plan, 3), run_plan(table, plan))


@pytest.mark.parametrize("twin", ["p1 ", "p\u0301", "p7"])
def test_a_person_with_two_names_is_refused(on_spark, twin):
    table = random_people(40, 3).append_column("who", pa.array([*(f"p{i}" for i in range(38)), twin, "\u1e55"]))
    plan = plan_of([KAnonymity(k=3)], (WHO, *PEOPLE), entity="who")
    if twin == "p7":
        same(on_spark(table, plan), run_plan(table, plan))
        return
    for run in (run_plan, on_spark):
        with pytest.raises(DataError, match="differ only in spaces around them"):
            run(table, plan)


@pytest.mark.parametrize("entity", [None, "who"])
def test_rows_that_differ_in_the_spelling_of_a_sensitive_value_are_divided_alike(on_spark, entity):
    draw, rows = np.random.default_rng(2), 80
    table = pa.table(
        {
            "age": draw.choice(["30", "41"], rows),
            "pay": draw.choice(["1", "1.0", "01.0", "1.00"], rows),
            "note": [f"n{i % 2}" for i in range(rows)],
            # a person of 23 rows has shares of two sizes
            "who": ["a"] * 23 + [f"p{i // 2}" for i in range(rows - 23)],
        }
    )
    columns = (quasi("age", Kind.NUMERIC), sensitive("pay", Kind.NUMERIC), NOTE, WHO)
    plan = plan_of([KAnonymity(k=4)], columns, ht.Mondrian(mode="relaxed"), entity=entity)
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(rows)))
    same(on_spark(mixed, plan, 3), run_plan(table, plan))


def test_minus_zero_comes_before_zero(on_spark):
    """They are equal for Spark, and two cells for whoever reads the release."""
    zeros = np.array([0.0, -0.0, 0.0, 1.0, -0.0, -0.0, 0.0, -0.0])
    table = pa.table({"age": [30] * 8, "pay": np.zeros(8) * np.array([1, 1, -1, -1] * 2), "note": zeros})
    plan = plan_of([KAnonymity(k=2)], (quasi("age", Kind.NUMERIC), sensitive("pay", Kind.NUMERIC), NOTE), ht.Mondrian())
    shown = on_spark(table, plan, 3).frame.toArrow().to_pydict()
    assert repr(shown) == repr(run_plan(table, plan).table.to_pydict())


def test_rows_that_differ_in_nothing_but_what_is_kept_are_divided_alike(on_spark):
    table = pa.table(
        {
            "age": [30] * 12,
            "illness": ["flu"] * 12,
            "country": ["Fiji"] * 12,
            "note": [f"n{11 - i}" if i % 5 else None for i in range(12)],
        }
    )
    plan = plan_of([KAnonymity(k=3)], (*PEOPLE, NOTE), ht.Mondrian(mode="relaxed"), suppression=0.1)
    same(on_spark(table, plan, 3), run_plan(table, plan))
