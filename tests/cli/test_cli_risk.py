from __future__ import annotations

import pytest
from support_cli import CANARY, rows, write_csv

from hushtable import registry

NEED_MORE = {"household", "individual", "l-diversity"}  # weights, households, or to be named


def test_before_and_after(call, release, people):
    data = call("risk", release, "--data", people, "--json").data
    assert set(data["risks"]) == set(registry.risks) - NEED_MORE
    assert data["before_only"] is False
    prosecutor = data["risks"]["prosecutor"]
    assert prosecutor["before"]["highest"] == 1.0
    assert prosecutor["before"]["people"] == 40
    assert prosecutor["after"]["highest"] <= 1 / 3
    assert data["risks"]["sample-uniqueness"]["before"]["share"] == 1.0
    assert data["risks"]["sample-uniqueness"]["after"]["uniques"] == 0
    assert data["risks"]["minimal-uniques"]["after"]["subsets"] == []


def test_a_raw_table(call, policy, people):
    data = call("risk", people, "--policy", policy, "--only", "prosecutor", "--threshold", "1", "--json").data
    found = data["risks"]["prosecutor"]
    assert data["before_only"] is True
    assert "after" not in found
    assert found["before"]["at_risk"] == 0
    assert found["parameters"] == {"threshold": 1.0}


def test_parameters_reach_the_risks_that_have_them(call, policy, people):
    words = ("--only", "dankar,prosecutor", "--fraction", "0.05", "--threshold", "0.2")
    found = call("risk", people, "--policy", policy, *words, "--json").data["risks"]
    assert found["dankar"]["before"]["population"] == 800
    assert found["dankar"]["before"]["estimator"] == "pitman"
    assert found["prosecutor"]["before"]["threshold"] == 0.2


@pytest.mark.parametrize("raw", [True, False])
def test_in_words_at_80_columns_without_values(call, release, policy, people, tmp_path, raw):
    answer = call("risk", people, "--policy", policy) if raw else call("risk", release, "--data", people)
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert all(name in answer.out for name in set(registry.risks) - NEED_MORE)
    assert "age" in answer.out
    assert not any(row[2] in answer.out for row in rows())


def test_only_one_in_words(call, policy, people):
    out = call("risk", people, "--policy", policy, "--only", "minimal-uniques").words
    assert "Columns that single people out, before:" in out
    assert "zip" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["release"], "Add --data FILE"),
        (["release", "--data", "people.csv", "--policy", "policy.yaml"], "has its own policy"),
        (["people.csv"], "Add --policy POLICY"),
        (["people.csv", "--policy", "policy.yaml", "--only", "prosecuter"], "Did you mean 'prosecutor'?"),
        (["people.csv", "--policy", "policy.yaml", "--threshold", "7"], "'--threshold': It must be at most 1."),
        (["people.csv", "--policy", "policy.yaml", "--fraction", "-1"], "'--fraction': It must be at least 0."),
        (["people.csv", "--policy", "policy.yaml", "--fraction", "0"], "in (0, 1]"),
        (["absent.csv", "--policy", "policy.yaml"], "absent.csv"),
    ],
)
def test_bad_calls(call, release, words, complaint):
    answer = call("risk", *words)
    assert answer.code == 2
    assert complaint in answer.words


def test_other_originals_are_refused(call, release, tmp_path):
    other = write_csv(
        tmp_path / "other.csv", [[row[0], row[1], f"{CANARY}{i % 2}", row[3]] for i, row in enumerate(rows())]
    )
    answer = call("risk", release, "--data", other)
    assert answer.code == 2
    assert "differ from those that the release was made from" in answer.err
    assert CANARY not in answer.out + answer.err


def test_where_the_population_comes_from_is_said_once(call, policy, people):
    words = call("risk", people, "--policy", policy, "--only", "dankar,zayatz").words
    assert words.count("treated as the whole population") == 1
    words = call("risk", people, "--policy", policy, "--only", "dankar,zayatz", "--fraction", "0.2").words
    assert words.count("20.0% of the population, according to the sampling fraction") == 1


def test_thresholds_are_shown_with_their_operator(call, policy, people):
    words = call("risk", people, "--policy", policy, "--only", "prosecutor,k-map", "--threshold", "0.2").words
    assert "share at risk (> 0.2) 100.0%" in words
    assert "below k=5 40" in words


def test_survey_risks_in_words(call, tmp_path):
    file, policy = tmp_path / "survey.csv", tmp_path / "survey.yaml"
    file.write_text(
        "age,disease,w,home\n"
        + "".join(f"{30 + i % 4},{'flu' if i % 3 else 'gout'},{5 + i},{i // 2}\n" for i in range(20))
    )
    policy.write_text(
        "columns:\n  age: {role: quasi}\n  disease: {role: sensitive}\n  w: {role: weight}\n  home: {role: cluster}\n"
        "models: [k-anonymity: {k: 2}]\n"
    )
    found = call("risk", file, "--policy", policy)
    assert "according to the survey weights" in found.out
    assert all(name in found.out for name in ("individual", "household", "expected households"))
    named = call("risk", file, "--policy", policy, "--only", "l-diversity")
    assert "entropy" in named.out and max(map(len, named.out.splitlines())) <= 80
