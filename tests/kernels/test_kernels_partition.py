"""Partition kernels: compiled loops, NumPy twins and plain Python agree."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable import parallel
from hushtable.kernels import bounds as spans
from hushtable.kernels import partition
from hushtable.kernels.compile import compiled

NOTHING = np.empty(0, dtype=np.int64)


@st.composite
def levels(draw, *, divisible: bool = False):
    """A work matrix with contiguous groups; with ``divisible`` the chosen column differs within each group."""
    dtype = draw(st.sampled_from([np.uint8, np.uint16, np.uint32]))
    top = draw(st.sampled_from([1, 3, 30, int(np.iinfo(dtype).max)]))
    d = draw(st.integers(1, 3))
    groups = draw(st.integers(1, 4))
    blocks, dims, edges = [], [], [0]
    for _ in range(groups):
        m = draw(st.integers(2 if divisible else 1, 12))
        block = np.array(
            draw(st.lists(st.lists(st.integers(0, top), min_size=d, max_size=d), min_size=m, max_size=m)), dtype=dtype
        )
        dim = draw(st.integers(0, d - 1))
        if divisible and block[:, dim].min() == block[:, dim].max():
            block[0, dim] = 0 if block[0, dim] else top
        blocks.append(block)
        dims.append(dim)
        edges.append(edges[-1] + m)
    work = np.concatenate(blocks)
    index = np.array(draw(st.permutations(range(len(work)))), dtype=np.uint32)
    weighted = draw(st.booleans())
    weights = draw(st.lists(st.integers(0, 4), min_size=len(work), max_size=len(work)))
    units = np.array(weights, dtype=np.int64) if weighted else NOTHING
    starts, ends = np.array(edges[:-1], dtype=np.int64), np.array(edges[1:], dtype=np.int64)
    return work, index, units, starts, ends, np.array(dims, dtype=np.int64)


@given(levels())
def test_bounds(case):
    work, _, _, starts, ends, _ = case
    for function in (spans._bounds_numpy, compiled(spans._bounds_loops)):
        lo = np.empty((len(starts), work.shape[1]), dtype=np.int64)
        hi = np.empty_like(lo)
        function(work, starts, ends, lo, hi)
        for g in range(len(starts)):
            block = work[starts[g] : ends[g]].tolist()
            assert lo[g].tolist() == [min(column) for column in zip(*block, strict=True)]
            assert hi[g].tolist() == [max(column) for column in zip(*block, strict=True)]


def most_even(codes, weights):
    """The lowest cut, at a code that occurs, whose smaller side is heaviest."""
    by_code: dict[int, int] = defaultdict(int)
    for code, weight in zip(codes, weights, strict=True):
        by_code[code] += weight
    options = []
    for cut in sorted(by_code)[:-1]:
        left = sum(w for code, w in by_code.items() if code <= cut)
        right = sum(w for code, w in by_code.items() if code > cut)
        options.append((-min(left, right), cut, left, right))
    return min(options, key=lambda o: o[:2])[1:]


@given(levels(divisible=True))
def test_balanced_cuts(case):
    work, index, units, starts, ends, dims = case
    chosen = [work[starts[g] : ends[g], dims[g]].astype(np.int64) for g in range(len(starts))]
    lo, hi = np.array([c.min() for c in chosen]), np.array([c.max() for c in chosen])
    for function in (partition._cuts_numpy, compiled(partition._cuts_loops)):
        cut, left, right = (np.empty(len(starts), dtype=np.int64) for _ in range(3))
        function(work, index, units, starts, ends, dims, lo, hi, cut, left, right)
        for g in range(len(starts)):
            rows = index[starts[g] : ends[g]]
            weights = units[rows].tolist() if len(units) else [1] * len(rows)
            assert (cut[g], left[g], right[g]) == most_even(chosen[g].tolist(), weights)


def test_a_wide_and_a_narrow_group_do_not_share_counts():
    # the first group takes the sorting path, the second the counting one, the third is as wide as its table
    codes = np.array([[0], [4_000_000_000], [7], [9], [0], [1023], [1023]], dtype=np.uint32)
    starts, ends = np.array([0, 2, 4]), np.array([2, 4, 7])
    index, dims = np.arange(7, dtype=np.uint32), np.zeros(3, dtype=np.int64)
    lo, hi = spans.bounds(codes, starts, ends)
    for function in (partition._cuts_numpy, compiled(partition._cuts_loops)):
        cut, left, right = (np.empty(3, dtype=np.int64) for _ in range(3))
        function(codes, index, NOTHING, starts, ends, dims, lo[:, 0], hi[:, 0], cut, left, right)
        assert (cut.tolist(), left.tolist(), right.tolist()) == ([0, 7, 0], [1, 1, 1], [1, 1, 2])


@given(levels(divisible=True), st.data())
def test_split_rows_moves_whole_rows(case, data):
    work, index, _, starts, ends, dims = case
    cuts = np.array(
        [data.draw(st.sampled_from(sorted(work[s:e, d].tolist()))) for s, e, d in zip(starts, ends, dims, strict=True)],
        dtype=np.int64,
    )
    before = {int(i): tuple(row) for i, row in zip(index, work.tolist(), strict=True)}
    for function in (partition._split_numpy, compiled(partition._split_loops)):
        moved, at, middle = work.copy(), index.copy(), np.empty(len(starts), dtype=np.int64)
        function(moved, at, starts, ends, dims, cuts, middle)
        assert {int(i): tuple(row) for i, row in zip(at, moved.tolist(), strict=True)} == before
        for g in range(len(starts)):
            assert sorted(at[starts[g] : ends[g]]) == sorted(index[starts[g] : ends[g]])
            column = moved[starts[g] : ends[g], dims[g]]
            n_left = int(middle[g] - starts[g])
            assert np.all(column[:n_left] <= cuts[g]) and np.all(column[n_left:] > cuts[g])


@given(levels(divisible=True))
def test_split_ties_halves_by_code_then_row(case):
    work, index, units, starts, ends, dims = case
    before = [(work[s:e].tolist(), index[s:e].tolist()) for s, e in zip(starts, ends, strict=True)]
    middle, left = partition.split_ties(work, index, units, starts, ends, dims)
    for g, (rows, numbers) in enumerate(before):
        ordered = sorted(zip(numbers, rows, strict=True), key=lambda r: (r[1][dims[g]], r[0]))
        weights = [int(units[i]) if len(units) else 1 for i, _ in ordered]
        best = max(range(1, len(rows)), key=lambda m: (min(sum(weights[:m]), sum(weights[m:])), -m))
        assert index[starts[g] : middle[g]].tolist() == [i for i, _ in ordered[:best]]
        assert left[g] == sum(weights[:best])
        assert work[starts[g] : ends[g]].tolist() == [row for _, row in ordered]


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12))
def test_split_children_keeps_a_childs_rows_together(codes):
    child = np.array([0, 0, 1, 1, 1, 2])
    work, index = np.array(codes, dtype=np.uint8)[:, None], np.arange(len(codes), dtype=np.uint32)
    edges = partition.split_children(work, index, 0, len(codes), 0, child)
    found = [sorted(index[a:b].tolist()) for a, b in zip(edges, edges[1:], strict=False)]
    expected = [[i for i, c in enumerate(codes) if child[c] == k] for k in range(3)]
    assert found == [rows for rows in expected if rows]


def test_bounds_of_one_column_and_spreading_labels_equal_their_twins():
    work = np.array([[3, 9], [1, 4], [7, 5], [2, 8]], dtype=np.uint8)
    starts, ends, dims = np.array([0, 2]), np.array([2, 4]), np.array([0, 1])
    for function in (spans._column_bounds_numpy, compiled(spans._column_bounds_loops)):
        lo, hi = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
        function(work, starts, ends, dims, lo, hi)
        assert (lo.tolist(), hi.tolist()) == ([1, 5], [3, 8])
    for function in (partition._spread_numpy, compiled(partition._spread_loops)):
        labels = np.full(5, -1, dtype=np.int64)
        function(np.array([4, 0, 2], dtype=np.uint32), np.array([0, 1]), np.array([1, 3]), np.array([7, 8]), labels)
        assert labels.tolist() == [8, -1, 8, -1, 7]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_pieces_of_groups_do_not_show(threads, monkeypatch):
    monkeypatch.setenv("HUSHTABLE_THREADS", threads)
    draw = np.random.default_rng(4)
    work = draw.integers(0, 9, (400, 3)).astype(np.uint8)
    edges = np.concatenate([[0], np.sort(draw.choice(np.arange(1, 400), 30, replace=False)), [400]])
    starts, ends = edges[:-1], edges[1:]
    dims = draw.integers(0, 3, len(starts))
    found = []
    for rows in (10, parallel.PIECE_ROWS):
        monkeypatch.setattr(parallel, "PIECE_ROWS", rows)
        moved, index, none = work.copy(), np.arange(400), np.empty(0, dtype=np.int64)
        lo, hi = spans.column_bounds(moved, starts, ends, dims)
        wide = np.flatnonzero(hi > lo)
        chosen = starts[wide], ends[wide], dims[wide]
        cuts = partition.balanced_cuts(moved, index, none, *chosen, lo[wide], hi[wide])
        middle = partition.split_rows(moved, index, *chosen, cuts[0])
        labels = partition.spread_labels(index, starts, ends, np.arange(len(starts)), 400)
        found.append([*(c.tolist() for c in cuts), middle.tolist(), index.tolist(), labels.tolist(), moved.tolist()])
    assert found[0] == found[1]
