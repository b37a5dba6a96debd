from __future__ import annotations

import json

import pytest
from support_cli import CANARY, rows, write_csv

from hushtable import registry
from hushtable.report.content import Report


def test_page_and_data_are_written(call, release, people, tmp_path):
    answer = call("report", release, "--data", people, "--json")
    assert answer.code == 0, answer.err
    assert answer.data["files"] == ["evidence.html", "evidence.json"]
    assert answer.data["satisfied"] is True and answer.data["template"] == "general"
    report = Report.model_validate_json((tmp_path / "evidence.json").read_text(encoding="utf-8"))
    assert [f["question"] for f in answer.data["findings"]] == [f.question for f in report.findings]
    assert {a.name for a in report.facts.attacks} | {n.name for n in report.facts.attacks_not_run} == set(
        registry.attacks
    )
    assert (tmp_path / "evidence.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("template", list(registry.templates))
def test_in_words(call, release, people, template):
    answer = call("report", release, "--data", people, "--template", template, "--no-attacks", "-o", "x.html")
    assert answer.code == 0, answer.err
    assert "keeps every promise of its policy" in answer.words
    assert "x.html" in answer.out and "x.json" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


def test_some_attacks_and_another_threshold(call, release, people, tmp_path):
    words = ("report", release, "--data", people, "--only", "linkage, homogeneity", "--threshold", "0.5", "--json")
    assert call(*words).code == 0
    facts = json.loads((tmp_path / "evidence.json").read_text(encoding="utf-8"))["facts"]
    assert [a["name"] for a in facts["attacks"]] == ["linkage", "homogeneity"]
    assert facts["risks"][0]["threshold"] == 0.5 and facts["risks"][0]["after"]["at_risk"] == 0


def test_an_earlier_report_is_kept_unless_told(call, release, people, tmp_path):
    assert call("report", release, "--data", people, "--no-attacks").code == 0
    answer = call("report", release, "--data", people, "--no-attacks")
    assert answer.code == 2 and "add --overwrite" in answer.words
    assert call("report", release, "--data", people, "--no-attacks", "--overwrite").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--template", "genral"], "Did you mean 'general'?"),
        (["--threshold", "2"], "It must be at most 1"),
        (["--only", "linkeage"], "Did you mean 'linkage'?"),
        (["--only", "linkage", "--no-attacks"], "Leave one of them out"),
        (["--output", "evidence.json"], "is an HTML file"),
        (["--output", "none/evidence.html"], "folder does not exist"),
        (["--output", "evidence.pdf"], "A report is an HTML file"),
    ],
)
def test_wrong_calls_are_refused_before_the_work(call, release, people, tmp_path, words, said):
    answer = call("report", release, "--data", people, *words)
    assert answer.code == 2 and said in answer.words
    assert not list(tmp_path.glob("*.html"))


def test_other_originals_are_refused(call, release, tmp_path):
    other = write_csv(tmp_path / "other.csv", [[*row[:3], CANARY] for row in rows()])
    answer = call("report", release, "--data", other)
    assert answer.code in (2, 3) and CANARY not in answer.words
    assert not (tmp_path / "evidence.html").exists()


def test_the_templates_are_listed(call):
    data = call("templates", "--json").data
    assert [entry["name"] for entry in data["templates"]] == list(registry.templates)
    assert "0.09" in call("templates", "ema").out


def test_the_schema_of_a_report(call):
    assert call("schema", "--report").data["title"] == "hushtable report"
    assert call("schema").data["title"] == "hushtable policy"


def test_neither_the_table_nor_the_release_is_replaced(call, release, people):
    before = {path: path.read_bytes() for path in (people, release / "release.json")}
    for output, code in ((people, "usage"), (release / "release.html", "in-release")):
        answer = call("report", release, "--data", people, "--output", output, "--overwrite", "--json")
        assert (answer.code, answer.data["code"]) == (2, code)
    assert {path: path.read_bytes() for path in before} == before
