"""Excel workbooks: read as tables, or refused in words."""

from __future__ import annotations

import datetime as dt
import importlib
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from hushtable.errors import DataError, UsageError
from hushtable.io.excel import sheet_names
from hushtable.io.files import column_names, iter_batches, read_table
from hushtable.io.sources import read_tables
from hushtable.io.urls import source_of

CANARY = "CANARY-7731"


def _book(path: Path, *rows: list[Any]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_row_names_of_r_and_pandas_get_a_name(tmp_path: Path) -> None:
    path = _book(tmp_path / "t.xlsx", [None, "age"], ["a", 22])
    assert read_table(path).to_pydict() == {"row": ["a"], "age": ["22"]}


def test_excel(tmp_path: Path) -> None:
    path = _book(
        tmp_path / "t.xlsx",
        ["age", "when", "note"],
        [1, dt.datetime(2020, 1, 2), "x"],
        [],
        [2.5, None, None],
    )
    table = read_table(path)
    assert table.to_pydict() == {"age": ["1", "2.5"], "when": ["2020-01-02", None], "note": ["x", None]}
    assert read_table(path, ["note"]).column_names == ["note"]
    assert column_names(path) == ["age", "when", "note"]
    assert [b.num_rows for b in iter_batches(path, batch_rows=1)] == [1, 1]


def test_excel_with_markers_among_numbers_and_dates(tmp_path: Path) -> None:
    """What a sheet has that people fill in: it reads as the same sheet saved as CSV would."""
    path = _book(
        tmp_path / "t.xlsx",
        ["salary", "when"],
        [1200, dt.datetime(2020, 1, 2)],
        ["n/a", "unknown"],
        [2.5, dt.datetime(2020, 1, 2, 10, 30)],
        [None, None],
        [3.0, "31.12.1999"],
    )
    assert read_table(path).to_pydict() == {
        "salary": ["1200", "n/a", "2.5", "3"],
        "when": ["2020-01-02", "unknown", "2020-01-02 10:30:00", "31.12.1999"],
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty. Put the column names into its first row."),
        ([["a"]], "has a header but no rows."),
        ([["a"], [True], [CANARY]], "Column 'a' of the file .* mixes text and true/false. Give all cells"),
        ([["a"], [1], [dt.datetime(2020, 1, 2)]], "Column 'a' of the file .* mixes numbers and dates. Give all cells"),
        ([["a"], [1, CANARY]], "has 1 row with cells beyond the named columns."),
        ([["a", None, "b"], [1, 2, 3]], r"column \(number 2\) without a name"),
        ([[None, None, "b"], [1, 2, 3]], r"column \(number 1\) without a name"),
    ],
)
def test_bad_workbooks(tmp_path: Path, rows: list[list[Any]], message: str) -> None:
    path = _book(tmp_path / "t.xlsx", *rows)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("other", [0.5, "x", None])
def test_workbooks_with_enormous_numbers(tmp_path: Path, other: Any) -> None:
    path = _book(tmp_path / "small.xlsx", ["a"], [271828], [other])
    digits = "9" * 400
    with zipfile.ZipFile(path) as small, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as large:
        for name in small.namelist():
            large.writestr(name, small.read(name).replace(b"271828", digits.encode()))
    shown = [] if other is None else [str(other)]
    assert read_table(tmp_path / "t.xlsx").to_pydict() == {"a": [digits, *shown]}


def test_not_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_text(f"a,b\n{CANARY},2\n")
    with pytest.raises(DataError, match=r"is not a complete Excel workbook. Save it again") as caught:
        read_table(path)
    assert CANARY not in str(caught.value)


def test_excel_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _book(tmp_path / "t.xlsx", ["a"], [1])

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(
        DataError, match=r"needs the package openpyxl. Install it with: pip install 'hushtable\[excel\]'"
    ):
        read_table(path)


def _sheets(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["about"])
    people = book.create_sheet("People")
    people.append(["age", "twice"])
    people.append([1, 2])
    book.save(path)
    return path


def test_a_sheet_is_chosen_by_name(tmp_path: Path) -> None:
    path = _sheets(tmp_path / "t.XLSX")
    assert sheet_names(path) == ["Read me", "People"]
    assert read_table(path, sheet="People").to_pydict() == {"age": ["1"], "twice": ["2"]}
    chosen = source_of(str(path), table="People")
    assert read_tables([chosen]).equals(read_tables([path], table="People"))
    assert column_names(chosen) == ["age", "twice"]
    assert [b.num_rows for b in iter_batches(chosen)] == [1]
    with pytest.raises(DataError, match=r"no sheet 'Nobody'.*'Read me', 'People'"):
        read_table(path, sheet="Nobody")
    with pytest.raises(DataError, match=r"no rows.*others: 'People'"):
        read_table(path)


def test_other_files_have_no_sheets(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n1\n")
    with pytest.raises(UsageError, match="has no sheets"):
        read_table(tmp_path / "t.csv", sheet="People")
    with pytest.raises(UsageError, match="not a database"):
        source_of("t.csv", table="People")


def test_formulas_without_a_stored_result_are_told(tmp_path: Path) -> None:
    """Nobody has computed them, so the cells would be read as missing."""
    book = openpyxl.Workbook()
    book.active.append(["age", "twice"])
    for i in range(3):
        book.active.append([i, f"=A{i + 2}*2"])
    fine = book.create_sheet("Fine")
    fine.append(["age"])
    fine.append([7])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"results are not stored, in 'twice' \(3\)") as caught:
        read_table(tmp_path / "t.xlsx")
    assert caught.value.code == "formulas" and "A2" not in str(caught.value)
    assert read_table(tmp_path / "t.xlsx", sheet="Fine").to_pydict() == {"age": ["7"]}


def test_formulas_with_a_stored_result_are_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["age", "twice"], [3, "=A2*2"]):
        book.active.append(row)
    book.save(tmp_path / "raw.xlsx")
    with zipfile.ZipFile(tmp_path / "raw.xlsx") as raw, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as out:
        for name in raw.namelist():
            # as a spreadsheet program writes it: the formula with its result
            content = raw.read(name).replace(b"<f>A2*2</f><v></v>", b"<f>A2*2</f><v>6</v>")
            content = content.replace(b"<f>A2*2</f><v />", b"<f>A2*2</f><v>6</v>").replace(
                b"<f>A2*2</f><v/>", b"<f>A2*2</f><v>6</v>"
            )
            out.writestr(name, content)
    assert read_table(tmp_path / "t.xlsx").to_pydict() == {"age": ["3"], "twice": ["6"]}
