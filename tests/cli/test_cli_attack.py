from __future__ import annotations

from support_cli import CANARY, rows, write_csv

from hushtable import registry


def test_the_list_needs_nothing_else(call):
    data = call("attack", "--list", "--json").data
    assert [entry["name"] for entry in data["attacks"]] == list(registry.attacks)
    assert all(name in call("attack", "--list").out for name in registry.attacks)


def test_named_attacks(call, release, people):
    data = call("attack", release, "--data", people, "--only", "homogeneity, skewness", "--json").data
    assert [entry["attack"] for entry in data["attacks"]] == ["homogeneity", "skewness"]
    assert data["attacks"][0]["targets"] == 40 and data["attacks"][0]["successes"] == 0
    assert data["not_run"] == {}


def test_all_attacks_in_words(call, release, people):
    answer = call("attack", release, "--data", people)
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert all(name in answer.out for name in registry.attacks)
    assert "similarity: The similarity attack needs sensitivity categories" in answer.words


def test_what_cannot_run_is_an_error_where_it_was_asked_for(call, release, people):
    answer = call("attack", release, "--data", people, "--only", "similarity", "--json")
    assert answer.code == 2 and answer.data["code"] == "no-categories"


def test_people_from_outside(call, release, people, tmp_path):
    known = write_csv(tmp_path / "known.csv", [row[:3] for row in rows()[:7]], "name,age,zip")
    data = call("attack", release, "--data", people, "--only", "linkage", "--external", known, "--json").data
    assert data["attacks"][0]["targets"] == 7
    bad = write_csv(tmp_path / "bad.csv", [[CANARY, "1"]], "name,age")
    for asked in (["--only", "linkage"], []):
        answer = call("attack", release, "--data", people, *asked, "--external", bad)
        assert answer.code == 2 and "lacks the quasi-identifiers 'zip'" in answer.words
        assert CANARY not in answer.words


def test_nothing_to_attack(call, release, people):
    assert call("attack").code == 2
    assert call("attack", release).code == 2
    assert call("attack", people, "--data", people).code == 2
    answer = call("attack", release, "--data", people, "--only", "homogenity")
    assert answer.code == 2 and "Did you mean 'homogeneity'?" in answer.words


def test_other_originals_are_refused(call, release, tmp_path):
    other = write_csv(tmp_path / "other.csv", [[*row[:3], CANARY] for row in rows()])
    answer = call("attack", release, "--data", other)
    assert answer.code != 0 and CANARY not in answer.words
