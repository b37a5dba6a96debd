from __future__ import annotations

from support_cli import CANARY


def test_any_table_is_audited(call, people):
    data = call("audit", people, "--quasi", "age, zip", "--sensitive", "disease", "--json").data
    readings = {r["reading"]: r["value"] for r in data["readings"]}
    assert readings["k"] >= 1
    assert {"l", "t", "beta", "delta", "entropy_l", "alpha"} <= set(readings)
    answer = call("audit", people, "--quasi", "zip", "--sensitive", "disease")
    assert answer.code == 0
    assert "entropy_l" in answer.out and CANARY not in answer.out


def test_a_check_is_a_gate(call, people):
    failing = call("audit", people, "--quasi", "age,zip", "--check", "k=1000")
    assert failing.code == 1
    assert "but must be at least 1,000" in failing.err
    assert call("audit", people, "--quasi", "age", "--check", "k=1000", "--json").data["code"] == "audit"
    assert call("audit", people, "--quasi", "age", "--check", "k").code == 2
    assert "k=5, not 'k'" in call("audit", people, "--quasi", "age", "--check", "k").err
    assert call("audit", people, "--quasi", "age,zip", "--fail-under", "k=1000").err == failing.err
    one = call("audit", people, "--quasi", "age", "--sensitive", "disease", "--check", "alpha=1,t=1")
    assert (one.code, "All checks passed." in one.out) == (0, True)


def test_wrong_columns(call, people):
    assert "Did you mean 'zip'?" in call("audit", people, "--quasi", "zipp").err
    assert call("audit", people, "--quasi", "").code == 2


def test_a_database_counts_for_us(call, people, tmp_path, monkeypatch):
    from hushtable.io.files import read_table
    from hushtable.io.sql import write_sql
    from hushtable.io.sql_duckdb import DuckDatabase

    base = f"duckdb:///{tmp_path / 'clinic.db'}"
    write_sql(read_table(people), base, table="people")
    local = call("audit", people, "--quasi", "age,zip", "--sensitive", "disease", "--json").data
    monkeypatch.setattr(DuckDatabase, "batches", None)  # nothing may be read
    asked = ("audit", base, "--table", "people", "--quasi", "age,zip")
    there = call(*asked, "--sensitive", "disease", "--json").data
    assert there["readings"] == local["readings"] and there["smallest_classes"] == local["smallest_classes"]
    assert call(*asked, "--fail-under", "k=1000").code == 1
