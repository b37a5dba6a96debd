from __future__ import annotations

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
from hushtable.models.alpha_beta_k import AlphaBetaK
from hushtable.registry import models

alphas, betas, ks = st.integers(1, 4), st.integers(2, 4), st.integers(2, 6)


def model(alpha: int, beta: int, k: int) -> AlphaBetaK:
    return AlphaBetaK(alpha=alpha, beta=beta, k=k, on="disease")


@given(samples(), alphas, betas, ks)
def test_equals_its_twin(sample: Sample, alpha: int, beta: int, k: int):
    def twin(group: Exact) -> bool:
        n = people(group)
        apart = all((n - similar) - similar >= alpha for similar in categories(group).values())
        return n >= k and min(len(group), whole(group)) >= beta and apart

    agree(model(alpha, beta, k), sample, twin)


def test_no_table_of_sun_withstands_it_but_spread_categories_do():
    sample = of_values(
        ["HIV", "Cancer", "Flu", "Indigestion"],
        ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
        ["HIV", "Phthisis", "Asthma", "Flu"],
    )
    table = sample.table(SUN, SUN_CATEGORIES)
    assert model(2, 4, 4).satisfied(sample.stats(), table).tolist() == [False, False, True]
    assert model(3, 4, 4).satisfied(sample.stats(), table).tolist() == [False, False, False]


def test_does_not_survive_adding():
    assert verdicts(model(1, 2, 2), {0: 1, 2: 1, 5: 1}, {0: 2, 2: 1, 5: 1}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(1, 2, 2), {0: 1, 2: 1, 5: 1}, {0: 1, 2: 1}) == [True, False]


def test_contributes_are_new_values_values_of_small_categories_and_those_that_keep_the_lead():
    sample = Sample(({}, {0: 2, 1: 1, 2: 1}, {0: 2, 2: 2, 5: 2}))
    got = model(1, 2, 7).contributes(sample.stats(), sample.table())
    assert got.tolist() == [
        [True] * 6,
        [False, False, True, True, True, True],
        [True] * 6,
    ]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 2: 1, 5: 1})).satisfied(model(1, 2, 2)) == [False, True]


def test_infeasible_names_what_is_lacking():
    table = Sample(({0: 3, 2: 3, 5: 1},)).table()
    assert str(model(1, 2, 8).feasible(table)).startswith("k=8 but the table has 7 people.")
    assert str(model(1, 4, 2).feasible(table)) == (
        "beta=4 but 'disease' has 3 distinct values. Lower beta to 3 or less."
    )
    assert str(model(2, 2, 2).feasible(table)) == (
        "alpha=2 but in the whole table the people outside the largest category of 'disease' outnumber those in it "
        "by 1. Lower alpha to 1 or less."
    )
    assert model(1, 3, 7).feasible(table) is None
    assert "Divide the values into more categories." in str(model(1, 2, 2).feasible(Sample(({0: 2, 1: 2},)).table()))


def test_refuses_a_column_without_categories_before_any_work():
    with pytest.raises(PolicyError) as raised:
        model(1, 2, 2).feasible(Sample(({0: 3, 1: 2},)).table(categories=None))
    assert raised.value.code == "no-categories"


def test_refuses_alpha_0_and_is_registered():
    with pytest.raises(ParameterError, match="'alpha' parameter of AlphaBetaK must be an int >= 1"):
        AlphaBetaK(alpha=0, beta=2, k=2)
    assert models.build("alpha-beta-k", {"alpha": 1, "beta": 2, "k": 3, "on": "disease"}) == model(1, 2, 3)
