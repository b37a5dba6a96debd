"""Keys are made once, and pseudonyms are traced with the key and the original."""

from __future__ import annotations

import json
import os
import re

import pyarrow as pa
import pytest
from pyarrow import csv

import hushtable as ht

N = 200
PSEUDONYM = {"role": "pseudonym", "treatment": {"pseudonym": {"keep_format": True, "key": "project.key"}}}


def test_pseudonyms_are_equal_across_tables_and_revealed_with_the_key_alone(tmp_path, call):
    key = tmp_path / "project.key"
    assert call("pseudonyms", "new-key", str(key)).code == 0
    assert os.name != "posix" or key.stat().st_mode & 0o077 == 0
    again = call("pseudonyms", "new-key", str(key))
    assert again.code != 0 and "already" in again.err
    table = pa.table({"id": [f"PX-{i:06d}" for i in range(N)], "age": [20 + i % 50 for i in range(N)],
                      "ill": ["flu", "gout"] * (N // 2)})  # fmt: skip
    settings = ht.Policy(columns={"id": PSEUDONYM, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
                         models=[ht.KAnonymity(k=5)]).based_in(tmp_path)  # fmt: skip
    release = ht.anonymize(table, settings)
    other = ht.anonymize(table.slice(50, 120), settings.changed(models=[ht.KAnonymity(k=9)]))
    names = set(release.frame["id"].to_pylist())
    assert len(names) == N and set(other.frame["id"].to_pylist()) < names
    assert all(re.fullmatch(r"[A-Z]{2}-\d{6}", name) for name in names)
    release.save(tmp_path / "release")
    csv.write_csv(table, tmp_path / "people.csv")
    shown = next(iter(names))
    found = call("pseudonyms", "reveal", str(tmp_path / "release"), shown, "XX-000000", "--data",
                 str(tmp_path / "people.csv"), "--files", str(tmp_path), "--json")  # fmt: skip
    assert found.code == 0, found.err
    first, second = json.loads(found.out)["people"]
    assert first["column"] == "id" and first["value"] in table["id"].to_pylist() and second["value"] is None


@pytest.mark.parametrize(
    "change", [{"models": [{"k-anonymity": {"k": 4}}]}, {"cells": "sets"}, {"seed": 1}, "note", "hierarchy"]
)
def test_fresh_pseudonyms_join_no_two_releases(tmp_path, call, change):
    """Not even two releases of one table: by equal pseudonyms, the classes of both could be intersected."""
    day = pa.array([19_000] * N, pa.int32()).cast("date32")
    table = pa.table({"id": [f"P{i:03d}" for i in range(N)], "age": [20 + i % 50 for i in range(N)], "day": day,
                      "note": [i % 3 for i in range(N)]})  # fmt: skip
    (tmp_path / "ages.csv").write_text("\n".join(f"{age};{age // 10}" for age in range(20, 70)))
    columns = {"id": {"role": "pseudonym", "treatment": {"pseudonym": {"fresh": True}}},
               "age": {"role": "quasi", "hierarchy": "ages.csv"},
               "day": {"role": "insensitive", "treatment": {"date-shift": {"by": "id", "days": 10_000, "fresh": True}}},
               "note": {"role": "insensitive"}}  # fmt: skip
    policy = ht.Policy(columns=columns, models=[ht.KAnonymity(k=5)]).based_in(tmp_path)
    release = ht.anonymize(table, policy)
    if change == "hierarchy":
        same = (tmp_path / "ages.csv").read_text()
        (tmp_path / "ages.csv").write_text("\n".join(f"{age};{age % 10}" for age in range(20, 70)))
        other = ht.anonymize(table, policy)
        (tmp_path / "ages.csv").write_text(same)
    elif change == "note":
        other = ht.anonymize(table.set_column(3, "note", pa.array([i % 4 for i in range(N)])), policy)
    else:
        other = ht.anonymize(table, policy.changed(**change))
    assert not set(release.frame["id"].to_pylist()) & set(other.frame["id"].to_pylist())
    assert sorted(release.frame["day"].to_pylist()) != sorted(other.frame["day"].to_pylist())
    # the same release still has the same pseudonyms, in any row order and once it is opened
    again = ht.anonymize(table.take(pa.array(range(N)[::-1])), policy.changed(output={"format": "parquet"}))
    assert again.frame.equals(release.frame)
    release.save(tmp_path / "release")
    csv.write_csv(table, tmp_path / "people.csv")
    shown = release.frame["id"][0].as_py()
    found = call("pseudonyms", "reveal", str(tmp_path / "release"), shown, "--data", str(tmp_path / "people.csv"),
                 "--files", str(tmp_path))  # fmt: skip
    assert found.code == 0 and "P" in found.out and "not in the original" not in found.out


def test_what_is_missing_is_named(call, tmp_path):
    assert "is missing" in call("pseudonyms", "reveal", "release", "8c2f").err
    table = pa.table({"age": [30, 30]})
    csv.write_csv(table, tmp_path / "people.csv")
    ht.anonymize(table, ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)])).save(tmp_path / "release")
    assert "has no pseudonyms" in call("pseudonyms", "reveal", "release", "8c2f", "--data", "people.csv").err
