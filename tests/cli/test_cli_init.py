from __future__ import annotations

import pytest
from support_cli import CANARY, rows, write_csv

from hushtable.policy.files import load_policy


def test_init_writes_a_policy_that_runs(call, people, tmp_path):
    answer = call("init", people)
    assert answer.code == 0
    assert "40 rows, 4 columns" in answer.words
    assert max(len(line) for line in answer.out.splitlines() if "hushtable" not in line) <= 80
    assert set(load_policy(tmp_path / "policy.yaml").columns) == {"name", "age", "zip", "disease"}
    assert call("check", "policy.yaml", "--data", people).code == 0


def test_dates_in_several_formats_are_pointed_out(call, tmp_path):
    seen = [(f"{1950 + i}-03-01", f"01/{1 + i % 12:02}/{1950 + i}", f"1. 3. {1950 + i}")[i % 3] for i in range(60)]
    write_csv(tmp_path / "visits.csv", [[day, "Ulm"] for day in seen], "stamp,town")
    answer = call("init", "visits.csv")
    assert "stamp: dates that no single format reads" in answer.words
    # even for an identifier, which its many values make it
    assert "# nominal: dates that no single format reads" in (tmp_path / "policy.yaml").read_text()


def test_init_json(call, people):
    data = call("init", people, "-o", "other.yaml", "--json").data
    assert data["rows"] == 40
    assert [c["name"] for c in data["columns"]] == ["name", "age", "zip", "disease"]
    assert data["policy"] == "other.yaml"
    assert {"distinct", "unique", "missing", "role", "role_reason"} <= set(data["columns"][0])
    assert data["subsets"]


def test_an_edited_policy_is_kept(call, people, policy):
    before = policy.read_text()
    answer = call("init", people)
    assert answer.code == 2
    assert "--force" in answer.err
    assert policy.read_text() == before
    assert call("init", people, "--force").code == 0
    assert policy.read_text() != before


def test_no_value_is_shown(call, tmp_path):
    data = write_csv(tmp_path / "p.csv", [[f"{CANARY}{c}" for c in row] for row in rows()])
    for words in (["--json"], ["--force"]):
        answer = call("init", data, *words)
        assert answer.code == 0
        assert CANARY not in answer.out + answer.err
    assert CANARY not in (tmp_path / "policy.yaml").read_text()


def test_strange_names(call, tmp_path):
    header = '"post code","größe [cm]","x-y","it""s"'
    data = write_csv(tmp_path / "p.csv", [["1", str(i % 9), "b", "c"] for i in range(30)], header=header)
    answer = call("init", data)
    assert answer.code == 0
    assert "größe [cm]" in answer.out
    assert call("check", "policy.yaml", "--data", data).code in (0, 3)


def test_empty_files(call, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    answer = call("init", "empty.csv")
    assert answer.code == 2
    assert "is empty" in answer.err
    assert not (tmp_path / "policy.yaml").exists()


def test_each_marker_and_the_people_are_told_once(call, tmp_path):
    lines = [[f"P{i % 60}", "NA" if i % 5 == 0 else str(i % 9), "n/a" if i % 7 == 0 else "x"] for i in range(120)]
    data = write_csv(tmp_path / "p.csv", lines, header="patient_no,age,town")
    answer = call("init", data)
    assert answer.out.count("'NA'") == 1
    assert "town: 'n/a' may represent a missing value" in answer.words
    assert "patient_no repeats: a person seems to have several rows" in answer.words
    assert load_policy(tmp_path / "policy.yaml").entity == "patient_no"


@pytest.mark.parametrize("given", ["people.csv", ".", "*.csv"])
def test_the_table_is_never_replaced_by_its_policy(call, people, given):
    before = people.read_bytes()
    answer = call("init", given, "--output", f"./{people.name}", "--force", "--json")
    assert (answer.code, answer.data["code"]) == (2, "is-input")
    assert people.read_bytes() == before


def test_a_file_without_names_is_noticed(call, tmp_path):
    """Its first person would be published as the names of the columns."""
    (tmp_path / "bare.csv").write_text("Ann,31,2020-01-02,flu\nBob,32,2020-01-03,gout\nCyd,33,2020-01-04,flu\n")
    answer = call("init", "bare.csv", "--output", "bare.yaml")
    assert "31, 2020-01-02: this name could be a value" in answer.words
    assert "names are published" in answer.words and max(map(len, answer.out.splitlines())) <= 80
    text = (tmp_path / "bare.yaml").read_text()
    assert "# The first line of the file may be a record: 31, 2020-01-02\n" in text
    assert call("init", "bare.csv", "--force", "--json").data["like_values"] == ["31", "2020-01-02"]
    assert call("init", write_csv(tmp_path / "people.csv", rows()), "--force", "--json").data["like_values"] == []
