"""Rows that Spark repeats from what the driver counted, and rows that are looked up: the same release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support_spark import VISITS, held, same, visits

import hushtable as ht
from hushtable.api import run_plan
from hushtable.engines.spark import dictionaries, publish, repeated
from hushtable.engines.spark.engine import PublishedByDriver
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_sensitive import PSensitive
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind, Role
from support_core import COUNTRIES, PEOPLE, plan_of, quasi, random_people, sensitive

pytestmark = pytest.mark.spark

BARE = tuple(c for c in VISITS if c.role is not Role.INSENSITIVE)
CASES = {
    "mondrian": {"models": [KAnonymity(k=3), EntropyL(l=1.5)], "algorithm": ht.Mondrian()},
    "optimal": {"models": [KAnonymity(k=6)], "algorithm": ht.Optimal(), "suppression": 0.1},
    "localpk": {"models": [KAnonymity(k=4), PSensitive(p=2)], "algorithm": ht.Localpk(), "cells": Sets()},
    "relaxed": {"models": [KAnonymity(k=4)], "algorithm": ht.Mondrian(mode="relaxed"), "suppression": 0.05},
    "people": {"models": [KAnonymity(k=3)], "algorithm": ht.Mondrian(), "entity": "who"},
}


def was_repeated(release) -> bool:
    shown = release.origin.outcome.shown
    return isinstance(shown, PublishedByDriver) or "times" in shown.kept.columns


@pytest.mark.parametrize("repeat", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_both_ways_publish_the_same_rows(on_spark, monkeypatch, case, repeat):
    # rows of one kind are sent in several pieces, and numbers looked up by joins
    monkeypatch.setattr(repeated, "_MOST", 2)
    monkeypatch.setattr(dictionaries, "_IN_PLAN", 3 if repeat else 4096)
    if not repeat:
        monkeypatch.setattr(publish, "differing_rows", lambda *given: None)
    settings = dict(CASES[case])
    table = visits(150, seed=4).drop(["note"])
    plan = plan_of(settings.pop("models"), BARE, settings.pop("algorithm"), **settings)
    got = on_spark(table, plan, 3)
    assert was_repeated(got) == repeat
    same(got, run_plan(table, plan))


@pytest.mark.parametrize(
    ("column", "alike"),
    [
        ("illness", True),
        ("spelled", False),  # two spellings of one value are published as they are
        ("measured", False),  # -0.0 and 0.0 are one value to Spark
    ],
)
def test_rows_of_one_combination_that_differ_are_not_repeated(on_spark, column, alike):
    draw, rows = np.random.default_rng(3), 400
    table = pa.table(
        {
            "age": draw.integers(20, 24, rows),
            "country": draw.choice(COUNTRIES[:2], rows),
            "illness": draw.choice(["flu", "cold", None], rows),
            "spelled": draw.choice(["flu", "cold", "?", None], rows),
            "measured": draw.choice([0.0, -0.0, 1.5], rows),
        }
    ).select(["age", "country", column])
    columns = (*PEOPLE[:2], sensitive(column, *([Kind.NUMERIC] if column == "measured" else [])))
    plan = plan_of([KAnonymity(k=5)], columns, missing_values=("?",))
    got, want = on_spark(table, plan, 3), run_plan(table, plan)
    assert was_repeated(got) == alike
    same(got, want)
    assert str(got.frame.toArrow()[column].to_pylist()) == str(want.table[column].to_pylist())


def test_far_from_the_driver_nothing_is_repeated_where_most_rows_differ(on_spark, far_away):
    table = random_people(60, 5).append_column("salary", pa.array(range(60)))
    table = pa.concat_tables([table, table.slice(0, 3)])
    plan = plan_of([KAnonymity(k=4)], (*PEOPLE[:2], quasi("illness"), sensitive("salary", Kind.NUMERIC)))
    assert was_repeated(on_spark(table, plan, 2))
    far_away(100, 61)
    got = on_spark(table, plan, 2)
    assert not was_repeated(got)
    same(got, run_plan(table, plan))


@pytest.mark.parametrize("repeat", [True, False])
def test_rows_stay_in_their_order_without_the_cache(spark, on_spark, monkeypatch, repeat):
    """Else they would stand in the order of the input, which tells whose they are."""
    if not repeat:
        monkeypatch.setattr(publish, "differing_rows", lambda *given: None)
    table = visits(150, seed=6).drop(["note"])
    plan = plan_of([KAnonymity(k=4)], BARE)
    got = on_spark(table, plan, 3)
    assert was_repeated(got) == repeat
    got.frame.count()
    spark.catalog.clearCache()
    same(got, run_plan(table, plan))


@pytest.mark.parametrize("repeat", [True, False])
def test_a_release_is_kept_though_an_equal_one_is_let_go_of(spark, on_spark, monkeypatch, repeat):
    if not repeat:
        monkeypatch.setattr(publish, "differing_rows", lambda *given: None)
    frame, plan = spark.createDataFrame(visits(60, seed=6).drop(["note"])), plan_of([KAnonymity(k=4)], BARE)
    before = held(spark)
    first, second = on_spark(frame, plan, 3), on_spark(frame, plan, 3)
    assert first.frame.count() == second.frame.count() == 92
    first.unpersist()
    assert held(spark) == before + 1
    shown = second.origin.outcome.shown
    assert (shown._published_rows if repeat else shown).kept.storageLevel.useMemory
