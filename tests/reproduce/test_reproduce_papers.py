"""Papers are found by their file, run part by part, and write what they show."""

from __future__ import annotations

import csv
import json
import re
from types import ModuleType

import pytest

from hushtable.errors import OutputError, UsageError
from hushtable.reproduce.items import Cell, Line, Lines, Squares, Table, item_of, row, statement
from hushtable.reproduce.papers import COLUMNS, Paper, Reproduction, find_paper, page, paper_names


def toy(parts) -> Paper:
    module = ModuleType("toy2000", "A toy.\n\nWith a reading.")
    module.PARTS = parts
    return Paper("toy2000", module)


def shown() -> Reproduction:
    pictures = [
        Table(caption="t", head=("", "x"), names=("<b>",), cells=((Cell(published=1, ours=2),),)),
        Lines(caption="l", x="k", y="s", lines=(
            Line(name="a", points=((1, 2.0), (2, 3.0)), band=((1.0, 2.5), (2.0, 3.5))),
            Line(name="a", points=((1, 2.0),), published=True),
        )),
        Squares(caption="s", x="x", y="y", points=((0.0, 0.0), (1.0, 1.0)), boxes=((0.0, 0.0, 1.0, 1.0),)),
    ]  # fmt: skip
    first = item_of("Table 1", "größer <", [row("Table 1", "k=2", 0.25, 0.25)], "it fits", pictures=pictures)
    second = item_of("Figure 1", "", [statement("Figure 1", "rises", None)], "", more=[row("Figure 1", "b", None, 1)])
    return Reproduction("toy2000", "A toy.", "A toy.\n\nWith a\nreading.", (first, second))


def test_every_paper_has_parts_and_a_title():
    names = paper_names()
    assert names == ("allard2023", "armengol2015", "domingo2007", "sun2011", "wang2011")
    for name in names:
        paper = find_paper(name)
        assert paper.parts and all(callable(work) for work in paper.module.PARTS.values())
        assert paper.title and paper.title in paper.text
        assert set(getattr(paper.module, "SLOW", ())) <= set(paper.parts)


def test_parts_are_given_seed_and_quick():
    seen = []
    paper = toy({"one": lambda seed, quick: seen.append((seed, quick)) or [], "two": lambda seed, quick: []})
    assert paper.run("one") == [] and paper.run("one", seed=4, quick=True) == []
    assert seen == [(0, False), (4, True)]
    assert paper.chosen(None) == ("one", "two") and paper.chosen("two") == ("two",)
    with pytest.raises(UsageError, match="Did you mean 'two'"):
        paper.chosen("tow")
    with pytest.raises(UsageError, match="Known: one, two"):
        paper.chosen("global")


def test_what_is_written_can_be_read_back(tmp_path):
    found = shown()
    files = found.write(tmp_path / "out" / "deep")
    assert [f.name for f in files] == ["toy2000.html", "toy2000.csv", "toy2000.json"]
    assert Reproduction.of(json.loads(files[2].read_text(encoding="utf-8"))) == found
    with files[1].open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert tuple(read[0]) == COLUMNS
    assert [(r["item"], r["ours"]) for r in read] == [("Table 1", "0.25"), ("Figure 1", "undecided"), ("Figure 1", "1")]
    assert found.scores == {"exact": 1, "within": 0, "same trend": 0, "differs": 1}


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot create the folder"):
        shown().write(tmp_path / "file" / "folder")


def test_the_page_stands_alone_and_shows_everything():
    text = page(shown())
    assert "<script" not in text and not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert "default-src &#x27;none&#x27;" in text
    assert "größer &lt;" in text and "<b>&lt;" not in text and "&lt;b&gt;" in text
    for words in ("Table 1", "Figure 1", "exact", "it fits", "With a reading.", "not decided by our numbers"):
        assert words in text
    assert text.count('class="box"') == 1 and text.count('class="band s0"') == 1
    assert text.count('class="line s0 published"') == 2  # the line and its key
    assert '<span class="was">1 </span><b>2</b>' in text
    # links inside the page lead somewhere
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'id="([^"]+)"', text))


def test_a_quick_run_says_so():
    found = shown()
    quick = Reproduction(found.name, found.title, found.text, found.items, quick=True)
    assert "A quick run on small tables" in page(quick) and "A quick run" not in page(found)


def test_items_are_in_the_order_of_their_numbers():
    names = ["Figure 10", "Table 11", "Similarity", "Figure 2(b)", "Table 9", "Beliefs", "Figure 2(a)", "Table I"]
    items = tuple(item_of(name, "", [row("", "", 1, 1)], "") for name in names)
    found = [item.name for item in Reproduction("toy2000", "", "", items).in_order().items]
    assert found == [
        "Table I", "Table 9", "Table 11", "Similarity", "Beliefs", "Figure 2(a)", "Figure 2(b)", "Figure 10",
    ]  # fmt: skip
