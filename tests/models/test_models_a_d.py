from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import (
    SUN,
    SUN_CATEGORIES,
    Exact,
    Sample,
    agree,
    categories,
    of_values,
    people,
    samples,
    verdicts,
    whole,
)

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.a_d import AD
from hushtable.registry import models

shares, ds = st.sampled_from([0.25, 0.5, 0.75, 1]), st.integers(2, 4)


def model(a: float, d: int) -> AD:
    return AD(a=a, d=d, on="disease")


@given(samples(), shares, ds)
def test_equals_its_twin(sample: Sample, a: float, d: int):
    def twin(group: Exact) -> bool:
        meanings = categories(group)
        rare = all(n / people(group) <= Fraction(a) for n in meanings.values())
        return rare and min(len(meanings), whole(group)) >= d

    agree(model(a, d), sample, twin)


def test_similar_values_do_not_make_a_class_diverse():
    sample = of_values(
        ["HIV", "Cancer", "HIV", "Cancer"],
        ["HIV", "Cancer", "Flu", "Indigestion"],
        ["HIV", "Cancer", "Cancer", "Flu"],
    )
    table = sample.table(SUN, SUN_CATEGORIES)
    assert model(0.5, 2).satisfied(sample.stats(), table).tolist() == [False, True, False]
    assert model(1, 2).satisfied(sample.stats(), table).tolist() == [False, True, True]


def test_does_not_survive_adding():
    assert verdicts(model(0.5, 2), {0: 1, 5: 1}, {0: 2, 5: 1}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(0.75, 2), {0: 1, 1: 1, 5: 1}, {0: 1, 1: 1}) == [True, False]


def test_contributes_are_new_categories_and_those_with_room():
    sample = Sample(({0: 1, 1: 1}, {0: 3, 5: 1}, {0: 1, 2: 1, 5: 1}))
    got = model(0.5, 2).contributes(sample.stats(), sample.table())
    assert got.tolist() == [
        [False, False, True, True, True, True],
        [False, False, True, True, True, True],
        [True] * 6,
    ]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 5: 1})).satisfied(model(0.5, 2)) == [False, True]


def test_infeasible_names_the_categories_or_the_share():
    table = Sample(({0: 3, 1: 2, 5: 3},)).table()
    assert str(model(1, 3).feasible(table)) == ("d=3 but 'disease' has 2 categories that occur. Lower d to 2 or less.")
    assert str(model(0.5, 2).feasible(table)) == (
        "a=0.5 but one category of 'disease' makes up 0.625 of the table. Raise a to 0.625 or more."
    )
    assert model(0.625, 2).feasible(table) is None


def test_refuses_a_column_without_categories_before_any_work():
    with pytest.raises(PolicyError) as raised:
        model(0.5, 2).feasible(Sample(({0: 3, 1: 2},)).table(categories=None))
    assert raised.value.code == "no-categories"


def test_refuses_a_above_1_and_is_registered():
    with pytest.raises(ParameterError, match=r"must be a float in \(0, 1\]\. Got 1\.5 instead\."):
        AD(a=1.5, d=2)
    assert models.build("a-d", {"a": 0.5, "d": 2, "on": "disease"}) == model(0.5, 2)
