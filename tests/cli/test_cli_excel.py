"""The command line on Excel workbooks: the sheet that --table names."""

from __future__ import annotations

import openpyxl
from support_cli import rows


def workbook(path):
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    for row in (["about"], ["this workbook"]):
        book.active.append(row)
    people = book.create_sheet("The people")
    people.append(["name", "age", "zip", "disease"])
    for name, age, zip_code, disease in rows():
        people.append([name, int(age), zip_code, disease])
    book.save(path)


def test_a_sheet_from_init_to_run(call, policy, tmp_path):
    workbook(tmp_path / "book.xlsx")
    data = ("--data", "book.xlsx", "--table", "The people")
    answers = [
        call("init", "book.xlsx", "--table", "The people", "--output", "starter.yaml", "--json"),
        call("check", policy, *data, "--json"),
        call("run", policy, *data, "--json"),
    ]
    assert [a.code for a in answers] == [0] * len(answers), [a.err for a in answers]
    assert "disease" in (tmp_path / "starter.yaml").read_text()
    wrong = call("check", policy, "--data", "book.xlsx", "--table", "Nobody")
    assert wrong.code and "'Read me', 'The people'" in " ".join(wrong.err.split())
    first = call("check", policy, "--data", "book.xlsx")
    assert first.code, "the first sheet has other columns"
