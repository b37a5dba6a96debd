from __future__ import annotations

import json

import pytest

from hushtable.io.files import read_table


@pytest.fixture
def release(call, policy, people, tmp_path):
    assert call("run", policy, "--data", people).code == 0
    return tmp_path / "release"


def test_condensed_rows_with_their_note(call, release, people, tmp_path):
    answer = call("condense", release, "--data", people, "-o", tmp_path / "drawn.csv")
    assert answer.code == 0 and "by chance" in answer.words and "not k-anonymous themselves" in answer.words
    drawn = read_table(tmp_path / "drawn.csv")
    assert drawn.column_names == read_table(release / "release.csv").column_names and drawn.num_rows == 40
    note = json.loads((tmp_path / "drawn.json").read_text())
    assert note["drawn"] is True and note["method"] == "condensation" and note["release"]["mark"]
    again = call("condense", release, "--data", people, "-o", tmp_path / "again.csv", "--column", "age", "--json")
    assert again.code == 0 and again.data["rows"] == 40
    assert (tmp_path / "drawn.csv").read_text() == (tmp_path / "again.csv").read_text()


def test_refused(call, release, people, tmp_path):
    assert call("condense", release, "-o", tmp_path / "m.csv", "--json").data["code"] == "needs-original"
    inside = call("condense", release, "--data", people, "-o", release / "m.csv", "--json")
    assert inside.code == 2 and inside.data["code"] == "in-release"
    other = call("condense", release, "--data", people, "-o", tmp_path / "m.csv", "--column", "disease", "--json")
    assert other.code == 2 and other.data["code"] == "no-number"
    assert not (tmp_path / "m.csv").exists()
