"""The level-wise search against the paper's recursion, and the figures of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.pattern import search
from hushtable.algorithms.pattern.anti_unify import INDIFFERENT, anti_unify, attribute_order, selected
from hushtable.algorithms.pattern.search import Records, find_patterns

ADULT_8 = ["25-29", "private", "bachelors", "divorced", "prof-specialty", "black", "female", "cuba", "less"]
ADULT_10 = ["35-39", "private", "masters", "married", "exec-managerial", "white", "female", "united-states", "less"]


def test_figure_5_the_common_part_has_length_3():
    names = sorted({*ADULT_8, *ADULT_10})
    codes = np.array([[names.index(value) for value in record] for record in (ADULT_8, ADULT_10)])
    pattern = anti_unify(codes)
    assert [names[c] for c in pattern if c != INDIFFERENT] == ["private", "female", "less"]


def test_figure_6_orders():
    """A2 and A4 induce the fewest sets, A6 the most; A1 and A5 tie between them, A3 follows."""
    n_sets = np.array([3, 2, 4, 2, 3, 5])
    assert [f"A{j + 1}" for j in attribute_order(n_sets, "<")] == ["A2", "A4", "A1", "A5", "A3", "A6"]
    assert [f"A{j + 1}" for j in attribute_order(n_sets, ">")] == ["A6", "A3", "A1", "A5", "A2", "A4"]
    assert np.flatnonzero(selected([n_sets], "<")[0]).tolist() == [1, 3]
    assert np.flatnonzero(selected([n_sets], ">")[0]).tolist() == [5]


def test_an_attribute_with_one_value_never_divides():
    assert attribute_order([1, 1], "<").tolist() == []
    assert not selected([[1, 1], [1, 2]], "<")[0].any()
    assert selected([[1, 1], [1, 2]], ">")[1].tolist() == [False, True]


def by_recursion(codes, rows, condition, length, k, unknown, out):
    """*Analyze-set* as printed, set by set."""
    values = anti_unify(codes[rows])
    shown = np.where((values == 0) & unknown, INDIFFERENT, values)
    if (shown != INDIFFERENT).sum() >= length:
        out.add((tuple(shown.tolist()), frozenset(rows)))
        return
    n_sets = [len(set(codes[rows, j].tolist())) for j in range(codes.shape[1])]
    for j in np.flatnonzero(selected([n_sets], condition)[0]):
        for value in sorted(set(codes[rows, j].tolist())):
            part = [r for r in rows if codes[r, j] == value]
            if len(part) >= k:
                by_recursion(codes, part, condition, length, k, unknown, out)


tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.integers(0, 2), min_size=d, max_size=d), min_size=1, max_size=30)
)


@settings(max_examples=150, deadline=None)
@given(tables, st.sampled_from("<>"), st.integers(1, 3), st.integers(1, 4), st.booleans(), st.booleans())
def test_the_search_equals_the_recursion(table, condition, length, k, unknown, apart):
    codes = np.array(table)
    d = codes.shape[1]
    length = min(length, d)
    flags = np.array([unknown] * d)
    records = Records([codes[:, j] for j in range(d)], [3] * d, flags.tolist())
    half = len(codes) // 2
    starts = [list(range(half)), list(range(half, len(codes)))] if apart and half else [list(range(len(codes)))]
    wanted = set()
    for rows in starts:
        if len(rows) >= k:
            by_recursion(codes, rows, condition, length, k, flags, wanted)
    offsets = np.cumsum([0, *map(len, starts)])
    found = find_patterns(
        records, np.arange(len(codes)), offsets, condition=condition, length=length,
        judge=lambda rows, at: (np.diff(at) >= k, np.diff(at) > k),
    )  # fmt: skip
    triples = zip(found.values.tolist(), found.offsets[:-1], found.offsets[1:], strict=True)
    got = [(tuple(v), frozenset(found.rows[a:b].tolist())) for v, a, b in triples]
    assert len(set(got)) == len(got)
    assert set(got) == wanted
    assert not found.bounded
    ranks = [(-n, -(b - a)) for n, a, b in zip(found.lengths, found.offsets, found.offsets[1:], strict=False)]
    assert ranks == sorted(ranks)


def test_copies_are_bounded(monkeypatch):
    """Many equal attributes: all of them would multiply the records; fewer are taken, and it is said."""
    codes = (np.arange(256)[:, None] >> np.arange(8)) & 1
    records = Records(list(codes.T), [2] * 8, [False] * 8)
    how = {"condition": "<", "length": 6, "judge": lambda rows, at: (np.diff(at) >= 4, np.diff(at) > 4)}
    everything = find_patterns(records, np.arange(256), np.array([0, 256]), **how)
    monkeypatch.setattr(search, "COPIES", 2)
    fewer = find_patterns(records, np.arange(256), np.array([0, 256]), **how)
    assert fewer.bounded
    assert 0 < len(fewer) < len(everything)
    assert {tuple(v) for v in fewer.values.tolist()} <= {tuple(v) for v in everything.values.tolist()}


@pytest.mark.parametrize("condition", ["<", ">"])
def test_nothing_in_common_with_enough_others(condition):
    codes = np.arange(6)
    records = Records([codes], [6], [False])
    found = find_patterns(
        records, np.arange(6), np.array([0, 6]), condition=condition, length=1,
        judge=lambda rows, at: (np.diff(at) >= 2, np.diff(at) > 2),
    )  # fmt: skip
    assert len(found) == 0
    assert found.rows.tolist() == []
