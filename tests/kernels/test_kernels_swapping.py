"""Swapping records between groups: compiled loops and the NumPy twin agree, and the surplus is what it should be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels import swapping
from hushtable.kernels.compile import compiled
from hushtable.kernels.information import WEIGHT

LOOPS = swapping._expected_loops, swapping._swap_loops
TWINS = swapping._expected_numpy, swapping._swap_numpy


@st.composite
def groupings(draw):
    """Bins of some rows, their columns' sizes and weights, and groups of them."""
    d, n = draw(st.integers(1, 4)), draw(st.integers(4, 24))
    sizes = np.array(draw(st.lists(st.integers(1, 5), min_size=d, max_size=d)))
    bins = np.array([[draw(st.integers(0, s - 1)) for s in sizes] for _ in range(n)], dtype=np.uint8)
    weights = np.array(draw(st.lists(st.integers(1, 40), min_size=d, max_size=d)))
    edges = sorted(draw(st.lists(st.integers(0, n), min_size=3, max_size=3)))
    rows = np.array(draw(st.permutations(range(n))), dtype=np.int64)
    return bins, sizes, weights, rows, np.array([0, *edges, n])


def started(grouping, expected):
    """The surplus of the groups over the table, which is that of single rows."""
    bins, sizes, weights, rows, offsets = grouping
    places, total = swapping.pair_places(sizes)
    surplus = np.zeros(total, dtype=np.int64)
    expected(surplus, bins, sizes, weights, rows, offsets, np.arange(4), 1, places)
    single = np.arange(len(rows) + 1)
    expected(surplus, bins, sizes, weights, rows, single, single[:-1], -1, places)
    return surplus, places


@given(groupings(), st.integers(0, 3), st.integers(1, 8))
def test_loops_and_twin_agree(grouping, turn, tries):
    found = []
    for expected, swap in ((compiled(LOOPS[0]), compiled(LOOPS[1])), TWINS):
        bins, sizes, weights, rows, offsets = grouping
        surplus, places = started(grouping, expected)
        rows, swapped = rows.copy(), np.zeros(2, dtype=np.bool_)
        pairs = np.array([0, 1]), np.array([2, 3])
        swap(surplus, bins, sizes, weights, rows, offsets, *pairs, turn, tries, places, swapped)
        found.append([surplus.tolist(), rows.tolist(), swapped.tolist()])
    assert found[0] == found[1]


@given(groupings())
def test_the_surplus_follows_the_swaps(grouping):
    bins, sizes, weights, rows, offsets = grouping
    surplus, _ = started(grouping, TWINS[0])
    rows = rows.copy()
    swapped = swapping.swap_between(
        surplus, bins, sizes, weights, rows, offsets, np.array([0, 1]), np.array([2, 3]), 0, 6
    )
    again, _ = started((bins, sizes, weights, rows, offsets), TWINS[0])
    assert surplus.tolist() == again.tolist()
    assert sorted(rows.tolist()) == list(range(len(rows)))
    assert swapped.any() == (rows.tolist() != grouping[3].tolist())


def test_what_is_added_can_be_taken_away():
    bins = np.array([[0, 1], [1, 0], [1, 1]], dtype=np.uint8)
    surplus, sizes, ones = np.zeros(4, dtype=np.int64), np.array([2, 2]), np.array([1, 1])
    rows, offsets = np.arange(3), np.array([0, 3])
    swapping.add_expected(surplus, bins, sizes, ones, rows, offsets, np.array([0]), 1)
    # of three people, two have the first value and two the second: 4/3 expected to have both
    third = (swapping.ONE + 1) // 3
    assert surplus.tolist() == [third, 2 * third, 2 * third, 4 * third]
    swapping.add_expected(surplus, bins, sizes, ones, rows, offsets, np.array([0]), -1)
    assert not surplus.any()


def reappearing(bins, rows, offsets):
    """The expected number of rows that reappear whole when the values of each group are dealt anew."""
    total = 0.0
    for first, last in pairwise(offsets):
        mine = bins[rows[first:last]]
        total += sum(len(mine) * np.prod((mine == row).mean(axis=0)) for row in mine)
    return total


def test_fewer_rows_of_a_wide_table_reappear_at_a_price(monkeypatch):
    random = np.random.default_rng(1)
    bins = (random.random((24, 30)) < 0.1).astype(np.uint8)
    sizes, weights, offsets = np.full(30, 2), np.full(30, WEIGHT), np.arange(0, 25, 6)
    found = {}
    for price in ("asked", "none"):
        if price == "none":
            monkeypatch.setattr(swapping, "_price", lambda weights: 0.0)
        rows = np.arange(24)
        surplus, places = started((bins, sizes, weights, rows, offsets), TWINS[0])
        for turn in range(2):
            swapped = np.zeros(2, dtype=np.bool_)
            for pairs in (([0, 2], [1, 3]), ([0, 1], [2, 3]), ([0, 1], [3, 2])):
                TWINS[1](surplus, bins, sizes, weights, rows, offsets, *map(np.array, pairs), turn, 3, places, swapped)
        found[price] = reappearing(bins, rows, offsets)
    assert found["asked"] < 0.8 * found["none"]
