from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.engines import verdict as module
from hushtable.engines.verdict import Numbers, Verdict, verdict_of
from hushtable.utility.ncp import ncp_of_columns


def people(n: int = 600) -> pa.Table:
    r = np.random.default_rng(5)
    return pa.table(
        {
            "age": r.integers(20, 80, n),
            "height": r.integers(150, 200, n),
            "weight": r.integers(0, 10**6, n),
            "illness": r.choice(["a", "b", "c", "d"], n, p=[0.97, 0.01, 0.01, 0.01]),
        }
    )


def policy(models=None, **settings) -> ht.Policy:
    given = models or [{"k-anonymity": {"k": 60}}]
    return ht.Policy(quasi=["age", "height", "weight"], sensitive=["illness"], models=given, **settings)


def test_what_costs_most_is_found_by_trying_without_it():
    strict = policy([{"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 4}}])
    found = ht.anonymize(people(), strict).verdict
    assert found.grade == "nearly empty"
    assert found.changes[0].kind == "model"
    assert found.changes[0].what == "without distinct-l (l=4)"
    gains = [change.gain for change in found.changes]
    assert gains == sorted(gains, reverse=True)
    assert all(gain > 0 for gain in gains)


def test_numbers_are_those_of_the_release_and_of_the_changed_policy():
    release = ht.anonymize(people(), policy())
    found = release.verdict
    assert found.numbers.ncp == pytest.approx(release.measure("ncp"))
    assert found.numbers.pair_error == pytest.approx(release.measure("pair-error"))
    assert found.numbers.query_error == pytest.approx(release.measure("query-error", queries=200))
    change = next(c for c in found.changes if c.setting == "weight: {role: drop}")
    without = ht.anonymize(people(), policy().with_column("weight", role="drop"))
    assert "weight" not in without.columns
    assert change.after.ncp == pytest.approx(without.measure("ncp"))
    others = ht.anonymize(people(), policy()).comparison()
    assert change.before.ncp == pytest.approx(float(ncp_of_columns(others)[:2].mean()))


def test_large_tables_are_tried_on_a_sample_and_the_best_changes_on_all_rows(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 200)
    whole = ht.anonymize(people(), policy()).verdict
    assert {change.rows for change in whole.changes} == {600}
    monkeypatch.setattr(module, "_WHOLE", 0)
    sampled = ht.anonymize(people(), policy()).verdict
    assert {change.rows for change in sampled.changes} == {200}
    assert sampled.changes[0].what == whole.changes[0].what


def test_several_models_that_bind_together_are_tried_together():
    r = np.random.default_rng(6)
    n = 800
    table = pa.table(
        {
            "age": r.integers(20, 80, n),
            "town": r.integers(0, 30, n),
            **{name: r.choice(["x", "y", "z"], n, p=[0.96, 0.02, 0.02]) for name in ("one", "two")},
        }
    )
    both = [{"k-anonymity": {"k": 5}}, *({"distinct-l": {"l": 3, "on": name}} for name in ("one", "two"))]
    strict = ht.Policy(quasi=["age", "town"], sensitive=["one", "two"], models=both)
    found = ht.anonymize(table, strict).verdict
    both_gone = "without distinct-l (on=one, l=3) and distinct-l (on=two, l=3)"
    change = next(c for c in found.changes if c.what == both_gone)
    assert change.price == "others may learn 'one', 'two'"
    assert change.gain > max((c.gain for c in found.changes if c.kind == "model" and c is not change), default=0)


def test_columns_that_say_nothing_are_named():
    table = pa.table({"age": list(range(10)), "town": [f"t{i}" for i in range(10)]})
    found = ht.anonymize(table, ht.Policy(quasi=["age", "town"], models=[ht.KAnonymity(k=10)])).verdict
    assert found.silent == ("age", "town")
    assert "'age' and 'town' say almost nothing: most cells cover nearly all values." in found.words
    assert found.grade == "nearly empty"


def test_the_words_do_not_contradict_each_other_or_the_table():
    """Cells may keep detail although counts are far off, and a column that says little may still have other cells."""
    words = Verdict("nearly empty", Numbers(0.22, 0.7, 0.3), ("wait",), 0.0).words
    assert "It keeps 78.0% of the detail of its quasi-identifiers, but half of the counts" in words
    assert "'wait' says almost nothing" in words and "only" not in words
    assert "quasi-identifiers. Half" in Verdict("useful", Numbers(0.1, 0.1, 0.1), (), 0.0).words


def test_the_anonymity_itself_is_never_advised_against():
    found = ht.anonymize(people(200), policy()).verdict
    assert all("k-anonymity" not in change.what for change in found.changes)


def test_a_release_that_was_opened_has_the_same_verdict(tmp_path):
    release = ht.anonymize(people(), policy(suppression=0.05))
    release.save(tmp_path / "release")
    opened = ht.open_release(tmp_path / "release", people())
    assert opened.verdict.as_dict() == release.verdict.as_dict()
    json.dumps(opened.verdict.as_dict(), allow_nan=False)


def test_other_forms_of_release():
    for algorithm in ("anatomy", "mdav", "optimal"):
        models = [{"distinct-l": {"l": 2}}] if algorithm == "anatomy" else [{"k-anonymity": {"k": 5}}]
        table = people(60).set_column(3, "illness", pa.array(["a", "b", "c", "d"] * 15))
        quasi = [name for name in table.column_names if name != "illness"]
        chosen = ht.Policy(quasi=quasi, sensitive=["illness"], models=models, algorithm=algorithm)
        assert verdict_of(ht.anonymize(table, chosen)).grade in ("useful", "coarse", "nearly empty")


def test_cost_ignores_what_is_not_defined():
    assert Numbers(0.4, float("nan"), float("nan")).cost == 0.4
    assert Numbers(0.2, 7.0, 0.3).cost == 0.5  # no error counts more than everything
