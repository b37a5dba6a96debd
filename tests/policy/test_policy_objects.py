"""Objects of Python where files were needed: tables, hierarchies as frames, mappings and functions."""

from __future__ import annotations

import copy
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv

import hushtable as ht
from hushtable.errors import DataError, HierarchyError, HushtableError, PolicyError
from hushtable.rng import integers

PEOPLE = pa.table({"age": integers(1, "age", 60, 20, 80), "ill": ["flu", "gout", "cold"] * 20})
EVERYBODY = pa.table({"age": integers(2, "age", 600, 20, 80)})
KMAP = {"quasi": ["age"], "sensitive": ["ill"], "models": [{"k-map": {"k": 9}}]}


@pytest.mark.parametrize("kind", [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow])
def test_a_population_in_memory_is_one_in_a_file(tmp_path, kind):
    csv.write_csv(EVERYBODY, tmp_path / "all.csv")
    wanted = ht.anonymize(PEOPLE, ht.Policy(**KMAP, population=tmp_path / "all.csv"))
    policy = ht.Policy(**KMAP, population=kind(EVERYBODY))
    found = ht.anonymize(PEOPLE, policy)
    assert found.table.equals(wanted.table)
    assert found.verification.as_dict() == wanted.verification.as_dict()
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy)), policy.changed(seed=1).changed(seed=0)):
        assert other == policy and other.tables["population"].equals(EVERYBODY)
    assert policy != ht.Policy(**KMAP, population=EVERYBODY.slice(1))
    compared = ht.compare(PEOPLE, policy, {"models": [{"k-map": {"k": [5, 9]}}]}, jobs=2)
    assert [row["status"] for row in compared.rows] == ["ok", "ok"]


def test_a_saved_policy_says_that_the_table_was_in_memory(tmp_path):
    release = ht.anonymize(PEOPLE, ht.Policy(**KMAP, population=EVERYBODY))
    folder = release.save(tmp_path / "release")
    assert "population: (a table given in Python)" in (folder / "policy.yaml").read_text()
    with pytest.raises(PolicyError, match="table was given in Python"):
        ht.open_release(folder, PEOPLE).risk("journalist")
    opened = ht.open_release(folder, PEOPLE, population=EVERYBODY.to_pandas())
    assert opened.risk("journalist").after.as_dict() == pytest.approx(release.risk("journalist").after.as_dict())
    with pytest.raises(PolicyError, match="policy file does not contain it"):
        ht.anonymize(PEOPLE, ht.load_policy(folder / "policy.yaml"))


def test_what_an_adversary_believes_in_memory(tmp_path):
    ages = sorted(set(PEOPLE["age"].to_pylist()))
    beliefs = pa.table({"age": ages, "ill": ["flu"] * len(ages), "p": [1 / len(ages)] * len(ages)})
    csv.write_csv(beliefs, tmp_path / "beliefs.csv")
    roles = {"quasi": ["age"], "sensitive": ["ill"], "models": [{"bayes-optimal": {"theta": 0.99}}]}
    told = {"on": "ill", "probability": "p"}
    from_file = ht.anonymize(PEOPLE, ht.Policy(**roles, background={"file": tmp_path / "beliefs.csv", **told}))
    held = ht.anonymize(PEOPLE, ht.Policy(**roles, background={"file": beliefs.to_pandas(), **told}))
    assert held.table.equals(from_file.table)


def test_a_population_without_a_column_is_refused():
    with pytest.raises(DataError, match="population table has no column 'age'"):
        ht.anonymize(PEOPLE, ht.Policy(**KMAP, population=pa.table({"town": ["a"]})))


DISEASES = {"lung": ["flu", "cold"], "joint": ["gout"]}
GIVEN = [
    DISEASES,
    {"flu": "lung", "cold": "lung", "gout": "joint"},
    pd.DataFrame({"value": ["flu", "cold", "gout"], "group": ["lung", "lung", "joint"]}),
    pl.DataFrame({"value": ["flu", "cold", "gout"], "group": ["lung", "lung", "joint"]}),
    lambda ill: "joint" if ill == "gout" else "lung",
    lambda ill: ["joint" if ill == "gout" else "lung"],
]


@pytest.mark.parametrize("given", GIVEN, ids=["tree", "labels", "pandas", "polars", "function", "levels"])
def test_a_hierarchy_is_an_object(given):
    quasi = {"ill": {"hierarchy": given, "cells": "nodes"}}
    rules = {"models": [ht.KAnonymity(k=20)], "algorithm": "datafly", "rest": "drop"}
    release = ht.anonymize(PEOPLE, ht.Policy(quasi=quasi, **rules))
    as_tree = {"ill": {**quasi["ill"], "hierarchy": {"tree": DISEASES}}}
    expected = ht.anonymize(PEOPLE, ht.Policy(quasi=as_tree, **rules))
    assert release.table.equals(expected.table)
    by_name = ht.Policy(quasi=["ill"], hierarchies={"ill": given}, cells="nodes", **rules)
    assert ht.anonymize(PEOPLE, by_name).table.equals(expected.table)
    ht.Policy.from_yaml(by_name.to_yaml())


def test_a_function_of_numbers_and_its_policy_elsewhere(tmp_path, monkeypatch):
    def decade(age):
        return [f"{age // 10}0s", "old" if age >= 50 else "young"]

    policy = ht.Policy(quasi={"age": {"hierarchy": decade, "cells": "nodes"}}, models=[ht.KAnonymity(k=5)],
                       algorithm="optimal", rest="drop")  # fmt: skip
    release = ht.anonymize(PEOPLE, policy)
    assert set(release.table["age"].to_pylist()) <= {*(f"{d}0s" for d in range(2, 8)), "old", "young", "*"}
    text = (release.save(tmp_path / "out") / "policy.yaml").read_text()
    assert "function:" in text and "decade" in text
    assert ht.verify(tmp_path / "out" / "release.csv", policy).ok
    compared = ht.compare(PEOPLE, policy, {"models": [{"k-anonymity": {"k": [2, 5]}}]}, jobs=2)
    assert [row["status"] for row in compared.rows] == ["ok", "ok"]
    from hushtable.hierarchy import function

    monkeypatch.setattr(function, "_FUNCTIONS", {})
    with pytest.raises(HierarchyError, match="a Python function that this process does not know"):
        ht.anonymize(PEOPLE, policy)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda age: 1 / 0, r"failed for a value \(ZeroDivisionError\)"),
        (lambda age: None, "returns NoneType"),
        (lambda age: ["a"] * (1 + age % 2), "returns 1 labels for some values and 2"),
        (pd.DataFrame({"value": ["flu"]}), "a table without levels"),
        ({"intervalls": [5]}, "Did you mean 'intervals'"),
        (3, "a hierarchy must be a file name"),
    ],
)
def test_wrong_hierarchies(given, message):
    with pytest.raises(HushtableError, match=message):
        ht.anonymize(PEOPLE, ht.Policy(quasi={"age": {"hierarchy": given}}, rest="drop", models=[ht.KAnonymity(k=2)]))


def test_a_file_has_one_form_of_a_tree():
    text = "columns: {ill: {role: quasi, hierarchy: {lung: [flu], joint: [gout]}}}\nmodels: [k-anonymity: {k: 2}]"
    with pytest.raises(PolicyError, match="Write labels below 'tree'"):
        ht.Policy.from_yaml(text)
