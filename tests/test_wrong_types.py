"""Every public callable with arguments of wrong types: hushtable's own errors, with a remedy, and no other."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import ArgumentError, HushtableError, UsageError

CANARY = "CANARY-8812"
PEOPLE = pa.table({"age": list(range(20, 44)), "sex": ["m", "f"] * 12, "ill": ["flu", "gout", "cold"] * 8})
POLICY = ht.Policy(quasi=["age", "sex"], sensitive=["ill"], models=[ht.KAnonymity(k=3)])
LINKED = ht.LinkedPolicy(
    tables={"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
            "visits": {"of": "people", "columns": {"why": {"role": "quasi"}}}},
    models=[ht.KAnonymity(k=2)],
)  # fmt: skip
VISITS = {"people": pa.table({"id": [1, 2, 3, 4], "age": [30, 31, 52, 53]}),
          "visits": pa.table({"id": [1, 2, 3, 4], "why": ["cold"] * 4})}  # fmt: skip
WRONG = [
    None, True, 0, -1, 3, 2.5, float("nan"), 10**30, "", CANARY, b"x", [], [3], [None], [CANARY], (), {},
    {CANARY: CANARY}, {3: 4}, {CANARY}, object(), object, lambda *given: 1 / 0, np.array([1, 2]), np.float64(2),
    pd.Series([1]), pd.DataFrame(), pd.DataFrame({"age": [1]}), pl.DataFrame(), pa.table({}), Path("nowhere"),
    iter([1]), Ellipsis, ht.KAnonymity, ht.KAnonymity(k=2), POLICY,
]  # fmt: skip


def calls(tmp_path: Path) -> dict:
    """Every public function and method, with arguments that are right."""
    release = ht.anonymize(PEOPLE, POLICY)
    saved = release.save(tmp_path / "release")
    compared = ht.compare(PEOPLE, POLICY, {"models": [{"k-anonymity": {"k": [2]}}]})
    audit = ht.audit(PEOPLE, ["sex"], ["ill"])
    anonymizer = ht.Anonymizer(POLICY).fit(PEOPLE)
    linked = ht.anonymize_linked(VISITS, LINKED)
    both = {"data": PEOPLE, "quasi": ["sex"], "sensitive": ["ill"]}
    sisters = (ht.l_diversity, ht.entropy_l_diversity, ht.alpha_k_anonymity, ht.basic_beta_likeness)
    return {
        ht.anonymize: {"data": PEOPLE, "policy": POLICY, "progress": None},
        ht.audit: {**both, "entity": None},
        ht.k_anonymity: {"data": PEOPLE, "quasi": ["sex"], "entity": None},
        **dict.fromkeys(sisters, both),
        ht.enhanced_beta_likeness: both,
        ht.delta_disclosure: both,
        ht.recursive_c_l_diversity: {**both, "l": 2},
        ht.t_closeness: {**both, "distance": None},
        ht.compare: {"data": PEOPLE, "policy": POLICY, "grid": {"models": [{"k-anonymity": {"k": [2]}}]},
                     "wanted": None, "privacy": "prosecutor", "utility": "ncp", "results": None, "jobs": 1,
                     "progress": None},
        ht.draft_policy: {"data": PEOPLE},
        ht.profile: {"data": PEOPLE, "missing_values": ()},
        ht.increment: {"data": PEOPLE, "policy": POLICY, "earlier": release, "progress": None},
        ht.load_policy: {"path": saved / "policy.yaml"},
        ht.open_release: {"folder": saved, "original": PEOPLE, "companion": None, "files": None, "population": None,
                          "background": None},
        ht.read_sql: {"address": f"sqlite:///{tmp_path}/people.db", "table": "people", "query": None, "columns": None},
        ht.write_sql: {"data": PEOPLE, "address": f"sqlite:///{tmp_path}/people.db", "table": "people",
                       "overwrite": True},
        ht.register: {"cls": ht.KAnonymity},
        ht.run: {"source": PEOPLE, "policy": POLICY, "target": None, "engine": "auto", "to": None, "overwrite": False,
                 "part_rows": None, "master": None, "progress": None},
        ht.verify: {"published": release.table, "policy": POLICY, "evidence": None, "companion": None,
                    "original": None},
        ht.anonymize_linked: {"tables": VISITS, "policy": LINKED, "progress": None},
        ht.open_linked: {"folder": linked.save(tmp_path / "linked"), "policy": LINKED, "original": VISITS},
        ht.read_policy: {"path": saved / "policy.yaml"},
        ht.verify_linked: {"tables": linked.tables, "policy": LINKED},
        ht.LinkedPolicy: {"tables": LINKED.document()["tables"], "knows": 2, "models": [ht.KAnonymity(k=2)],
                          "suppression": 0.2, "crowd": None, "algorithm": "greedy", "missing": "own_category",
                          "missing_values": (), "seed": 0, "output": {}},
        LINKED.based_in: {"folder": None},
        LINKED.changed: {"seed": 3, "knows": 1},
        linked.save: {"folder": tmp_path / "linked again", "format": "csv", "overwrite": True},
        release.measure: {"name": "ncp"},
        release.measures: {"names": ["ncp"]},
        release.risk: {"name": "prosecutor"},
        release.attack: {"name": "homogeneity", "sample": None},
        release.explain: {"row": 0},
        release.sample: {"seed": 0, "rows": None, "where": ()},
        release.condense: {"columns": None},
        release.save: {"folder": tmp_path / "again", "format": "csv", "overwrite": True, "parts": None},
        release.report: {"path": tmp_path / "evidence.html", "template": "general", "attacks": False, "labels": False},
        release.price: {"measures": ["ncp"]},
        release.with_guards: {"names": []},
        release.plot: {"kind": "loss", "ax": None},
        audit.check: {"k": 2, "l": 1, "t": 1.0},
        audit.holds: {"k": 2},
        audit.__getitem__: {"key": "k"},
        compared.suggest: {"minimise": None, "where": (), "maximise": None},
        compared.quantity: {"name": "ncp"},
        anonymizer.transform: {"X": PEOPLE},
        anonymizer.fit: {"X": PEOPLE, "y": None},
        anonymizer.set_output: {"transform": "pandas"},
        ht.Policy: {"quasi": ["age"], "sensitive": ["ill"], "identifiers": [], "insensitive": [], "rest": None,
                    "models": [ht.KAnonymity(k=2)], "algorithm": "mondrian", "columns": {}, "hierarchies": None,
                    "suppression": 0.0, "missing": "own_category", "missing_values": (), "cells": "regions",
                    "seed": 0, "entity": None, "population": None, "background": None, "ledger": None,
                    "output": {}, "guard": (), "publish": ()},
        POLICY.with_column: {"name": "age", "role": "quasi", "kind": "numeric", "hierarchy": "flat", "weight": 1.0},
        POLICY.changed: {"seed": 3, "suppression": 0.1},
        POLICY.for_columns: {"names": ["age"]},
        POLICY.named: {},
        POLICY.based_in: {"folder": None},
        ht.Policy.from_yaml: {"text": POLICY.to_yaml(), "file": ""},
        ht.KAnonymity: {"k": 2},
        ht.AlphaK: {"alpha": 0.5, "k": 2, "only": None, "on": None},
        ht.TCloseness: {"t": 0.5, "distance": "equal", "on": "ill"},
        ht.Mondrian: {"mode": "strict"},
        ht.Ncp: {"weighted": False},
        ht.Ledger: {"path": tmp_path / "people.ledger", "key": None, "person": None, "folder": None},
    }  # fmt: skip


@pytest.fixture
def everything(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ht.write_sql(PEOPLE, f"sqlite:///{tmp_path}/people.db", table="people")
    return calls(tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_wrong_types_end_in_our_own_errors(everything):
    found, refused = [], 0
    for call, right in everything.items():
        for name, wrong in itertools.product(right, WRONG):
            if name == "progress" and callable(wrong):
                continue  # it is called, and what it raises is the user's
            try:
                call(**{**right, name: wrong})
            except HushtableError as error:
                refused += 1
                said = str(error)
                if not said.strip():
                    found.append((call.__qualname__, name, type(wrong).__name__, "says nothing"))
            except Exception as error:
                found.append((call.__qualname__, name, repr(wrong)[:40], f"{type(error).__name__}: {error}"[:150]))
    # one line for each parameter: the rest is like it
    worst = {(call, name): (wrong, error) for call, name, wrong, error in reversed(found)}
    assert not found, "\n".join(f"{call}({name}={wrong}): {error}" for (call, name), (wrong, error) in worst.items())
    assert refused > 1500


def test_every_public_callable_is_tried(everything):
    tried = {getattr(call, "__name__", "") for call in everything}
    objects = {"Audit", "Release", "LinkedRelease", "Anonymizer"}
    public = {name for name in ht.__all__ if callable(getattr(ht, name))} - objects
    assert public <= tried | {"Policy"}


def test_missing_and_unknown_arguments():
    with pytest.raises(ArgumentError, match="missing a required argument: 'policy'"):
        ht.anonymize(PEOPLE)
    with pytest.raises(TypeError, match=r"anonymize has no argument 'polcy'\. Did you mean 'policy'"):
        ht.anonymize(PEOPLE, polcy=POLICY)
    with pytest.raises(UsageError, match="must be a Policy, not dict"):
        ht.verify(PEOPLE, {"quasi": ["age"]})
    assert "policy" in inspect.signature(ht.anonymize).parameters
