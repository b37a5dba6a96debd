"""The public calls: anonymize, verify, save, and what a release shows."""

from __future__ import annotations

import json
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv

import hushtable as ht
from hushtable import registry
from hushtable.datasets import patients
from hushtable.errors import (
    Cancelled,
    DataError,
    PolicyError,
    PrivacyLeakWarning,
    UsageError,
    VerificationError,
)


@pytest.fixture
def table() -> pa.Table:
    return pa.table(
        {
            "name": [f"CANARY{i}" for i in range(12)],
            "age": [27, 28, 26, 25, 41, 48, 45, 42, 33, 37, 36, 35],
            "zip": "14248 14207 14206 14249 13053 13074 13064 13062 14248 14204 14205 14248".split(),
            "disease": "HIV HIV Cancer Cancer Hepatitis Phthisis Asthma Obesity Flu Flu Flu Indigestion".split(),
        }
    )


@pytest.fixture
def policy() -> ht.Policy:
    return ht.Policy(
        identifiers=["name"],
        quasi={"age": {}, "zip": {"hierarchy": {"prefix": "*"}, "cells": "nodes"}},
        sensitive=["disease"],
        models=[ht.KAnonymity(k=3), ht.PSensitive(p=2)],
    )


def test_a_slip_in_a_name_is_named_with_rest_too_and_long_tables_are_not_listed_in_full():
    wide = pa.table({f"q{i}": [1, 2] for i in range(100)} | {"Age": [1, 2]})
    policy = ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)], rest="drop")
    with pytest.raises(PolicyError, match="Did you mean 'Age' instead of 'age'"):
        ht.anonymize(wide, policy)
    with pytest.raises(PolicyError, match="and 81 others") as caught:
        ht.anonymize(wide, ht.Policy(quasi=["income"], models=[ht.KAnonymity(k=2)], rest="drop"))
    assert "'q30'" not in str(caught.value)


def test_save_then_verify_from_the_file_alone(table, policy, tmp_path):
    release = ht.anonymize(table, policy)
    folder = release.save(tmp_path / "out")
    assert sorted(p.name for p in folder.iterdir()) == ["policy.yaml", "release.csv", "release.json"]
    assert "CANARY" not in "".join(p.read_text() for p in folder.iterdir())
    found = ht.verify(folder / "release.csv", ht.load_policy(folder / "policy.yaml"))
    assert found.ok
    assert [e.achieved for e in found.evidence] == [e.achieved for e in release.verification.evidence]
    assert ht.verify(release.frame, policy).ok


def test_a_tampered_file_is_caught(table, policy, tmp_path):
    folder = ht.anonymize(table, policy).save(tmp_path / "out")
    path = folder / "release.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1].replace(lines[-1].split(",")[-2], "99999")]) + "\n")
    with pytest.raises(DataError, match="was changed after the release was made"):
        ht.verify(path, policy)
    (tmp_path / "out.private").rename(tmp_path / "elsewhere")
    found = ht.verify(path, policy)
    assert not found.ok
    with pytest.raises(VerificationError, match="k-anonymity"):
        found.raise_if_violated()


def test_the_summary_is_data_and_the_notebook_view_has_no_record(table, policy):
    release = ht.anonymize(table, policy)
    summary = json.loads(json.dumps(release.summary()))
    assert summary["records"] == summary["released"] == 12
    assert summary["satisfied"] is True
    assert "CANARY" not in release._repr_html_()
    assert "k-anonymity" in release._repr_html_()
    groups = release.groups
    assert sum(groups["people"].to_pylist()) == 12
    assert groups["p-sensitive (disease)"].to_pylist() == [
        len({r["disease"] for r in release.table.to_pylist() if (r["age"], r["zip"]) == cell})
        for cell in zip(groups["age"].to_pylist(), groups["zip"].to_pylist(), strict=True)
    ]


def test_cancelling_leaves_nothing(table, policy):
    def stop(share: float, what: str) -> None:
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        ht.anonymize(table, policy, progress=stop)


def test_measures_by_name(table, policy):
    release = ht.anonymize(table, policy)
    assert release.measure("discernibility") == sum(p * p for p in release.groups["people"].to_pylist())
    assert set(release.measures(["ncp", "prec"])) == {"ncp", "prec"}
    with pytest.raises(UsageError, match="no measure 'nzp'"):
        release.measure("nzp")


def test_unknown_attributes_say_so():
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        ht.Nope  # noqa: B018


def test_the_tab_key_finds_calls_and_classes():
    assert {"anonymize", "draft_policy", "profile", "Policy", "KAnonymity", "Mondrian"} <= set(dir(ht))
    assert all(getattr(ht, name) is not None for name in dir(ht))


def test_what_is_found_shows_itself_in_a_few_lines_without_a_record(table, policy):
    release = ht.anonymize(table, policy)
    assert repr(release).splitlines()[0] == "Release: 12 of 12 records in 4 classes, 0 suppressed"
    assert "k-anonymity(k=3): achieved 3, required >= 3: holds" in repr(release)
    assert repr(release.verify()).splitlines()[0] == "Verification: verified; 12 rows in 4 classes"
    risks, attack = release.risk(), release.attack("homogeneity")
    assert ["prosecutor", "highest", "1", "0.3333"] in risks.rows()
    assert "<td>prosecutor</td>" in risks._repr_html_()
    assert repr(attack).startswith("homogeneity: ")
    compared = ht.compare(table, policy, {"algorithms": ["mondrian"], "models": [{"k-anonymity": {"k": [2, 3, 60]}}]})
    chosen = compared.suggest(where=["prosecutor <= 0.4"])
    shown = [release, release.verify(), risks, attack, compared, chosen, ht.profile(table)]
    for found in shown:
        assert "CANARY" not in repr(found) and "Phthisis" not in repr(found)
        assert len(repr(found)) < 4000
    assert repr(compared).splitlines()[0] == "3 settings compared; * is on the frontier"
    assert repr(chosen).startswith("Suggestion: mondrian, k-anonymity k=2")


def test_people_with_several_rows_are_told(policy, table):
    twice = pa.concat_tables([table, table])
    release = ht.anonymize(twice, policy.changed(entity="name"))
    assert "24 of 24 records of 12 people" in repr(release)


def test_a_policy_that_is_none(table):
    with pytest.raises(UsageError, match=r"must be a Policy, not dict. Write ht\.Policy\("):
        ht.anonymize(table, {"k": 5})


def test_a_drafted_policy_runs_once_it_is_corrected(table):
    drafted = ht.draft_policy(table)
    assert {n: str(c.role) for n, c in drafted.columns.items()} == {
        "name": "identifier", "age": "quasi", "zip": "quasi", "disease": "sensitive",
    }  # fmt: skip
    assert drafted.columns["zip"].hierarchy == {"standard": "us-zip3"}
    changed = drafted.with_column("zip", role="insensitive").changed(models=[ht.KAnonymity(k=3)])
    assert changed.columns["zip"].hierarchy is None
    assert ht.anonymize(table, changed).verify().ok
    assert drafted.with_column("zip", hierarchy=None).columns["zip"].hierarchy is None
    with pytest.raises(UsageError, match=r"no column 'zib' in the policy. Did you mean 'zip'"):
        drafted.with_column("zib", role="quasi")


def test_a_policy_shows_itself_as_its_file(policy):
    assert str(policy) == policy.to_yaml()
    assert policy._repr_html_().startswith("<pre>format: 2\ncolumns:\n  name: {role: identifier}")


def test_a_misspelt_column_is_told_beside_those_without_a_role(table):
    with pytest.raises(PolicyError, match=r"no role in the policy: 'name', 'age', .* does not have: 'agee'"):
        ht.anonymize(table, ht.Policy(quasi=["agee"], models=[ht.KAnonymity(k=3)]))


def test_columns_that_are_published_as_they_are_keep_their_types():
    pd = pytest.importorskip("pandas")
    n = 12
    frame = pd.DataFrame(
        {
            "age": range(n),
            "size": pd.array([1, None] * 6, dtype="Int8"),
            "open": pd.array([True, None] * 6, dtype="boolean"),
            "word": pd.array(["x", None] * 6, dtype="string"),
            "grade": pd.Categorical(["lo", "hi"] * 6, categories=["lo", "never", "hi"], ordered=True),
            "when": pd.date_range("2020", periods=n, tz="Europe/Berlin"),
        }
    ).set_index(pd.Index(range(100, 100 + n)))
    published = ht.anonymize(
        frame, ht.Policy(quasi=["age"], insensitive=list(frame.columns[1:]), models=[ht.KAnonymity(k=3)])
    ).frame
    for name in ("size", "open", "word", "when"):
        assert published[name].dtype == frame[name].dtype
    assert published["grade"].dtype == pd.CategoricalDtype(["lo", "hi"], ordered=True), "nobody has the other"
    assert list(published.index) == list(range(n))


def test_polars_enums_keep_what_occurs():
    pl = pytest.importorskip("polars")
    levels = pl.Enum(["lo", "never", "hi"])
    frame = pl.DataFrame({"age": list(range(12)), "grade": pl.Series(["lo", "hi"] * 6, dtype=levels)})
    policy = ht.Policy(quasi=["age"], insensitive=["grade"], models=[ht.KAnonymity(k=3)])
    assert ht.anonymize(frame, policy).frame.schema["grade"] == pl.Enum(["lo", "hi"])
    assert ht.anonymize(frame.lazy(), policy).frame.schema["grade"] == pl.Enum(["lo", "hi"])


def test_a_measure_is_given_by_name_or_as_an_object(table, policy):
    release = ht.anonymize(table, policy)
    assert release.measures("ncp") == release.measures(["ncp"]) == {"ncp": release.measure("ncp")}
    assert release.measure(ht.Ncp()) == release.measure(ht.Ncp) == release.measure("ncp")
    assert release.risk(registry.risks["prosecutor"](threshold=0.5)) == release.risk("prosecutor", threshold=0.5)
    assert release.attack(registry.attacks["homogeneity"]()) == release.attack("homogeneity")
    with pytest.raises(UsageError, match="has its parameters already"):
        release.measure(ht.Accuracy(), model="tree")
    with pytest.raises(UsageError, match="Measures must be names or objects, not int"):
        release.measure(3)
    with pytest.raises(UsageError, match="Attacks must be names"):
        release.attack(None)
    with pytest.raises(UsageError, match="must be a str, list of str or None, not Ncp"):
        release.measures(ht.Ncp())


def test_accuracy_names_its_target_and_is_that_of_the_report(tmp_path):
    people = patients(400)
    roles = {"identifiers": ["name", "patient_id"], "quasi": ["age", "sex"], "sensitive": ["diagnosis"]}
    policy = ht.Policy(**roles, models=[ht.KAnonymity(k=5)], rest="insensitive")
    release = ht.anonymize(people, policy)
    found = release.measure("accuracy")
    assert repr(found) == f"{float(found)} (predicting 'diagnosis' with a decision tree of depth at most 10)"
    assert pickle.loads(pickle.dumps(found)).about == found.about
    reported = release.report(tmp_path / "evidence.html", attacks=False).facts.accuracy[0]
    assert (reported.target, reported.release) == ("diagnosis", float(found))
    # labels of a model are usually insensitive
    assert 0 < release.measure("accuracy", target="education") < 1
    assert release.measure("accuracy-original", target="education") > 0
    release.save(tmp_path / "release")
    opened = ht.open_release(tmp_path / "release", people)
    assert opened.measure("accuracy", target="education") == release.measure("accuracy", target="education")
    with pytest.raises(UsageError, match="'age' is not a sensitive or insensitive column"):
        release.measure("accuracy", target="age")


def test_models_of_several_conditions_say_what_each_achieves(table, policy, tmp_path):
    models = [ht.AlphaK(alpha=0.7, k=3), ht.AverageRisk(average=0.5, maximum=0.5)]
    release = ht.anonymize(table, policy.changed(models=models))
    sizes = release.groups["people"].to_pylist()
    text = repr(release)
    assert f"achieved average {len(sizes) / 12:.6g}, maximum {1 / min(sizes):.6g}, required average <= 0.5, max" in text
    assert f", k {min(sizes):g}, required alpha <= 0.7, k >= 3: holds" in text
    told = json.loads((release.save(tmp_path / "out") / "release.json").read_text())["models"]
    shown = {m["model"]: [q["quantity"] for q in m["quantities"]] for m in told}
    assert shown == {"average-risk": ["average", "maximum"], "alpha-k": ["alpha", "k"]}
    assert "alpha &lt;= 0.7" in release._repr_html_()


def test_aligned_rows_have_the_index_of_the_input(table, policy):
    frame = table.to_pandas().set_index(pd.Index(range(100, 112))).sample(frac=1, random_state=3)
    release = ht.anonymize(frame, policy)
    with pytest.warns(PrivacyLeakWarning):
        aligned = release.aligned()
    aligned["label"] = frame["disease"]
    assert (aligned["label"] == aligned["disease"]).all()
    assert release.frame.index.tolist() == list(range(12))


@pytest.mark.parametrize(("rest", "published"), [
    ("drop", ["age", "disease"]), ("insensitive", ["age", "disease", "name", "zip"]),
    ("quasi", ["age", "disease", "name", "zip"]),
])  # fmt: skip
def test_the_rest_of_the_columns_has_one_role(table, tmp_path, rest, published):
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=3)], rest=rest)
    assert ht.Policy.from_yaml(policy.to_yaml()) == policy
    for data in (table, table.to_pandas(), pl.from_arrow(table), pl.from_arrow(table).lazy()):
        release = ht.anonymize(data, policy)
        assert list(release.table.column_names) == published
    assert ht.verify(release.table, policy).ok
    csv.write_csv(table, tmp_path / "people.csv")
    for engine in ("local", "stream"):
        written = ht.run(tmp_path / "people.csv", policy, tmp_path / engine, engine=engine)
        assert written.columns == published
        assert ht.load_policy(tmp_path / engine / "policy.yaml").rest is None
        assert ht.verify(tmp_path / engine / "release.csv", policy).ok
    compared = ht.compare(table, policy, {"models": [{"k-anonymity": {"k": [2, 3]}}]})
    assert [row["status"] for row in compared.rows] == ["ok", "ok"]
    if rest != "quasi":
        with pytest.raises(PolicyError, match="no quasi-identifier"):
            ht.Policy(models=[ht.KAnonymity(k=3)], rest=rest)
