from __future__ import annotations

from support_cli import CANARY, rows, write_csv


def test_in_words(call, release, people):
    answer = call("explain", release, 0, 5, "--data", people)
    assert answer.code == 0, answer.err
    assert "Row 0 is in a class of" in answer.words and "Row 5 is in a class of" in answer.words
    assert "k-anonymity (k=3)" in answer.words
    assert max(map(len, answer.out.splitlines())) <= 80


def test_as_data(call, release, people):
    (record,) = call("explain", release, 7, "--data", people, "--json").data["records"]
    assert record["row"] == 7 and record["released"] is True and record["people"] >= 3
    assert [c["column"] for c in record["columns"]] == ["age", "zip"]


def test_rows_that_are_not_there(call, release, people):
    answer = call("explain", release, 40, "--data", people)
    assert answer.code == 2 and "numbered from 0 to 39" in answer.words
    assert call("explain", release, "--data", people).code == 2
    assert call("explain", release, "one", "--data", people).code == 2


def test_no_value_is_repeated(call, policy, tmp_path):
    marked = write_csv(
        tmp_path / "marked.csv", [[f"{CANARY}{i}", *row[1:3], CANARY + row[3]] for i, row in enumerate(rows())]
    )
    assert call("run", policy, "--data", marked).code == 0
    for words in (["explain", "release", *range(0, 40, 7)], ["report", "release"]):
        answer = call(*words, "--data", marked)
        assert answer.code == 0 and CANARY not in answer.out + answer.err
        assert not [z for z in (row[2] for row in rows()) if z in answer.out]
