"""Comparing and suggesting from the command line, interrupted by real signals too."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support_cli import CANARY, write_csv

from hushtable.datasets import patients, patients_policy
from hushtable.io.files import write_table
from hushtable.policy.policy import Policy

COMMAND = [sys.executable, "-c", "from hushtable.cli.main import main; main()"]


@pytest.fixture(autouse=True)
def _own_secret(monkeypatch, tmp_path):
    monkeypatch.setenv("HUSHTABLE_SECRET", str(tmp_path / "secret"))


@pytest.fixture
def compared(call, policy, people):
    return call("compare", policy, "--data", people, "--algorithms", "mondrian,datafly", "--k", "2,5,99", "--jobs", 1)


def test_the_table_the_chart_and_the_reasons(compared, tmp_path):
    assert compared.code == 0
    assert "6 settings were tried; 4 produced a release." in compared.words
    assert "In all of them: distinct-l l=2." in compared.words
    assert "infeasible" in compared.words and "the table has 40 people" in compared.words
    assert compared.words.count("k-anonymity k=99 + distinct-l l=2: infeasible.") == 2
    with (tmp_path / "comparison" / "comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["ok", "ok", "infeasible"] * 2
    assert any(row["frontier"] == "true" for row in rows)
    assert (tmp_path / "comparison" / "comparison.svg").read_text().startswith("<?xml")


def test_a_comparison_file_and_everything_as_json(call, policy, people, tmp_path):
    spec = tmp_path / "comparison.yaml"
    spec.write_text(
        "policy: policy.yaml\n"
        "algorithms: [mondrian, {mondrian: {mode: [relaxed]}}]\n"
        "models:\n- k-anonymity: {k: [2, 4]}\n- {k-anonymity: {k: 2}, distinct-l: {l: [2, 3]}}\n"
        "suppression: [0, 0.1]\nmeasures: [query-error]\nutility: query-error\n"
    )
    found = call("compare", spec, "-d", people, "--jobs", 1, "--chart", "png", "--json")
    assert found.code == 0 and found.err == ""
    assert found.data["settings"] == 2 * 4 * 2
    assert found.data["utility"] == "query-error"
    assert all("query-error" in row["values"] for row in found.data["rows"] if row["status"] == "ok")
    assert (tmp_path / "comparison" / "comparison.png").stat().st_size > 1000
    # a policy is as long as its table has columns: what is printed points to the file that has them
    assert not any("policy" in row for row in found.data["rows"])
    kept = json.loads(Path(found.data["files"]["data"]).read_text())["rows"]
    assert [row["policy"]["models"] for row in kept if row["status"] == "ok"]
    assert [{k: v for k, v in row.items() if k != "policy"} for row in kept] == found.data["rows"]


def test_a_suggestion_is_a_policy_that_runs(call, compared, people, tmp_path):
    found = call("suggest", "comparison", "--minimise", "ncp", "--where", "prosecutor <= 0.2", "-o", "sub/chosen.yaml")
    assert found.code == 2  # no such folder
    (tmp_path / "sub").mkdir()
    found = call("suggest", "comparison", "--minimise", "ncp", "--where", "prosecutor <= 0.2", "-o", "sub/chosen.yaml")
    assert found.code == 0
    assert "of 6 settings meet prosecutor <= 0.2." in found.words
    text = (tmp_path / "sub" / "chosen.yaml").read_text()
    assert text.startswith("# Suggested by hushtable") and "#   prosecutor: 0.2" in text
    run = call("run", "sub/chosen.yaml", "--data", people, "--json")
    assert run.code == 0
    assert min(model["achieved"] for model in run.data["models"] if model["model"] == "k-anonymity") == 5
    assert call("suggest", "comparison", "-o", "sub/chosen.yaml").code == 2  # it exists
    assert call("suggest", "comparison", "-o", "sub/chosen.yaml", "--force", "--json").data["fulfilled"] == 4


def test_where_no_setting_fulfils_the_conditions(call, compared, tmp_path):
    found = call("suggest", "comparison", "--where", "prosecutor <= 0.01")
    assert found.code == 3
    assert "The closest is" in found.words and "not <= 0.01" in found.words
    assert not (tmp_path / "suggested.yaml").exists()
    assert call("suggest", "comparison", "--where", "prosecutor about 0.1").code == 2
    assert call("suggest", "nowhere").code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--algorithms", ","], "'algorithms' of the comparison is empty"),
        (["--algorithms", "mondrain"], "Did you mean 'mondrian'?"),
        (["--k", "1"], "must be an int >= 2"),
        (["--k", "two"], "must be an int >= 2"),
        (["--vary", "k=2"], "NAME.PARAMETER=VALUE"),
        (["--vary", "k-anonimity.k=2"], "Did you mean 'k-anonymity'?"),
        (["--vary", "datafly.fixed=1"], "not among the algorithms"),
        (["--vary", "k-anonymity.k=[2"], "cannot be read"),
        (["--suppression", "none"], "accepts numbers"),
        (["--suppression", "2"], "suppression"),
        (["--measures", "ncpp"], "Did you mean 'ncp'?"),
        (["--utility", "ncpp"], "did not measure"),
        (["--output", "policy.yaml"], "cannot be created"),
    ],
)
def test_what_cannot_be_compared(call, policy, people, words, sentence):
    found = call("compare", policy, "--data", people, "--jobs", 1, *words)
    assert found.code == 2
    assert sentence in found.words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("policy: policy.yaml\nalgorithm: [mondrian]\n", "line 2: There is no setting 'algorithm' in a comparison."),
        ("algorithms: [mondrian]\n", "names no policy"),
        ("policy: nowhere.yaml\n", "There is no policy file"),
        ("policy: policy.yaml\nmodels: {k-anonymity: {k: 2}}\n", "'models' must be a list"),
        ("policy: policy.yaml\nmodels: []\n", "'models' of the comparison is empty"),
        ("policy: policy.yaml\nmodels: [5]\n", "a name, or a name with parameters"),
        ("policy: policy.yaml\nmeasures: [5]\n", "a name, or a name with parameters"),
        ("policy: policy.yaml\nmeasures: [{ncp: 5}]\n", "must be a mapping"),
        ("policy: policy.yaml\nrisks: [{a: {}, b: {}}]\n", "a name, or a name with parameters"),
        ("policy: policy.yaml\nsuppression: [high]\n", "suppression"),
        ("policy: policy.yaml\ncells: [5]\n", "cells"),
        ("- policy.yaml\n", "mapping"),
    ],
)
def test_faults_of_a_comparison_file(call, policy, people, tmp_path, text, sentence):
    (tmp_path / "c.yaml").write_text(text)
    found = call("compare", "c.yaml", "--data", people)
    assert found.code == 2
    assert sentence in found.words


def test_a_varied_parameter_of_an_algorithm_and_a_new_model(call, policy, people):
    words = ["--vary", "mondrian.mode=strict,relaxed", "--vary", "t-closeness.t=0.5,0.6", "--jobs", 1, "--json"]
    found = call("compare", policy, "--data", people, *words)
    assert [row["algorithm"] for row in found.data["rows"]] == ["mondrian mode=strict"] * 2 + [
        "mondrian mode=relaxed"
    ] * 2
    assert found.data["rows"][0]["models"] == "k-anonymity k=3 + distinct-l l=2 + t-closeness t=0.5"


def test_no_value_of_a_person_is_written_or_said(call, policy, tmp_path):
    odd = [[f"{CANARY}1 {i}", str(20 + i % 37), f"{CANARY}2{i % 9}", f"{CANARY}3{i % 4}"] for i in range(40)]
    data = write_csv(tmp_path / "odd.csv", odd)
    words = ["--algorithms", "mondrian,datafly,anatomy", "--k", "2,99", "--accuracy", "--jobs", 1]
    found = call("compare", policy, "--data", data, *words)
    assert found.code == 0
    said = found.out + found.err + call("suggest", "comparison").out
    written = "".join(file.read_text() for file in (tmp_path / "comparison").iterdir())
    assert CANARY not in said + written + (tmp_path / "suggested.yaml").read_text()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    write_table(patients(20_000), folder / "patients.parquet")
    (folder / "policy.yaml").write_text(Policy(**patients_policy()).to_yaml(), encoding="utf-8")
    # undisturbed, and the kernels are compiled: a signal then finds the settings at work
    subprocess.run([*COMMAND, *comparison(folder), str(folder / "whole")], capture_output=True, check=True)
    return folder


def comparison(folder) -> list[str]:
    words = ["compare", folder / "policy.yaml", "--data", folder / "patients.parquet", "--jobs", 2]
    return [str(word) for word in [*words, "--algorithms", "mondrian,datafly", "--k", "2,5,10,20", "-o"]]


def settings(path) -> list[dict]:
    return [{k: v for k, v in row.items() if k != "seconds"} for row in json.loads(path.read_text())["rows"]]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_interrupted_and_resumed_it_gives_the_same_table(large, tmp_path, number, code):
    kept = tmp_path / "out" / "results.jsonl"
    words = [*COMMAND, *comparison(large), str(tmp_path / "out")]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if kept.exists() and kept.read_bytes().count(b"\n") >= 1:
            break
        time.sleep(0.01)
    if process.poll() is not None:
        process.communicate()
        pytest.skip("this machine finished before the signal came")
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # Ctrl-C goes to all processes of a terminal
    else:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    if number != signal.SIGKILL:
        assert f"Canceled.\nFinished settings are kept in {kept}" in err
    _wait_until_gone(process.pid)
    finished = kept.read_bytes().count(b"\n")
    assert 1 <= finished < 8
    assert not (tmp_path / "out" / "comparison.json").exists()
    again = subprocess.run([*words, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)["reused"] == finished
    whole = settings(large / "whole" / "comparison.json")
    assert settings(tmp_path / "out" / "comparison.json") == whole
    assert {row["status"] for row in whole} == {"ok"}
    charts = [folder / "comparison.svg" for folder in (tmp_path / "out", large / "whole")]
    assert charts[0].read_bytes() == charts[1].read_bytes()


def _wait_until_gone(group: int) -> None:
    """No process of the comparison outlives it, however it ended."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("processes of the comparison are still there")


def test_a_policy_of_linked_tables_is_refused(call, tmp_path):
    text = "tables: {people: {key: id, columns: {age: {role: quasi}}}}\nmodels: [k-anonymity: {k: 3}]\n"
    (tmp_path / "linked.yaml").write_text(text)
    answer = call("compare", "linked.yaml", "--data", "people.csv")
    assert answer.code == 2 and "linked.yaml is a policy of linked tables" in answer.words
