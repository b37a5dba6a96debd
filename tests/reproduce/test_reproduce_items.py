"""Verdicts follow from rows, and items go to JSON and back."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.reproduce.items import Item, Line, Lines, item_of, judge, nearest, row, statement


@pytest.mark.parametrize(
    ("pairs", "said", "verdict"),
    [
        ([(3, 3), ("a", "a")], [], "exact"),
        ([(3, 3)], [True], "exact"),
        ([(100, 76)], [], "within"),
        ([(100, 74)], [], "differs"),
        ([(100, 74)], [True], "same trend"),
        ([(100, 99)], [False], "differs"),
        ([("a", "b")], [], "differs"),
        ([(0, 1)], [], "differs"),
        ([(5, None)], [True], "same trend"),
        ([], [True, None], "same trend"),
        ([], [None, None], "differs"),
        ([], [True, False], "differs"),
    ],
)
def test_verdicts(pairs, said, verdict):
    rows = [row("T", str(i), p, o) for i, (p, o) in enumerate(pairs)]
    rows += [statement("T", str(i), holds) for i, holds in enumerate(said)]
    found, words = judge(rows)
    assert found == verdict
    assert words.startswith(f"{verdict}" if verdict != "within" else "within ")


def test_rows_without_a_published_value_do_not_count():
    assert judge([row("T", "a", None, 7), row("T", "b", 2, 2)]) == ("exact", "exact: 1 of 1 value")


def test_rows_hold_plain_values():
    assert row("T", "", np.float64(0.5), np.bool_(True)).model_dump()["ours"] == "yes"
    assert isinstance(row("T", "", 1, np.int64(2)).ours, int)
    assert row("T", "", 1, math.nan).ours is None and row("T", "", 1, math.inf).ours is None


def test_nearest_marks_every_reading_that_is_as_near():
    found = nearest("q", [("a", "", 1.0), ("b", "", 1.0), ("c", "", 2.0)])
    assert [r.favoured for r in found] == [True, True, False]


def test_an_item_survives_json():
    picture = Lines(caption="c", x="k", y="s", lines=(Line(name="a", points=((1, 2.5),), band=((2.0, 3.0),)),))
    item = item_of("Figure 1", "about", [row("F", "a", 1, 2)], "why", pictures=[picture], more=[row("F", "b", None, 3)])
    assert Item.model_validate_json(item.model_dump_json()) == item
    assert len(item.rows) == 2
