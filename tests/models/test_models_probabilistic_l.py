from __future__ import annotations

from fractions import Fraction

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
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.registry import models

ls = st.sampled_from([1, 1.5, 2, 2.5, 3, 4])


def model(l: float) -> ProbabilisticL:
    return ProbabilisticL(l=l, on="disease")


@given(samples(), ls)
def test_equals_its_twin(sample: Sample, l: float):
    def twin(group: Exact) -> bool:
        return whole(group) >= l and all(n / people(group) <= 1 / Fraction(l) for n in group.values())

    agree(model(l), sample, twin)


@pytest.mark.parametrize("l", range(2, 11))
def test_l_equally_frequent_values_are_exactly_l_diverse(l: int):
    group = dict.fromkeys(range(l), 3)
    sample = Sample((group, {**group, 0: 4}))
    table = sample.table(labels=[str(v) for v in range(l)], categories=None)
    assert model(l).satisfied(sample.stats(), table).tolist() == [True, False]


def test_does_not_survive_adding():
    assert verdicts(model(2), {0: 2, 1: 2}, {0: 3, 1: 2}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(2), {0: 2, 1: 2}, {0: 2, 1: 1}) == [True, False]


def test_several_values_of_one_person_do_not_hide_that_person():
    assert Sample(({0: 2, 1: 2, 2: 2},), unit=6).satisfied(model(3)) == [False]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 1: 1})).satisfied(model(1)) == [False, True]


def test_infeasible_names_the_share_of_the_most_frequent_value():
    reason = model(2).feasible(Sample(({0: 5, 1: 1, 2: 2},)).table())
    assert str(reason) == (
        "l=2 but one value of 'disease' makes up 0.625 of the table, more than 1/l = 0.5. Lower l to 1.6 or less."
    )
    assert model(1.6).feasible(Sample(({0: 5, 1: 1, 2: 2},)).table()) is None


def test_infeasible_names_too_few_values_and_too_few_people():
    assert str(model(3).feasible(Sample(({0: 5, 1: 5},)).table())).startswith(
        "l=3 but 'disease' has 2 distinct values."
    )
    assert str(model(3).feasible(Sample(({0: 4, 1: 4, 2: 4},), unit=6).table())).startswith(
        "l=3 but the table has 2 people."
    )


def test_refuses_l_below_1_and_is_registered():
    with pytest.raises(ParameterError, match=r"must be an int or float >= 1\. Got 0\.5 instead\."):
        ProbabilisticL(l=0.5)
    assert models.build("probabilistic-l", {"l": 3, "on": "disease"}) == model(3)
