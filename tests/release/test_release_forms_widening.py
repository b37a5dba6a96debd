"""Widened cells cover their class, are wider, and stay inside the domain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.release.forms.base import Cells, Form, Widening, form_of
from hushtable.release.forms.intervals import RangeCells, Ranges
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.pattern import Pattern
from hushtable.release.forms.sets import SetCells, Sets
from hushtable.release.forms.widening import widen
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins
from hushtable.table.encode import encode
from hushtable.testing.cases import random_case


def cells_of(seed: int, style: Form, groups: int) -> list[Cells]:
    """The cells of a random table's columns, its rows dealt to some groups."""
    case = random_case(seed, 30)
    table = encode(case.table, case.columns)
    owner = np.arange(30) % groups
    rows = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[rows], np.arange(groups + 1))
    return [form_of(replace(c, form=style)).from_records(replace(c, form=style), rows, offsets) for c in table.quasi]


@given(
    st.integers(0, 40),
    st.sampled_from([Ranges(), Sets(), Nodes(), Pattern()]),
    st.sampled_from([3, 12, 30]),
    st.sampled_from([0.1, 0.5, 2.0]),
)
def test_cells_only_grow(seed, style, groups, spread):
    for tight in cells_of(seed, style, groups):
        wide = widen(tight, Widening(spread, 0.5, 0.5, Coins(seed.to_bytes(2, "big"))))
        assert type(wide) is type(tight) and len(wide) == len(tight)
        assert (wide.leaves >= tight.leaves).all() and (wide.leaves <= tight.column.coded.size).all()
        owner = np.repeat(np.arange(len(tight)), tight.counts)
        assert wide.covers(owner, tight.members).all()
        # the missing value is published as before
        assert (wide.with_gap == tight.with_gap).all()
        gaps = np.flatnonzero(tight.with_gap)
        if style != Sets():
            assert wide.labels().take(gaps) == tight.labels().take(gaps)
        assert len(wide.labels()) == len(wide)


@pytest.mark.parametrize("style", [Ranges(), Sets()])
def test_every_generalised_cell_grows_where_it_can(style):
    for seed in range(12):
        for tight in cells_of(seed, style, 6):
            if style == Ranges() and not tight.column.coded.kind.ordered:
                continue
            wide = widen(tight, Widening(0.5, 0.5, 0.001, Coins(b"grow")))
            full = tight.leaves >= tight.column.coded.size - int(tight.column.coded.missing)
            general = (tight.counts > 1) & ~tight.with_gap
            assert (wide.leaves > tight.leaves)[general & ~full].all()
            assert (wide.leaves == tight.leaves)[full].all()


def test_nodes_climb_to_the_next_wider_node():
    climbed = 0
    for seed in range(12):
        for tight in cells_of(seed, Nodes(), 10):
            wide = widen(tight, Widening(0.5, 1.0, 1.0, Coins(b"climb")))
            coded = tight.column.coded
            for g in np.flatnonzero(~tight.with_gap & (tight.leaves < coded.size - int(coded.missing))).tolist():
                wider = [
                    h for h in range(tight.height[g] + 1, coded.height + 1)
                    if coded.leaves(h)[coded.levels[h][tight.low[g]]] > tight.leaves[g]
                ]  # fmt: skip
                assert wide.height[g] == wider[0]
                climbed += 1
    assert climbed > 40


def test_either_end_moves_and_neither_is_likelier():
    """Over many classes of one range, all growths and all shares of it are as likely; none stays as it is."""
    case = random_case(3, 30)
    column = encode(case.table, case.columns).quasi[0]
    big = replace(column, coded=replace(column.coded, missing=False), form=Ranges())
    n = 4000
    coded = replace(
        big.coded, levels=(np.arange(100), np.zeros(100, dtype=np.int64)), labels=(tuple(map(str, range(100))), ("*",)),
    )  # fmt: skip
    big = replace(big, coded=replace(coded, kind=type(coded.kind)("numeric")))
    tight = RangeCells(big, 2 * np.arange(n + 1), np.tile([40, 45], n))
    wide = widen(tight, Widening(0.5, 0.5, 0.5, Coins(b"ends")))
    below, above = 40 - wide.low, wide.high - 45
    growths = np.bincount(below + above)
    assert growths[0] == 0 and len(growths) == 7 and growths[1:].min() > 0.8 * n / 6
    shares = np.bincount(below[below + above == 4])
    assert len(shares) == 5 and shares.min() > 0.75 * growths[4] / 5


def test_no_leaf_of_a_range_is_sure_to_occur():
    """Whatever is published, there are two classes of two leaves that it may stand for and that share none."""
    case = random_case(3, 30)
    column = encode(case.table, case.columns).quasi[0]
    coded = replace(
        column.coded, missing=False, kind=type(column.coded.kind)("numeric"),
        levels=(np.arange(9), np.zeros(9, dtype=np.int64)), labels=(tuple(map(str, range(9))), ("*",)),
    )  # fmt: skip
    column = replace(column, coded=coded, form=Ranges())
    behind: dict[tuple[int, int], list[set[int]]] = {}
    for low in range(8):
        tight = RangeCells(column, 2 * np.arange(201), np.tile([low, low + 1], 200))
        wide = widen(tight, Widening(0.5, 0.5, 0.5, Coins(bytes([low]))))
        for ends in set(zip(wide.low.tolist(), wide.high.tolist(), strict=True)):
            behind.setdefault(ends, []).append({low, low + 1})
    assert len(behind) == 6
    assert all(not set.intersection(*pairs) for pairs in behind.values())


def test_added_members_lie_among_the_others_and_a_little_around():
    """From everything between the two and three leaves on either side, with the same chance."""
    case = next(c for c in (random_case(s, 30) for s in range(60)) if "country" in c.columns.named(Role.QUASI))
    table = encode(case.table, case.columns)
    column = next(c for c in table.quasi if c.name == "country")
    column = replace(column, form=Sets())
    first, size, n = int(column.coded.missing), column.coded.size, 6000
    assert size - first == 7
    tight = SetCells(column, 2 * np.arange(n + 1), np.tile([first, first + 2], n))
    wide = widen(tight, Widening(0.5, 0.5, 0.5, Coins(b"more")))
    counts = np.bincount(wide.members, minlength=size)
    added = [first + c for c in (1, 3, 4, 5)]
    assert (wide.counts == 3).all() and counts[added].sum() == n
    assert counts[added].min() > 0.8 * n / len(added)


def test_global_cells_stay():
    for tight in cells_of(5, Nodes(), 6):
        level = replace(tight, level=tight.column.coded.height)
        assert widen(level, Widening(1.0, 0.9, 0.9, Coins(b""))) is level


def test_taking_cells():
    for cells in cells_of(4, Sets(), 7):
        taken = cells.take(np.array([5, 0, 5]))
        assert taken.labels().to_pylist() == [cells.labels()[i].as_py() for i in (5, 0, 5)]
