from __future__ import annotations

import json
import shutil

import pytest

from hushtable.io.files import read_table


@pytest.fixture
def release(call, policy, people, tmp_path):
    policy.write_text(policy.read_text() + "\ncells: counts\n")
    assert call("run", policy, "--data", people).code == 0
    return tmp_path / "release"


def test_a_sample_with_its_note(call, release, tmp_path):
    shutil.rmtree(tmp_path / "release.private")
    answer = call("sample", release, "-o", tmp_path / "microdata.csv", "--seed", "3")
    assert answer.code == 0 and "by chance" in answer.words and "40 rows" in answer.words
    drawn = read_table(tmp_path / "microdata.csv")
    assert drawn.column_names == ["age", "zip", "disease"] and drawn.num_rows == 40
    note = json.loads((tmp_path / "microdata.json").read_text())
    assert note["drawn"] is True and note["seed"] == 3 and note["rows"] == 40 and note["where"] == []
    assert len(note["release"]["sha256"]) == 64 and note["release"]["mark"]
    assert note["release"]["mark"] == json.loads((release / "release.json").read_text())["release"]


def test_a_column_of_stars_is_empty_and_named(call, policy, people, tmp_path):
    one = policy.read_text().replace("zip: {role: quasi, kind: nominal, hierarchy: {prefix: \"*\"}}",
                                     "zip: {role: quasi, kind: nominal, hierarchy: flat}")  # fmt: skip
    policy.write_text(one.replace("k: 3", "k: 5") + "algorithm: optimal\ncells: nodes\n")
    assert call("run", policy, "--data", people).code == 0
    answer = call("sample", "release", "-o", "m.csv")
    assert (answer.code, "Empty, because published as '*' everywhere: zip." in answer.words) == (0, True)
    drawn = read_table(tmp_path / "m.csv")
    assert set(drawn["zip"].to_pylist()) <= {None, ""} and drawn["age"].null_count == 0


def test_rows_rules_and_parquet(call, release, tmp_path):
    data = call("sample", release, "-o", tmp_path / "m.parquet", "--rows", "100", "--where", "age >= 20", "--json").data
    assert data["rows"] == 100 and data["where"] == ["age >= 20"]
    assert read_table(tmp_path / "m.parquet").num_rows == 100
    rule = "age < 30 -> age >= 0"
    assert call("sample", release, "-o", tmp_path / "n.csv", "--where", rule, "--json").code == 0
    never = call("sample", release, "-o", tmp_path / "o.csv", "--where", "age < 0", "--json")
    assert never.code == 2 and never.data["code"] == "rule-impossible"
    assert not (tmp_path / "o.csv").exists()


def test_never_into_a_release(call, release, tmp_path):
    for place in (release / "m.csv", release / "deeper" / "m.csv", tmp_path / "release.private" / "m.csv"):
        answer = call("sample", release, "-o", place, "--json")
        assert answer.code == 2 and answer.data["code"] == "in-release"
    assert call("sample", release, "-o", tmp_path / "release.csv", "--json").data["code"] == "in-release"
    assert not (release / "m.csv").exists()


def test_what_is_there_is_kept(call, release, tmp_path):
    (tmp_path / "m.csv").write_text("mine")
    assert call("sample", release, "-o", tmp_path / "m.csv", "--json").data["code"] == "exists"
    assert (tmp_path / "m.csv").read_text() == "mine"
    (tmp_path / "n.json").write_text("mine")
    assert call("sample", release, "-o", tmp_path / "n.csv", "--json").data["code"] == "exists"
    assert call("sample", release, "-o", tmp_path / "m.csv", "--overwrite", "--json").code == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--rows", "4001"], "rows"),
        (["--rows", "0"], "rows"),
        (["--where", "age < 0"], "rule-impossible"),
        (["--where", "agee < 0"], "rule"),
    ],
)
def test_bad_calls(call, release, tmp_path, options, code):
    answer = call("sample", release, "-o", tmp_path / "m.csv", *options, "--json")
    assert answer.code == 2 and answer.data["code"] == code
    assert not (tmp_path / "m.csv").exists() and not (tmp_path / "m.json").exists()


def test_another_ending(call, release, tmp_path):
    assert call("sample", release, "-o", tmp_path / "m.xlsx", "--json").data["code"] == "unknown-format"


def test_an_edited_table(call, release, tmp_path):
    shutil.rmtree(tmp_path / "release.private")
    text = (release / "release.csv").read_text()
    (release / "release.csv").write_text(text.replace(": 1", ": 2", 3))
    answer = call("sample", release, "-o", tmp_path / "m.csv", "--json")
    assert answer.code in (1, 2) and answer.data["code"] in ("changed-cells", "violated")
