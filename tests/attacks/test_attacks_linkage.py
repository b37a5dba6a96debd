"""Linkage, exact and by distance, and overlooked quasi-identifiers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import SUN_TABLE_3, people, policy, sun_table_2

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.attacks.matching import candidates
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.errors import DataError
from support_core import Given


@pytest.mark.parametrize("method", ["exact", "distance"])
def test_singletons_are_linked(method):
    table = pa.table({"age": [10, 20, 31, 45, 60], "zip": [1, 2, 3, 4, 5], "disease": list("abcde")})
    anything = registry.models.build("t-closeness", {"t": 1})
    plan = policy([anything], cells="intervals").plan()
    release = run_plan(table, replace(plan, algorithm=Given(labels=(0, 1, 2, 3, 4))))
    result = release.attack("linkage", method=method)
    assert result.rate == 1.0 and result.baseline == 0.2 and result.counts["certain links"] == 5


@pytest.mark.parametrize("method", ["exact", "distance"])
def test_large_classes_hide_their_people(method):
    result = ht.anonymize(people(600), policy([ht.KAnonymity(k=200)])).attack("linkage", method=method)
    assert result.interval[0] <= result.baseline + 1 / 200
    assert result.counts["certain links"] == 0 and result.counts["expected links"] <= 3


def test_exact_linkage_expects_the_number_of_classes():
    release = ht.anonymize(people(300), policy([ht.KAnonymity(k=5)]))
    result = release.attack("linkage")
    assert result.counts["expected links"] == pytest.approx(result.counts["classes"])
    assert result == release.attack("linkage")


def test_candidates_like_a_loop():
    view = View.of(sun_table_2())
    offsets, classes = candidates(view, People.of_table(view, SUN_TABLE_3))
    got = [classes[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    cells = [c.labels().to_pylist() for c in view.cells]
    keys = {"[25, 26]": 25, "[41, 48]": 41}
    expected = [[g for g in range(view.n_groups) if keys.get(cells[0][g]) == wanted] for wanted in (25, 41, 25, 41)]
    assert got == expected


def test_an_overlooked_column_shows():
    table = people(60).append_column("badge", pa.array([f"b{i}" for i in range(60)]))
    hidden = ht.Policy(quasi=["age", "zip"], sensitive=["disease"], insensitive=["badge"], models=[ht.KAnonymity(k=10)])
    counts = ht.anonymize(table, hidden).attack("linkage").counts
    assert counts["unique as published"] == 0 and counts["unique with 'badge'"] == 60
    assert counts["unique with 'disease'"] < 60 == counts["unique with all columns"]


def test_an_external_table_and_outsiders():
    table = pa.table({"age": [20, 21, 60, 61], "zip": [1] * 4, "disease": list("abcd")})
    release = ht.anonymize(table, policy([ht.KAnonymity(k=2)], cells="intervals"))
    known = pa.table({"age": [20, 60, 99], "zip": [1, 1, 1]})
    result = release.attack("linkage", external=known, control=known)
    assert result.targets == 3 and result.counts["expected links"] == 1.0
    assert result.counts["people without a match"] == 1 and result.control == 0.0
    with pytest.raises(DataError, match="The external table lacks the quasi-identifiers 'zip'"):
        release.attack("linkage", external=known.select(["age"]))


def test_row_order_does_not_matter():
    table = people(200)
    shuffled = table.take(pa.array(np.random.default_rng(5).permutation(200)))
    first, second = (
        ht.anonymize(t, policy([ht.KAnonymity(k=3)], seed=4)).attack("linkage", targets=50) for t in (table, shuffled)
    )
    assert first == second


@pytest.mark.parametrize(
    ("codes", "lost"), [(["14246"], 0), (["14246", "1424812"], 1), (["1424812", "14246", "9900"], 1)]
)
def test_a_longer_code_does_not_change_what_covers_the_others(codes, lost):
    table = pa.table({"zip": ["14248", "14249", "99000", "99001"], "disease": ["flu", "flu", "gout", "HIV"]})
    rules = ht.Policy(
        quasi={"zip": {"kind": "nominal", "hierarchy": {"prefix": "*"}, "cells": "nodes"}},
        sensitive=["disease"],
        models=[ht.KAnonymity(k=2)],
    )
    release = ht.anonymize(table, rules)
    external = pa.table({"zip": codes})
    assert release.attack("linkage", external=external).counts["people without a match"] == lost
    assert release.attack("homogeneity", external=external).successes == 1
