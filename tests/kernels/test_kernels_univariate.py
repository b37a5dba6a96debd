"""Runs of a sorted line against every way to cut it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels.compile import compiled
from hushtable.kernels.univariate import _paths, best_runs


def cost(values, starts):
    total = 0.0
    for a, b in itertools.pairwise([*starts, len(values)]):
        known = [x for x in values[a:b] if x == x]
        if known:
            mean = sum(known) / len(known)
            total += sum((x - mean) ** 2 for x in known) + (b - a - len(known))
    return total


@given(
    st.lists(st.one_of(st.just(math.nan), st.integers(-9, 9).map(float), st.floats(-9, 9)), min_size=1, max_size=11),
    st.integers(1, 4),
    st.data(),
)
def test_no_cut_is_better(values, needed, data):
    values = sorted(values, key=lambda x: -math.inf if x != x else x)
    n = len(values)
    units = None
    if data.draw(st.booleans()):
        units = np.array(data.draw(st.lists(st.integers(1, 2), min_size=n, max_size=n)))
    weight = np.ones(n, dtype=int) if units is None else units
    starts = best_runs(np.array(values), needed, 1.0, units).tolist()
    possible = []
    for r in range(n):
        for cuts in itertools.combinations(range(1, n), r):
            runs = list(itertools.pairwise([0, *cuts, n]))
            if all(weight[a:b].sum() >= needed for a, b in runs):
                possible.append([0, *cuts])
    if not possible:
        assert starts == [0]
        return
    assert starts in possible
    # with gaps, runs of 2k and more may be better still: the lemma is about numbers
    if units is None and not any(math.isnan(x) for x in values):
        assert cost(values, starts) == pytest.approx(min(cost(values, p) for p in possible), abs=1e-9)
    before, plain = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    compiled(_paths)(np.array(values), weight, needed, 1.0, before)
    _paths(np.array(values), weight, needed, 1.0, plain)
    assert np.array_equal(before, plain)
