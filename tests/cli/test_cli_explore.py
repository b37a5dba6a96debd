"""``hushtable explore``: the solutions that a search looked at, and one of them applied."""

from __future__ import annotations

import pytest
from support_cli import CANARY, POLICY

import hushtable as ht


@pytest.fixture
def searched(policy):
    """A policy whose algorithm searches a space of levels."""
    policy.write_text(POLICY + "algorithm: optimal\n", encoding="utf-8")
    return policy


def test_the_best_solutions_come_first(call, searched, people, tmp_path):
    found = call("explore", searched, "--data", people, "--top", 2, "--json").data
    assert len(found["solutions"]) == 2 <= found["fit"] <= found["looked_at"]
    costs = [row["cost"] for row in found["solutions"] if row["fits"]]
    assert costs == sorted(costs)
    best = found["solutions"][0]
    assert found["applied"]["levels"] == {name: best[f"level of {name}"] for name in ("age", "zip")}
    assert found["applied"]["satisfied"] and found["output"] is None
    told = call("explore", searched, "--data", people, "--top", 1)
    assert told.code == 0 and f"age={best['level of age']},zip={best['level of zip']}" in told.out
    assert "To publish one of them" in told.words
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "policy.yaml"}


def test_minimal_solutions_of_incognito_come_first_and_nothing_twice(call, policy, people):
    policy.write_text(POLICY + "algorithm: incognito\n", encoding="utf-8")
    found = call("explore", policy, "--data", people, "--top", 100, "--json").data
    nodes = [(row["level of age"], row["level of zip"]) for row in found["solutions"]]
    assert len(set(nodes)) == len(nodes) == found["looked_at"] == found["notes"]["nodes_judged"]
    minimal = [node for node, row in zip(nodes, found["solutions"], strict=True) if row["minimal"]]
    assert minimal == nodes[: found["minimal"]] and sorted(map(list, minimal)) == found["notes"]["minimal_nodes"]
    told = call("explore", policy, "--data", people, "--top", 1)
    assert f"{len(minimal)} of these are minimal, and come first" in told.words and "; minimal; " in told.words


def test_another_solution_is_applied_and_written(call, searched, people, tmp_path):
    answer = call("explore", searched, "--data", people, "--levels", "age=4, zip=4", "--output", "out")
    assert answer.code == 0 and "written to out" in answer.words
    assert ht.verify(tmp_path / "out" / "release.csv", ht.load_policy(tmp_path / "out" / "policy.yaml")).ok
    assert "\n*,1****," in (tmp_path / "out" / "release.csv").read_text(encoding="utf-8")
    again = call("explore", searched, "--data", people, "--output", "out")
    assert again.code == 2 and "not empty" in again.words


@pytest.mark.parametrize("levels", ["age", "age=", "age=x", "age=-1", "age=²", "=1,age"])
def test_levels_that_are_none(call, searched, people, levels):
    answer = call("explore", searched, "--data", people, "--levels", levels)
    assert answer.code == 2 and "NAME=LEVEL" in answer.words


def test_a_column_or_a_level_that_there_is_not(call, searched, people):
    for levels in (f"{CANARY}=1", "age=99"):
        answer = call("explore", searched, "--data", people, "--levels", levels)
        assert answer.code == 2 and answer.err.startswith("Error")
    answer = call("explore", searched, "--data", people, "--levels", "age=99")
    assert "'age' has no level 99. Its levels are 0 to" in answer.words


def test_levels_without_output_show_what_they_would_give(call, searched, people, tmp_path):
    answer = call("explore", searched, "--data", people, "--levels", "age=4, zip=4")
    assert answer.code == 0 and "With age=4,zip=4:" in answer.words
    assert "To publish this solution, add --output DIR." in answer.words
    assert "The levels, with the number of labels on each:" in answer.words
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "policy.yaml"}


def test_levels_that_do_not_satisfy_the_models(call, searched, people):
    answer = call("explore", searched, "--data", people, "--levels", "age=0,zip=0")
    assert answer.code == 3 and "With age=0, zip=0 the models do not hold" in answer.words


def test_an_algorithm_without_a_space(call, policy, people):
    answer = call("explore", policy, "--data", people)
    assert answer.code == 2 and "mondrian does not search" in answer.words
