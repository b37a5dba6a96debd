from __future__ import annotations

from pathlib import Path

import pytest

from hushtable.io.secret import SECRET


@pytest.fixture
def release(call, policy, people, tmp_path):
    policy.write_text(policy.read_text() + "\nguard: [minimality, downcoding]\n")
    assert call("run", policy, "--data", people).code == 0
    return tmp_path / "release"


def test_the_price_in_words(call, release, people):
    answer = call("price", release, "--data", people)
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "guard" in answer.out and "tight" in answer.out
    assert "downcoding" in answer.out and "attack" in answer.out and "ncp" in answer.out


def test_the_price_as_data(call, release, people):
    data = call("price", release, "--data", people, "--only", "ncp", "--json").data
    assert [v["guards"] for v in data["variants"]] == [
        [],
        [],
        ["minimality"],
        ["downcoding"],
        ["minimality", "downcoding"],
    ]
    assert [v["tight"] for v in data["variants"]] == [True, False, False, False, False]
    assert data["variants"][-1]["measures"]["ncp"] >= data["variants"][0]["measures"]["ncp"]
    assert 0 <= data["variants"][0]["attacks"]["downcoding"]["rate"] <= 1


def test_a_release_without_guards(call, policy, people):
    assert call("run", policy, "--data", people).code == 0
    answer = call("price", "release", "--data", people, "--json")
    assert answer.code == 0
    tight, regions = answer.data["variants"]
    assert tight["tight"] and not regions["tight"]
    assert regions["measures"]["ncp"] >= tight["measures"]["ncp"]
    assert {"rate", "baseline"} <= set(regions["attacks"]["downcoding"])


def test_a_release_that_nothing_made_safer_at_a_price(call, policy, people):
    policy.write_text(policy.read_text() + "\ncells: intervals\n")
    assert call("run", policy, "--data", people).code == 0
    answer = call("price", "release", "--data", people, "--json")
    assert answer.code == 2 and answer.data["code"] == "no-guards"


def test_a_misspelt_measure(call, release, people):
    assert call("price", release, "--data", people, "--only", "npc", "--json").data["code"] == "unknown-measure"


@pytest.mark.parametrize("command", ["price", "measure", "attack", "risk"])
def test_another_secret_is_told(call, release, people, monkeypatch, tmp_path, command):
    monkeypatch.setenv(SECRET, str(tmp_path / "another"))
    answer = call(command, release, "--data", people, "--json")
    assert answer.code == 2 and answer.data["code"] == "other-secret"
    assert "HUSHTABLE_SECRET" in answer.data["hint"] and "can still be verified" in answer.data["hint"]


def test_without_the_companion_the_same_secret_makes_the_release_again(call, release, people, tmp_path):
    companion = Path(f"{release}.private")
    words = ("verify", release / "release.csv", "--policy", release / "policy.yaml", "--data", people, "--rerun")
    companion.rename(tmp_path / "elsewhere")
    assert call(*words).code == 0
    answer = call("measure", release, "--data", people, "--json")
    assert answer.code == 2 and answer.data["code"] == "needs-companion"
    (tmp_path / "elsewhere").rename(companion)
    assert call(*words).code == 0 and call("measure", release, "--data", people).code == 0


def test_a_guard_that_does_not_fit_is_told_by_check(call, policy, people):
    policy.write_text(policy.read_text() + "\nalgorithm: mdav\nguard: [downcoding]\n")
    answer = call("check", policy, "--data", people)
    assert answer.code == 2 and "representatives" in answer.out + answer.err
