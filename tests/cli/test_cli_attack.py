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


def test_beliefs_come_from_a_file_or_from_the_policy(call, policy, people, release, tmp_path):
    """An adversary who is sure of everybody's value beforehand learns nothing from the release."""
    sure = [[*row[1:], str(1 / 40)] for row in rows()]
    beliefs = write_csv(tmp_path / "beliefs.csv", sure, "age,zip,disease,probability")
    asked = ["--data", people, "--only", "bayes-optimal", "--json"]
    (blind,) = call("attack", release, *asked).data["attacks"]
    (given,) = call("attack", release, *asked, "--background", beliefs).data["attacks"]
    assert blind["counts"]["records known to the background"] == 0 and blind["counts"]["greatest change"] > 0
    assert given["counts"]["records known to the background"] == 40 and given["counts"]["greatest change"] == 0
    text = policy.read_text(encoding="utf-8") + "background: {file: beliefs.csv, on: disease}\n"
    (tmp_path / "told.yaml").write_text(text, encoding="utf-8")
    assert call("run", "told.yaml", "--data", people, "--output", "told").code == 0
    (own,) = call("attack", "told", *asked, "--files", tmp_path).data["attacks"]
    assert own == given


def test_two_releases_are_intersected(call, policy, people, release, tmp_path):
    text = policy.read_text(encoding="utf-8").replace("k: 3", "k: 2")
    (tmp_path / "second.yaml").write_text(text, encoding="utf-8")
    fewer = write_csv(tmp_path / "fewer.csv", rows()[:30])
    assert call("run", "second.yaml", "--data", fewer, "--output", "second").code == 0
    asked = ["attack", release, "--data", people, "--only", "composition", "--json"]
    (found,) = call(*asked, "--other", "second", "--other-data", fewer).data["attacks"]
    assert found["targets"] == 30 and found["counts"]["releases"] == 2
    assert found["counts"]["mean values left"] < 4
    # without an original of its own it is the same people's
    assert call(*asked, "--other", release).data["attacks"][0]["targets"] == 40
    answer = call(*asked, "--other", "second", "--other", release, "--other-data", fewer)
    assert answer.code == 2 and answer.data["code"] == "no-other-original"
    alone = call(*asked)
    assert alone.code == 2 and "--other RELEASE_DIR" in alone.data["hint"]
