from __future__ import annotations

import json
from types import ModuleType

import pytest

from hushtable.reproduce import papers
from hushtable.reproduce.papers import row


@pytest.fixture
def toy(monkeypatch):
    """A paper that needs no data."""
    module = ModuleType("toy2000", "A toy of 2000: what it shows.\n\nIt was read\nlike this.")
    module.PARTS = ("one", "two")

    def rows(part=None, seed=1, quick=False):
        for k in (2,) if quick else (2, 3):
            published, ours = (0.5, 12345) if k == 2 else (None, float("nan"))
            yield row("Table 1", f"k={k}, part {part}, seed {seed}", published, ours)

    module.rows = rows
    monkeypatch.setattr(papers, "paper_names", lambda: ("toy2000",))
    monkeypatch.setattr(papers, "find_paper", lambda name: papers.Paper(name, module))


def test_the_list(call):
    answer = call("reproduce", "--json")
    assert answer.code == 0
    found = {p["paper"]: p for p in answer.data["papers"]}
    assert found["sun2011"]["parts"] == ["global", "local"]
    assert "sun2011" in call("reproduce").out


@pytest.mark.usefixtures("toy")
def test_rows_for_people(call):
    answer = call("reproduce", "toy2000", "--part", "two", "--seed", "4")
    assert answer.code == 0 and answer.err == ""
    assert "It was read like this." in answer.out
    assert "k=2, part two, seed 4" in answer.words
    assert "0.5" in answer.out and "12,345" in answer.out and "not defined" in answer.words


@pytest.mark.usefixtures("toy")
def test_rows_for_programs_and_files(call, tmp_path):
    answer = call("reproduce", "toy2000", "--quick", "--json", "--output", tmp_path / "out")
    assert answer.data["quick"] is True
    assert answer.data["rows"] == [
        {"experiment": "Table 1", "setting": "k=2, part None, seed 1", "published": 0.5, "ours": 12345}
    ]
    assert json.loads((tmp_path / "out" / "toy2000.json").read_text())[0]["ours"] == 12345
    assert len(answer.data["files"]) == 2


def test_an_unknown_paper(call):
    answer = call("reproduce", "sun2010", "--json")
    assert answer.code == 2
    assert answer.data["code"] == "unknown-paper" and "sun2011" in answer.data["hint"]


def test_an_unknown_part(call):
    answer = call("reproduce", "sun2011", "--part", "globl")
    assert answer.code == 2
    assert "Did you mean 'global'?" in answer.words
