from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import (
    Exact,
    Sample,
    agree,
    people,
    samples,
    verdicts,
    whole,
)

from hushtable.errors import ParameterError
from hushtable.models.entropy_l import EntropyL
from hushtable.registry import models

ls = st.sampled_from([1, 1.5, 2, 2.5, 3, 4])


def model(l: float) -> EntropyL:
    return EntropyL(l=l, on="disease")


def entropy(group: Exact) -> float:
    shares = [float(n / people(group)) for n in group.values()]
    return -sum(p * math.log(p) for p in shares)


@given(samples(), ls)
def test_equals_its_twin(sample: Sample, l: float):
    agree(model(l), sample, lambda g: whole(g) >= l and entropy(g) >= math.log(l) - 1e-10)


@given(samples())
def test_score_is_the_effective_number_of_values(sample: Sample):
    score = model(2).score(sample.stats(), sample.table())
    for got, group in zip(score, sample.exact(), strict=True):
        assert got == pytest.approx(min(math.exp(entropy(group)), whole(group)) if group else 0)


@pytest.mark.parametrize("each", [1, 3, 7, 999_983])
@pytest.mark.parametrize("l", range(2, 11))
def test_a_uniform_group_of_l_values_is_entropy_l_diverse(l: int, each: int):
    group = dict.fromkeys(range(l), each)
    sample = Sample((group, {**group, 0: each + 1}))
    table = sample.table(labels=[str(v) for v in range(l)], categories=None)
    satisfied = model(l).satisfied(sample.stats(), table).tolist()
    # One record more among millions moves the entropy by less than the stated tolerance.
    assert satisfied == [True, each == 999_983]


def test_does_not_survive_adding():
    assert verdicts(model(2), {0: 2, 1: 2}, {0: 3, 1: 2}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(2), {0: 2, 1: 2}, {0: 2, 1: 1}) == [True, False]


def test_several_values_of_one_person_do_not_hide_that_person():
    assert Sample(({0: 2, 1: 2, 2: 2},), unit=6).satisfied(model(3)) == [False]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 1: 1})).satisfied(model(1)) == [False, True]


def test_infeasible_says_how_diverse_the_table_is():
    table = Sample(({0: 8, 1: 1, 2: 1},)).table()
    reason = model(2).feasible(table)
    assert str(reason) == (
        "l=2 but the whole of 'disease' is only as diverse as 1.89465 equally frequent values. "
        "Lower l to 1.8946 or less."
    )
    assert model(1.8946).feasible(table) is None


def test_infeasible_names_too_few_values_and_too_few_people():
    assert str(model(3).feasible(Sample(({0: 5, 1: 5},)).table())).startswith(
        "l=3 but 'disease' has 2 distinct values."
    )
    assert str(model(3).feasible(Sample(({0: 4, 1: 4, 2: 4},), unit=6).table())).startswith(
        "l=3 but the table has 2 people."
    )


def test_refuses_l_below_1_and_is_registered():
    with pytest.raises(ParameterError, match=r"must be an int or float >= 1\. Got 0 instead\."):
        EntropyL(l=0)
    assert models.build("entropy-l", {"l": 3, "on": "disease"}) == model(3)
