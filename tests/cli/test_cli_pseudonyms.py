"""Keys are made once, and pseudonyms are traced with the key and the original."""

from __future__ import annotations

import json
import os
import re

import pyarrow as pa
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


def test_what_is_missing_is_named(call, tmp_path):
    assert "is missing" in call("pseudonyms", "reveal", "release", "8c2f").err
    table = pa.table({"age": [30, 30]})
    csv.write_csv(table, tmp_path / "people.csv")
    ht.anonymize(table, ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)])).save(tmp_path / "release")
    assert "has no pseudonyms" in call("pseudonyms", "reveal", "release", "8c2f", "--data", "people.csv").err
