from __future__ import annotations

import json
from types import ModuleType

import pytest

from hushtable.parallel import THREADS
from hushtable.reproduce import papers
from hushtable.reproduce.items import item_of, row


@pytest.fixture
def toy(monkeypatch):
    """A paper that needs no data."""
    module = ModuleType("toy2000", "A toy of 2000: what it shows.\n\nIt was read\nlike this.")

    def one(seed, quick):
        rows = [row("Table 1", f"k={k}, seed {seed}", 0.5, 12345) for k in ((2,) if quick else (2, 3))]
        return [item_of("Table 1", "a table", rows, "It is a toy.")]

    module.PARTS = {"one": one, "two": lambda seed, quick: []}
    monkeypatch.setenv(THREADS, "1")
    monkeypatch.setattr(papers, "paper_names", lambda: ("toy2000",))
    monkeypatch.setattr(papers, "find_paper", lambda name: papers.Paper(name, module))


def test_the_list(call):
    answer = call("reproduce", "--json")
    assert answer.code == 0
    found = {p["paper"]: p for p in answer.data["papers"]}
    assert found["domingo2007"]["parts"] == ["table-1", "table-2"]
    assert "sun2011" in call("reproduce").out


@pytest.mark.usefixtures("toy")
def test_people_see_the_summary_alone(call, tmp_path):
    answer = call("reproduce", "toy2000", "--seed", "4", "--output", tmp_path / "out")
    assert answer.code == 0 and answer.err == ""
    assert "A toy of 2000" in answer.words and "It is a toy." in answer.words
    assert "differs: 0 of 2 values exact" in answer.words
    assert "seed 4" not in answer.out and "12,345" not in answer.out
    assert "toy2000.html" in answer.out
    assert "seed 4" in (tmp_path / "out" / "toy2000.csv").read_text()
    assert (tmp_path / "out" / "toy2000.html").read_text().startswith("<!doctype html>")


@pytest.mark.usefixtures("toy")
def test_rows_for_programs_and_files(call, tmp_path):
    answer = call("reproduce", "all", "--quick", "--json", "--output", tmp_path / "out")
    assert answer.data["quick"] is True and len(answer.data["files"]) == 3
    (paper,) = answer.data["papers"]
    assert paper["scores"] == {"exact": 0, "within": 0, "same trend": 0, "differs": 1}
    assert [r["setting"] for r in paper["items"][0]["rows"]] == ["k=2, seed 0"]
    assert json.loads((tmp_path / "out" / "toy2000.json").read_text())["items"][0]["verdict"] == "differs"


@pytest.mark.usefixtures("toy")
def test_one_part(call, tmp_path):
    answer = call("reproduce", "toy2000", "--part", "two", "--json", "-o", tmp_path)
    assert answer.data["papers"][0]["items"] == []
    refused = call("reproduce", "all", "--part", "two")
    assert refused.code == 2 and "--part needs one paper" in refused.words


def test_an_unknown_paper(call):
    answer = call("reproduce", "sun2010", "--json")
    assert answer.code == 2
    assert answer.data["code"] == "unknown-paper" and "sun2011" in answer.data["hint"]


def test_an_unknown_part(call):
    answer = call("reproduce", "sun2011", "--part", "globl")
    assert answer.code == 2
    assert "Did you mean 'global'?" in answer.words
