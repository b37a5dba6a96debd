"""The public calls: anonymize, verify, save, and what a release shows."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import Cancelled, UsageError, VerificationError


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
