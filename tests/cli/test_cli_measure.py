from __future__ import annotations

import math

from support_cli import CANARY, rows, write_csv

from hushtable import registry


def test_named_measures(call, release, people):
    data = call("measure", release, "--data", people, "--only", "ncp, discernibility", "--json").data
    assert list(data["measures"]) == ["ncp", "discernibility"]
    assert 0 < data["measures"]["ncp"] < 1


def test_the_numbers_are_those_of_the_run(call, release, people, policy):
    run = call("run", policy, "--data", people, "-o", "again", "--json").data["measures"]
    only = ",".join(run)
    measured = call("measure", release, "--data", people, "--only", only, "--json").data["measures"]
    assert measured == run
    assert all(value is None or math.isfinite(value) for value in measured.values())


def test_all_measures_in_words(call, release, people):
    answer = call("measure", release, "--data", people, "--all")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert all(name in answer.out for name in registry.measures)


def test_other_originals_are_refused(call, release, tmp_path):
    other = write_csv(
        tmp_path / "other.csv", [[*row[:3], "ulcer" if i % 2 else CANARY] for i, row in enumerate(rows())]
    )
    answer = call("measure", release, "--data", other, "--only", "query-error")
    assert answer.code == 2
    assert "differ from those that the release was made from" in answer.err
    assert CANARY not in answer.out + answer.err


def test_an_edited_release_is_refused(call, release, people):
    table = release / "release.csv"
    table.write_text(table.read_text().replace("flu", "cough", 1))
    assert call("measure", release, "--data", people, "--json").data["code"] == "changed-file"


def test_parquet(call, policy, people):
    assert call("run", policy, "--data", people, "--format", "parquet", "-o", "pq").code == 0
    assert call("measure", "pq", "--data", people, "--only", "ncp").code == 0


def test_a_misspelt_measure(call, release, people):
    answer = call("measure", release, "--data", people, "--only", "npc")
    assert answer.code == 2
    assert "Did you mean 'ncp'?" in answer.err


def test_what_is_not_a_release(call, people, tmp_path):
    (tmp_path / "empty").mkdir()
    answer = call("measure", "empty", "--data", people)
    assert answer.code == 2
    assert "There is no release.json" in answer.err and "that 'hushtable run' wrote" in answer.err
    answer = call("measure", people, "--data", people)
    assert answer.code == 2
    assert "is not a folder" in answer.err


def test_files_that_the_policy_names(call, policy, people, tmp_path):
    (tmp_path / "zips.csv").write_text("".join(f"{row[2]};{row[2][:3]}**;*\n" for row in rows()))
    policy.write_text(policy.read_text().replace('{prefix: "*"}', "zips.csv"))
    assert call("run", policy, "--data", people).code == 0
    assert call("measure", "release", "--only", "ncp").code == 0, "it was measured when the release was made"
    assert call("measure", "release", "--data", people, "--only", "query-error").code == 2
    assert call("measure", "release", "--data", people, "--only", "query-error", "--files", tmp_path).code == 0


def test_accuracy_says_what_it_predicts(call, release, people):
    answer = call("measure", release, "--data", people, "--only", "accuracy")
    assert "predicting 'disease' with a decision tree" in answer.words
