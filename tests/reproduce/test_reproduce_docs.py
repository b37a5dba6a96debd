"""The pages in docs/papers are what the code draws, and the scoreboard is theirs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hushtable.datasets.locate import find_data
from hushtable.reproduce.papers import find_paper, page, paper_names

DOCS = Path(__file__).resolve().parents[2] / "docs"
# parts without times that take no more than a second; the others are run by ``make papers`` alone
FAST = [
    *[("allard2023", part) for part in ("k-anonymity", "mondrian", "bayes-optimal", "l-diversity")],
    *[("sun2011", "examples"), ("armengol2015", "examples"), ("wang2011", "examples")],
    *[("armengol2015", "table-2"), ("wang2011", "table-4")],
]


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("papers_generator", DOCS / "generator" / "papers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def saved(generator):
    return {one.name: one for one in generator.saved()}


@pytest.mark.parametrize("name", paper_names())
def test_pages_are_drawn_from_their_results(saved, name):
    """After a change of the pages: ``python docs/generator/papers.py --draw``."""
    assert not saved[name].quick
    assert (DOCS / "papers" / f"{name}.html").read_text(encoding="utf-8") == page(saved[name])
    assert (DOCS / "papers" / f"{name}.csv").read_text(encoding="utf-8") == saved[name].csv()


@pytest.mark.parametrize(("name", "part"), FAST)
def test_results_are_what_the_code_gives(saved, name, part):
    """After a change of the results: ``make papers``."""
    if part in ("table-2", "table-4") and find_data("adult/adult.data") is None:
        pytest.skip("Adult is not here")
    kept = {item.name: item for item in saved[name].items}
    for item in find_paper(name).run(part):
        assert kept[item.name] == item


def test_texts_are_the_modules_own(saved):
    assert {name: one.text for name, one in saved.items()} == {name: find_paper(name).text for name in paper_names()}


def test_the_scoreboard_counts_the_items(generator, saved):
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert generator.with_scoreboard(text, generator.scoreboard(list(saved.values()))) == text
    items = sum(len(one.items) for one in saved.values())
    assert sum(sum(one.scores.values()) for one in saved.values()) == items == 44
