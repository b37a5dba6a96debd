from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support_diversity import Exact, Sample, agree, samples, verdicts, whole

from hushtable.errors import ParameterError
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.registry import models

cs, ls = st.sampled_from([0.5, 1, 1.5, 3]), st.integers(2, 4)

DON = {0: 7, 1: 6, 2: 5, 3: 3, 4: 1, 5: 1}


def model(c: float, l: int) -> RecursiveCL:
    return RecursiveCL(c=c, l=l, on="disease")


def diverse(group: Exact, c: float, l: int) -> bool:
    r = sorted(group.values(), reverse=True)
    return bool(r) and r[0] < Fraction(c) * sum(r[l - 1 :])


def without(group: dict[int, int], value: int) -> dict[int, int]:
    return {v: n for v, n in group.items() if v != value}


def test_allards_class_is_1_3_diverse_and_not_1_4():
    assert verdicts(model(1, 3), DON) == [True]
    # 7 < 3 + 1 + 1 fails.
    assert verdicts(model(1, 4), DON) == [False]


def test_allards_class_without_flu():
    assert verdicts(model(1, 2), without(DON, 1)) == [True]
    assert verdicts(model(1, 3), without(DON, 1)) == [False]
    assert verdicts(model(1, 3), without(DON, 5)) == [True]


def test_allards_skewed_class_needs_c_above_7_14():
    skewed = {0: 100, 1: 6, 2: 5, 3: 3}
    sample = Sample((skewed,))
    assert model(1, 2).score(sample.stats(), sample.table()).tolist() == pytest.approx([100 / 14])
    assert verdicts(model(7.14, 2), skewed) == [False]
    assert verdicts(model(7.15, 2), skewed) == [True]


def test_the_comparison_is_strict():
    assert verdicts(model(1, 2), {0: 3, 1: 3}, {0: 3, 1: 3, 2: 1}) == [False, True]
    assert verdicts(model(0.1, 2), {0: 1, **dict.fromkeys(range(1, 6), 2)}) == [False]


@given(samples(), cs, ls)
def test_equals_its_twin(sample: Sample, c: float, l: int):
    agree(model(c, l), sample, lambda g: whole(g) >= l and diverse(g, c, l))


def test_does_not_survive_adding():
    assert verdicts(model(1, 2), {0: 2, 1: 2, 2: 1}, {0: 3, 1: 2, 2: 1}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(1, 2), {0: 2, 1: 2, 2: 1}, {0: 2, 1: 2}) == [True, False]


@given(samples(), ls)
@example(Sample(groups=({0: 20, 1: 26},), unit=6), 2)
def test_contributes_are_the_values_that_lower_the_ratio_or_else_those_below_the_top(sample: Sample, l: int):
    goal, stats, table = model(1, l), sample.stats(), sample.table()
    got = goal.contributes(stats, table)
    for row, group in zip(got.tolist(), sample.exact(), strict=True):
        grown = [{**group, v: group.get(v, Fraction(0)) + 1} for v in range(6)]
        if len(group) < l:
            assert row == [v not in group for v in range(6)]
        elif whole(group) < l:
            assert all(row)
        else:
            lower = [_ratio(g, l) < _ratio(group, l) for g in grown]
            below = [g[v] <= max(group.values()) for v, g in enumerate(grown)]
            best = [a and b for a, b in zip(lower, below, strict=True)]
            assert row == next((choice for choice in (best, below) if any(choice)), lower)


def _ratio(group: Exact, l: int) -> Fraction:
    r = sorted(group.values(), reverse=True)
    return r[0] / sum(r[l - 1 :], Fraction(0))


def test_an_empty_group_is_not_satisfied_and_scores_infinity():
    sample = Sample(({}, {0: 1, 1: 1}))
    assert model(2, 2).score(sample.stats(), sample.table()).tolist() == [np.inf, 1]
    assert sample.satisfied(model(2, 2)) == [False, True]


def test_infeasible_names_the_ratio_of_the_whole_table():
    assert str(model(2, 2).feasible(Sample(({0: 9, 1: 2, 2: 1},)).table())) == (
        "c=2 but in the whole of 'disease' the most frequent value occurs 3 times as often as all values "
        "from rank 2 on together. Raise c above 3, or lower l."
    )
    assert str(model(2, 4).feasible(Sample(({0: 9, 1: 2, 2: 1},)).table())).startswith(
        "l=4 but 'disease' has 3 distinct values."
    )
    assert model(3.1, 2).feasible(Sample(({0: 9, 1: 2, 2: 1},)).table()) is None


def test_refuses_l_below_2_and_is_registered():
    with pytest.raises(ParameterError, match="'l' parameter of RecursiveCL must be an int >= 2"):
        RecursiveCL(c=1, l=1)
    assert models.build("recursive-cl", {"c": 3, "l": 2, "on": "disease"}) == model(3, 2)
