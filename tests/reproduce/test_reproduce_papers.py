"""Papers are found by their file, take what their rows take, and write what they show."""

from __future__ import annotations

import csv
import json
from types import ModuleType

import pytest

from hushtable.errors import OutputError, UsageError
from hushtable.reproduce.papers import COLUMNS, Paper, find_paper, paper_names, row


def toy(rows, **more) -> Paper:
    module = ModuleType("toy2000", "A toy.\n\nWith a reading.")
    module.rows = rows
    for name, value in more.items():
        setattr(module, name, value)
    return Paper("toy2000", module)


def test_every_paper_has_rows_and_a_title():
    names = paper_names()
    assert "sun2011" in names
    for name in names:
        paper = find_paper(name)
        assert callable(paper.module.rows)
        assert paper.title and paper.title in paper.text


def test_helpers_are_no_papers():
    assert not {"papers", "sun_runs", "sun_tables", "sun_global"} & set(paper_names())


def test_rows_are_given_only_what_was_asked_for():
    seen = []

    def rows(part=None, seed=7, quick=False):
        seen.append((part, seed, quick))
        yield row("Table 1", "k=2", None, 3)

    paper = toy(rows, PARTS=("one", "two"))
    assert list(paper.rows()) == [{"experiment": "Table 1", "setting": "k=2", "published": None, "ours": 3}]
    list(paper.rows(part="two", seed=0, quick=True))
    assert seen == [(None, 7, False), ("two", 0, True)]


def test_what_a_paper_cannot_do_is_said():
    paper = toy(lambda: iter(()))
    with pytest.raises(UsageError, match="one piece"):
        list(paper.rows(part="local"))
    with pytest.raises(UsageError, match="no quick run"):
        list(paper.rows(quick=True))
    with pytest.raises(UsageError, match="takes no seed"):
        list(paper.rows(seed=3))
    with pytest.raises(UsageError, match="Did you mean 'local'"):
        list(find_paper("sun2011").rows(part="locl"))


def test_rows_are_written_with_what_the_paper_adds(tmp_path):
    def write(folder, rows):
        (folder / "plot.svg").write_text(str(len(rows)))
        return [folder / "plot.svg"]

    paper = toy(lambda: iter(()), write=write)
    rows = [row("Figure 1", "größer, k=2", "rises", 0.25), row("Figure 1", "k=3", None, 1)]
    files = paper.write(tmp_path / "out" / "deep", rows)
    assert [f.name for f in files] == ["toy2000.csv", "toy2000.json", "plot.svg"]
    assert json.loads(files[1].read_text(encoding="utf-8")) == rows
    with files[0].open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert tuple(read[0]) == COLUMNS
    assert [r["ours"] for r in read] == ["0.25", "1"] and read[1]["published"] == ""


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made"):
        toy(lambda: iter(())).write(tmp_path / "file" / "folder", [])
