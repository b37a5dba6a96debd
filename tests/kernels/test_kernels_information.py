"""Informative cuts: compiled loops and the NumPy twin agree, and logarithms are what they are called."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels import information
from hushtable.kernels.compile import compiled
from hushtable.table.people import PERSON_UNITS

NOTHING = np.empty(0, dtype=np.int64)


@st.composite
def levels(draw):
    """A work matrix with contiguous groups, weights, bins, and what else the kernel asks for."""
    d = draw(st.integers(1, 3))
    # many values in a small group are sorted, few are counted
    tops = draw(st.lists(st.sampled_from([1, 2, 6, 30, 5000]), min_size=d, max_size=d))
    lengths = draw(st.lists(st.integers(1, 25), min_size=1, max_size=3))
    n = sum(lengths)
    work = np.array([[draw(st.integers(0, t)) for t in tops] for _ in range(n)], dtype=np.uint32)
    per_bin = draw(st.sampled_from([1, 3, 10_000]))
    tables = [np.minimum(np.arange(t + 1) // per_bin, 20).astype(np.uint8) for t in tops]
    first = np.cumsum([0, *(len(t) for t in tables)]).astype(np.int64)
    unit = draw(st.sampled_from([0, 1, PERSON_UNITS]))
    shift = 6 if unit == PERSON_UNITS else 0
    units = unit * np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.int64)
    ends = np.cumsum(lengths).astype(np.int64)
    weights = np.array(draw(st.lists(st.integers(1, 40), min_size=d, max_size=d)), dtype=np.int64)
    missing = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    minimum = draw(st.integers(1, 4)) * max(unit, 1)
    index = np.array(draw(st.permutations(range(n))), dtype=np.uint32)
    return (
        work, index, units if unit else NOTHING, ends - np.array(lengths), ends, np.concatenate(tables), first, weights,
        missing, minimum, shift,
    )  # fmt: skip


@given(levels())
def test_loops_and_twin_agree(level):
    found = []
    for kernel in (compiled(information._informative_loops), information._informative_numpy):
        shape = len(level[3]), level[0].shape[1]
        score = np.full(shape, information.NO_CUT, dtype=np.int64)
        cut, left = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        kernel(*level, score, cut, left, information._MANTISSA, information._AMOUNTS)
        found.append((score, cut, left))
    for mine, other in zip(*found, strict=True):
        assert mine.tolist() == other.tolist()


@given(st.integers(1, 2**31 - 1))
def test_logarithms(n):
    assert int(information.fixed_log2(np.array(n))) / 2**information.FRACTION == pytest.approx(math.log2(n), abs=2e-6)
    assert int(compiled(information._log2)(n, information._MANTISSA)) == int(information.fixed_log2(np.array(n)))
    same = compiled(information._amount)(n, information._MANTISSA, information._AMOUNTS)
    assert int(same) == int(information.amount(np.array(n)))


def test_the_score_is_mutual_information():
    # two columns that say the same: the cut between 0 and 1 tells one bit about either, 8 bits each in all
    work = np.array([[0, 0]] * 4 + [[1, 1]] * 4, dtype=np.uint8)
    table, first = np.array([0, 1, 0, 1], dtype=np.uint8), np.array([0, 2, 4])
    score, cut, left = information.informative_cuts(
        work, np.arange(8), NOTHING, np.array([0]), np.array([8]), (table, first), np.array([16, 16]),
        np.array([False, False]), 4, 0,
    )  # fmt: skip
    # afterwards there is room for one group on either side, where there was for two: 8 bits less
    assert (score / 2**information.FRACTION / information.WEIGHT).tolist() == [[8.0, 8.0]]
    assert (cut.tolist(), left.tolist()) == ([[0, 0]], [[4, 4]])
