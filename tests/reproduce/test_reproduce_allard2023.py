"""Allard's worked examples: ours equal the slides', up to their rounding."""

from __future__ import annotations

import pytest

from hushtable.reproduce.papers import COLUMNS, find_paper


@pytest.fixture(scope="module")
def rows():
    return list(find_paper("allard2023").rows())


def test_rows_have_one_form_and_parts_make_the_whole(rows):
    assert all(tuple(r) == COLUMNS for r in rows)
    paper = find_paper("allard2023")
    assert [r for part in paper.parts for r in paper.rows(part=part)] == rows


def test_the_release_has_the_slides_classes(rows):
    ours = [r["ours"] for r in rows if r["experiment"] == "2-anonymous release"]
    assert ours == [
        "[75001, 75002] [22, 29] Cold",
        "[75001, 75002] [22, 29] Flu",
        "[75003, 75010] [22, 28] Cold",
        "[75003, 75010] [22, 28] HIV",
    ]


def test_beliefs_about_don(rows):
    beliefs = [r["ours"] for r in rows if "belief that Don" in r["setting"]]
    assert beliefs == [0.4, 0.04, 0.56, 0.4653, 0.0, 0.5347]


def test_recursive_diversity(rows):
    diversity = [(r["published"], r["ours"]) for r in rows if r["experiment"] == "Recursive diversity"]
    assert diversity == [(3, 3), (2, 2), (3, 3), (None, 7.1429)]
