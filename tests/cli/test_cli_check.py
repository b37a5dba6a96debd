from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet
from support_cli import CANARY, POLICY, rows, write_csv


def test_nothing_in_the_way(call, policy, people):
    answer = call("check", policy, "--data", people)
    assert answer.code == 0
    assert "No problems found" in answer.out
    data = call("check", policy, "--data", people, "--json").data
    assert data["ok"] is True
    assert data["rows"] == 40
    # age: value, 5, 10, 20, *; zip: five characters masked one by one
    assert data["lattice"] == 5 * 6
    assert [m["feasible"] for m in data["models"]] == [True, True]


def test_levels_that_join_nothing_are_not_listed(call, tmp_path):
    policy, data = tmp_path / "five.yaml", tmp_path / "five.csv"
    policy.write_text("columns: {age: {role: quasi, hierarchy: {standard: ages}}}\nmodels: [{k-anonymity: {k: 2}}]\n")
    data.write_text("age\n" + "".join(f"{31 + i % 5}\n" for i in range(40)))
    assert "  5 > 2 > 1" in call("check", policy, "--data", data).out
    assert call("check", policy, "--data", data, "--json").data["columns"][0]["levels"] == [5, 2, 2, 1, 1]


def test_without_data_only_the_policy_is_checked(call, policy):
    answer = call("check", policy)
    assert answer.code == 0
    assert "is a valid policy" in answer.words
    assert call("check", policy, "--json").data == {"ok": True, "problems": []}


def test_every_fault_of_a_policy(call, policy):
    policy.write_text(POLICY.replace("seed:", "sede:").replace("role: sensitive", "rolle: sensitive"))
    answer = call("check", policy)
    assert answer.code == 2
    assert "Did you mean 'seed'?" in answer.words
    assert "Did you mean 'role'?" in answer.words
    problems = call("check", policy, "--json").data["problems"]
    assert {p["where"] for p in problems} == {"line 5", "line 9"}


def test_every_problem_at_once(call, policy, tmp_path):
    policy.write_text(
        POLICY.replace('{prefix: "*"}', "{tree: {any: ['14000']}}")
        .replace("name:", "surname:")
        .replace("k: 3", "k: 41")
        .replace("l: 2", "l: 5")
    )
    data = write_csv(tmp_path / "people.csv", [[CANARY, *row[1:]] for row in rows()])
    answer = call("check", policy, "--data", data, "--json")
    assert answer.code == 2
    assert [(p["where"], p["code"]) for p in answer.data["problems"]] == [
        ("columns", "unassigned-columns"),
        ("columns", "absent-columns"),
        ("zip", "uncovered"),
        ("k-anonymity", "infeasible"),
        ("distinct-l", "infeasible"),
    ]
    assert answer.data["problems"][1]["hint"] == "Did you mean 'name' instead of 'surname'?"
    text = call("check", policy, "--data", data)
    assert "does not cover 39 values (39 records)" in text.out
    assert max(map(len, text.out.splitlines())) <= 80
    assert CANARY not in text.out + text.err


def test_a_table_in_place_of_the_policy(call, people):
    answer = call("check", people, "--data", people)
    assert answer.code == 2 and ".csv: A policy is a mapping of settings." in answer.words


def test_the_policy_of_another_table(call, policy, tmp_path):
    data = tmp_path / "other.csv"
    data.write_text("country,town,salary\nFR,Paris,3\n")
    (problem,) = call("check", policy, "--data", data, "--json").data["problems"]
    assert "none of the policy's columns" in problem["message"] and "Is it the right table?" in problem["hint"]


def test_only_infeasible_is_exit_3(call, policy, people):
    policy.write_text(POLICY.replace("l: 2", "l: 5"))
    answer = call("check", policy, "--data", people)
    assert answer.code == 3
    assert "l=5 but 'disease' has 4 distinct values." in answer.out


def test_suppression_may_make_a_model_feasible(call, policy, people):
    shared = POLICY.replace("distinct-l: {l: 2}", "value-bounds: {bounds: {flu: 0.1}}")
    policy.write_text(shared)
    assert call("check", policy, "--data", people).code == 3
    policy.write_text(shared + "suppression: 0.5\n")
    assert call("check", policy, "--data", people).code == 0


def test_a_column_that_cannot_be_used_hides_no_other_problem(call, policy, tmp_path):
    policy.write_text(POLICY.replace("k: 3", "k: 99") + "missing: error\n")
    cells = rows()
    cells[0][1], cells[1][2] = CANARY, ""
    data = write_csv(tmp_path / "people.csv", cells)
    answer = call("check", policy, "--data", data, "--json")
    assert answer.code == 2
    assert [p["where"] for p in answer.data["problems"]] == ["age", "zip"]
    assert [m["feasible"] for m in answer.data["models"]] == [None, None]
    assert CANARY not in answer.out


def test_a_sensitive_value_without_a_category(call, policy, people):
    policy.write_text(
        POLICY.replace("disease: {role: sensitive}", "disease: {role: sensitive, categories: {a: [flu], b: [cough]}}")
    )
    answer = call("check", policy, "--data", people, "--json")
    assert answer.code == 2
    assert [p["where"] for p in answer.data["problems"]] == ["disease"]
    assert [m["feasible"] for m in answer.data["models"]] == [True, None]


@pytest.mark.parametrize("missing", ["policy", "data"])
def test_missing_files(call, policy, people, missing):
    words = ["nowhere.yaml", "--data", people] if missing == "policy" else [policy, "--data", "nowhere.csv"]
    answer = call("check", *words)
    assert answer.code == 2
    assert "nowhere" in answer.err


def test_a_hierarchy_file_that_is_not_there(call, policy, people):
    policy.write_text(POLICY.replace('{prefix: "*"}', "nowhere.csv"))
    for words in ([], ["--data", people]):
        answer = call("check", policy, *words, "--json")
        assert answer.code == 2
        assert [p["where"] for p in answer.data["problems"]] == ["zip"]
        assert "nowhere.csv" in answer.data["problems"][0]["message"]


def test_an_entity_with_gaps(call, policy, tmp_path):
    policy.write_text(POLICY + "entity: name\n")
    data = write_csv(tmp_path / "people.csv", [["", *row[1:]] for row in rows()])
    answer = call("check", policy, "--data", data)
    assert answer.code == 2
    assert "entity column 'name'" in answer.out


def test_a_kept_column_that_cannot_be_published(call, policy, tmp_path):
    """A run would refuse it."""
    cells = zip(*rows(), strict=True)
    table = pa.table(dict(zip(("name", "age", "zip", "disease"), map(list, cells), strict=True)))
    parquet.write_table(table.append_column("visits", pa.array([[1, 2]] * 40)), tmp_path / "people.parquet")
    policy.write_text(POLICY.replace("models:", "  visits: {role: insensitive}\nmodels:"))
    data = tmp_path / "people.parquet"
    found = call("check", policy, "--data", data, "--json")
    assert found.code == 2
    assert [(p["where"], p["code"]) for p in found.data["problems"]] == [("visits", "unsupported-type")]
    assert call("run", policy, "--data", data, "--json").data["code"] == "unsupported-type"
