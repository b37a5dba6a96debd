from __future__ import annotations

import json

import pytest
from support_cli import CANARY, POLICY, rows, write_csv

from hushtable.policy.policy import Policy


@pytest.fixture
def release(release):
    return release / "release.csv"


def test_satisfied(call, release, policy):
    answer = call("verify", release, "--policy", policy)
    assert answer.code == 0
    assert "Satisfied" in answer.out
    data = call("verify", release, "--policy", policy, "--json").data
    assert data["satisfied"] is True
    assert data["rows"] == 40


def test_a_stronger_promise_is_violated(call, release, policy):
    policy.write_text(POLICY.replace("k: 3", "k: 30"))
    answer = call("verify", release, "--policy", policy)
    assert answer.code == 1
    assert "VIOLATED" in answer.out
    answer = call("verify", release, "--policy", policy, "--json")
    assert answer.code == 1
    assert answer.data["satisfied"] is False
    assert answer.data["models"][0]["violations"] > 0


def test_with_the_original_what_counts_people_is_verified_too(call, policy, tmp_path):
    people = write_csv(tmp_path / "visits.csv", [[f"person {i // 2}", *row[1:]] for i, row in enumerate(rows())])
    policy.write_text(f"{POLICY}entity: name\n")
    assert call("run", policy, "--data", people).code == 0
    published = tmp_path / "release" / "release.csv"
    answer = call("verify", published, "--policy", policy)
    assert answer.code == 2
    assert "hushtable verify --data" in answer.words
    words = ("verify", published, "--policy", policy, "--data", people)
    answer = call(*words)
    assert (answer.code, "gives exactly this file" in answer.words) == (0, False)
    assert "was not read" not in answer.words
    answer = call(*words, "--rerun")
    assert (answer.code, "gives exactly this file" in answer.words) == (0, True)
    answer = call(*words, "--json")
    assert (answer.data["satisfied"], answer.data["reproduced"]) == (True, False)
    published.write_text(published.read_text().replace("flu", "cough", 1))
    for more, code in ((["--rerun"], "not-reproduced"), ([], "changed-file")):
        answer = call(*words, *more, "--json")
        assert (answer.code, answer.data["code"]) == (2, code)
    assert call("verify", published, "--policy", policy, "--rerun", "--json").data["code"] == "no-original"
    for more in (["--rerun"], []):
        elsewhere = ("verify", "sqlite:///x.db?table=t", "--policy", policy, "--data", people)
        assert call(*elsewhere, *more, "--json").data["code"] == "not-a-file"


def test_an_original_that_is_not_needed_is_said_to_be_unread(call, policy, people, tmp_path):
    assert call("run", policy, "--data", people).code == 0
    wrong = write_csv(tmp_path / "wrong.csv", rows()[:9])
    unread = "so --data was not read. To compare it, add --rerun."
    answer = call("verify", "release", "--data", wrong)
    assert (answer.code, unread in answer.words) == (0, True)
    answer = call("verify", "release", "--data", people, "--rerun")
    assert (answer.code, unread in answer.words) == (0, False)
    assert unread not in call("verify", "release").words
    # without the companion, the original is compared
    (tmp_path / "release.private").rename(tmp_path / "kept")
    assert call("verify", "release", "--data", wrong).code == 2
    answer = call("verify", "release", "--data", people)
    assert (answer.code, unread in answer.words) == (0, False)


def test_a_row_that_was_added_is_noticed(call, release, policy, tmp_path):
    release.write_text(release.read_text() + f"99,{CANARY},flu\n")
    answer = call("verify", release, "--policy", policy, "--json")
    assert (answer.code, answer.data["code"]) == (2, "changed-file")
    (tmp_path / "release.private").rename(tmp_path / "elsewhere")
    answer = call("verify", release, "--policy", policy)
    assert answer.code == 1
    assert "VIOLATED by 1 class\n" in "\n".join(line.rstrip() for line in answer.out.splitlines())
    assert CANARY not in answer.out + answer.err


def test_evidence_is_needed_where_a_model_compares_with_the_table(call, tmp_path, people):
    near = tmp_path / "near.yaml"
    near.write_text(POLICY.replace("distinct-l: {l: 2}", "t-closeness: {t: 0.5}"))
    assert call("run", near, "--data", people, "-o", "near").code == 0
    beside = tmp_path / "near" / "release.json"
    moved = beside.rename(tmp_path / "moved.json")
    answer = call("verify", "near/release.csv", "--policy", near)
    assert answer.code == 2
    assert "release.json" in answer.err
    assert call("verify", "near/release.csv", "--policy", near, "--evidence", moved).code == 0
    # nothing was suppressed, so the rows are the whole table
    (tmp_path / "near.private").rename(tmp_path / "kept")
    assert call("verify", "near/release.csv", "--policy", near, "--evidence", moved).code == 0
    answer = call("verify", "near/release.csv", "--policy", near, "--json")
    assert (answer.code, answer.data["code"]) == (2, "needs-companion")
    moved.rename(beside)
    assert call("verify", "near/release.csv", "--policy", near, "--companion", "kept").code == 0
    answer = call("verify", "near/release.csv", "--policy", near, "--companion", "nowhere", "--json")
    assert (answer.code, answer.data["code"]) == (2, "no-companion")


def test_people_are_counted_where_the_policy_says_so(call, tmp_path, people):
    policy = tmp_path / "people.yaml"
    policy.write_text(POLICY + "entity: name\n")
    people.write_text(people.read_text() + people.read_text().partition("\n")[2])
    assert call("run", policy, "--data", people, "-o", "twice").code == 0
    answer = call("verify", "twice/release.csv", "--policy", policy, "--json")
    assert answer.code == 2
    assert answer.data["code"] == "needs-input"
    sizes = Policy.from_yaml(policy.read_text()).changed(models=[{"k-anonymity": {"k": 3}}])
    policy.write_text(sizes.to_yaml())
    assert call("run", policy, "--data", people, "-o", "sizes").code == 0
    data = call("verify", "sizes/release.csv", "--policy", policy, "--json").data
    assert (data["rows"], data["people"]) == (80, 40)


def test_a_folder_has_its_own_policy(call, release, policy, tmp_path):
    for place in (release.parent, release):
        answer = call("verify", place)
        assert answer.code == 0 and "The policy is the release's own." in answer.words
        assert call("verify", place, "--json").data["own_policy"] is True
    policy.write_text(POLICY.replace("k: 3", "k: 30"))
    answer = call("verify", release.parent, "--policy", policy)
    assert answer.code == 1 and "own." not in answer.words
    (tmp_path / "table.csv").write_text(release.read_text())
    for place in (tmp_path / "table.csv", tmp_path, f"{release.parent}.private", "sqlite:///x.db?table=t"):
        assert call("verify", place, "--json").data["code"] == "no-policy"
    assert "Give the folder that 'hushtable run' wrote" in call("verify", f"{release.parent}.private").words
    answer = call("verify", "nowhere.csv")
    assert answer.code == 2 and "There is no file 'nowhere.csv'. Check the path." in answer.words


@pytest.mark.parametrize("missing", ["release", "policy", "evidence"])
def test_missing_files(call, release, policy, missing):
    words = ["verify", release, "--policy", policy]
    words = {
        "release": ["verify", "nowhere.csv", "--policy", policy],
        "policy": ["verify", release, "--policy", "nowhere.yaml"],
        "evidence": [*words, "--evidence", "nowhere.json"],
    }[missing]
    answer = call(*words)
    assert answer.code == 2
    assert "nowhere" in answer.err


def test_a_release_of_drawn_records_cannot_be_made_again(call, tmp_path):
    file, policy = tmp_path / "people.csv", tmp_path / "dp.yaml"
    file.write_text("sex\n" + "".join(f"{'fm'[i % 2]}\n" for i in range(900)))
    policy.write_text(
        "columns:\n  sex: {role: quasi, kind: nominal}\nmodels: [dp: {epsilon: 1, delta: 0.0001}]\n"
        "algorithm: safe-pub\nsuppression: 1\n"
    )
    assert call("run", policy, "--data", file, "--output", tmp_path / "out").code == 0
    table = tmp_path / "out" / "release.csv"
    assert call("verify", table, "--policy", policy).code == 0
    answer = call("verify", table, "--policy", policy, "--data", file, "--rerun")
    assert answer.code == 2 and "the release cannot be reproduced" in " ".join(answer.err.split())


PLANTED = ["people.csv", ".people.csv", "_people.parquet", "people.db", "sub/people.csv", "release.parquet/people.orc"]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_folder_with_a_file_that_was_not_verified_is_refused(call, release, people, planted):
    """The whole folder is handed over, so a table in it that nothing has verified must not look verified."""
    folder = release.parent
    place = folder / planted
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(people.read_bytes())
    for more in ([], ["--data", people, "--rerun"]):
        answer = call("verify", folder, *more, "--json")
        assert (answer.code, answer.data["code"]) == (2, "unverified-files") and repr(planted) in answer.data["message"]
    # what is verified alone says nothing about the folder
    assert call("verify", release).code == 0
    place.write_bytes(b"")
    assert call("verify", folder).code == 0


def test_release_json_cannot_point_to_another_table(call, release, people):
    """A forged one could name a sound table while the folder has another, whose name everybody opens."""
    folder = release.parent
    release.rename(folder / "sound.csv")
    release.write_bytes(people.read_bytes())
    facts = json.loads((folder / "release.json").read_text())
    (folder / "release.json").write_text(json.dumps({**facts, "file": "sound.csv"}))
    (folder.parent / "release.private").rename(folder.parent / "away")
    assert call("verify", folder, "--json").data["code"] == "unverified-files"


FALSE = {
    "satisfied": False,
    "classes": 2,
    "released": 39,
    "columns": ["age"],
    "algorithm": {"mdav": {}},
    "models": [],
}


@pytest.mark.parametrize("what", [*FALSE, "a stronger model", "a better class", "another parameter"])
def test_false_statements_in_release_json_are_refused(call, release, what):
    """Whoever reads only release.json must not learn of a promise that the table does not keep."""
    place = release.parent / "release.json"
    facts = json.loads(place.read_text())
    first = facts["models"][0]
    changes = {"a stronger model": {**first, "model": "k-map"}, "a better class": {**first, "achieved": 50},
               "another parameter": {**first, "parameters": {"k": 50}, "bound": 50, "achieved": 50}}  # fmt: skip
    forged = {what: FALSE[what]} if what in FALSE else {"models": [changes[what], *facts["models"][1:]]}
    (release.parent.parent / "release.private").rename(release.parent.parent / "away")
    assert call("verify", release.parent).code == 0
    place.write_text(json.dumps({**facts, **forged}))
    answer = call("verify", release.parent, "--json")
    assert (answer.code, answer.data["code"]) == (2, "mismatch")


def test_forged_patterns_are_refused(call, policy, people):
    """They are handed over with the table, and count its rows."""
    policy.write_text(POLICY.replace("seed: 7", "algorithm: anti-unification\nsuppression: 1"))
    assert call("run", policy, "--data", people).code == 0
    assert call("verify", "release").code == 0
    patterns = people.parent / "release" / "patterns.csv"
    lines = patterns.read_text().splitlines()
    for forged in ([*lines, lines[1]], [lines[0].replace("records", "people"), *lines[1:]], [lines[0], lines[1] + "0"]):
        patterns.write_text("\n".join(forged) + "\n")
        (people.parent / "release.private").rename(people.parent / "away")
        answer = call("verify", "release", "--json")
        assert (answer.code, answer.data["code"]) == (2, "other-patterns")
        (people.parent / "away").rename(people.parent / "release.private")


@pytest.mark.parametrize("command", ["verify", "sample"])
def test_who_gives_the_zip_file_is_told_to_unpack_it(call, tmp_path, command):
    """The studio hands out a ZIP file, and its recipient tries that first."""
    (tmp_path / "bundle.zip").write_bytes(b"PK")
    answer = call(command, tmp_path / "bundle.zip", *(["-o", tmp_path / "rows.csv"] if command == "sample" else []))
    assert answer.code == 2
    assert "Unpack the ZIP file" in answer.err
