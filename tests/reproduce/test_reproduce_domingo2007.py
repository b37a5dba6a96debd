"""Domingo-Ferrer et al.: ours equal the published cells, but for those that are said not to."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import DataError
from hushtable.reproduce import domingo2007 as paper
from hushtable.reproduce.papers import COLUMNS, find_paper


@pytest.fixture(scope="module")
def rows():
    try:
        return list(find_paper("domingo2007").rows(quick=True))
    except DataError as error:
        if error.code != "data-not-found":
            raise
        pytest.skip(str(error))


def those(rows, experiment):
    return {r["setting"]: (r["published"], r["ours"]) for r in rows if r["experiment"] == experiment}


def test_rows_have_one_form(rows):
    assert all(tuple(r) == COLUMNS and r["ours"] is not None for r in rows)


def test_table_2_in_every_cell(rows):
    cells = those(rows, "Table 2 (p-sensitivity first)")
    assert set(cells) == {"k=3, p=1", "k=10, p=1", "k=3, p=3", *(f"k=10, p={p}" for p in (3, 5, 7, 10))}
    assert all(published == ours for published, ours in cells.values())
    short = those(rows, "Table 2 (p-sensitivity first), attributes still short of p alone")
    assert round(short["k=10, p=10"][1], 2) == 89.65


def test_table_1_as_far_as_it_comes_out(rows):
    name = "Table 1 (k-anonymity first)"
    assert those(rows, name) == {"k=3, p=1": (3.69, 3.69), "k=10, p=1": (9.71, 9.71), "k=10, p=10": (100.0, 100.0)}
    assert those(rows, f"{name}, MDAV")["k=3, p=1"] == (None, 3.6933)


def test_what_does_not_come_out_is_said(rows, monkeypatch):
    monkeypatch.setattr(paper, "_TABLE_1", {3: 44.96})
    found = list(paper._table_1(paper.census_table(), (3,), quick=False))
    name = "Table 1 (k-anonymity first)"
    assert those(found, name)["k=3, p=3"] == (44.96, 40.63)
    assert those(found, f"{name}, final group size")["k=3, p=3"] == (None, 162)
    assert those(found, f"{name}, reproduced") == {"k=3, p=3": ("yes", "no, by no reading tried")}


def test_confidential_attributes_fill_15_12_and_14_categories(rows):
    table = paper.census_table()
    assert [len(np.unique(table.column(j).to_pylist())) for j in range(6, 9)] == [15, 12, 14]


def test_truncating():
    assert [paper.truncated(x) for x in (0.999, 23.1399999, 23.14, 99.99999)] == [0.99, 23.13, 23.14, 99.99]
