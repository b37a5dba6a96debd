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
    of_values,
    people,
    samples,
    verdicts,
    weight,
    whole,
)

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.entropy_l import EntropyL
from hushtable.models.l_alpha import LAlpha
from hushtable.models.p_alpha_sensitive import PAlphaSensitive
from hushtable.registry import models

ls, alphas = st.integers(2, 4), st.sampled_from([0.5, 1, 2, 3.5])
diversities = st.sampled_from(["probabilistic", "distinct", "entropy"])


def model(l: int, alpha: float, diversity: str = "probabilistic") -> LAlpha:
    return LAlpha.build({"l": l, "alpha": alpha, "diversity": diversity, "on": "disease"})


@given(samples(), ls, alphas)
def test_equals_its_twin(sample: Sample, l: int, alpha: float):
    def twin(group: Exact) -> bool:
        rare = all(n / people(group) <= Fraction(1, l) for n in group.values())
        return rare and whole(group) >= l and weight(group) >= alpha

    agree(model(l, alpha), sample, twin)


@given(samples(), ls, alphas)
def test_distinct_is_p_alpha_sensitivity(sample: Sample, l: int, alpha: float):
    other = PAlphaSensitive(p=l, alpha=alpha, on="disease")
    assert sample.satisfied(model(l, alpha, "distinct")) == sample.satisfied(other)


@given(samples(), ls)
def test_entropy_is_entropy_l_and_the_weight(sample: Sample, l: int):
    diverse = sample.satisfied(EntropyL(l=l, on="disease"))
    expected = [d and weight(g) >= 1 for d, g in zip(diverse, sample.exact(), strict=True)]
    assert sample.satisfied(model(l, 1, "entropy")) == expected


def test_table_7_of_sun_is_2_1_diverse_but_for_its_first_and_last_group_at_l_3():
    sample = of_values(
        ["HIV", "HIV", "Cancer", "Flu"],
        ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
        ["Cancer", "Flu", "Flu", "Indigestion"],
    )
    table = sample.table(SUN, SUN_CATEGORIES)
    assert model(2, 1).satisfied(sample.stats(), table).tolist() == [True, True, True]
    assert model(3, 1).satisfied(sample.stats(), table).tolist() == [False, True, False]
    assert model(2, 2).satisfied(sample.stats(), table).tolist() == [False, True, True]


def test_does_not_survive_adding():
    assert verdicts(model(2, 1), {0: 1, 5: 1}, {0: 2, 5: 1}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(2, 2), {4: 2, 5: 2}, {4: 1, 5: 1}) == [True, False]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 5: 1})).satisfied(model(2, 1)) == [False, True]


def test_infeasible_names_the_half_that_fails():
    table = Sample(({0: 4, 1: 3, 5: 1},)).table()
    assert str(model(4, 1).feasible(table)).startswith("l=4 but 'disease' has 3 distinct values.")
    assert str(model(3, 1).feasible(table)).startswith("l=3 but one value of 'disease' makes up 0.5 of the table")
    assert str(model(2, 2).feasible(table)) == (
        "alpha=2 but the whole of 'disease' weighs 1. Lower alpha to 1 or less."
    )
    assert model(2, 1).feasible(table) is None


def test_refuses_a_column_without_categories_before_any_work():
    with pytest.raises(PolicyError) as raised:
        model(2, 1).feasible(Sample(({0: 3, 1: 2},)).table(categories=None))
    assert raised.value.code == "no-categories"


def test_refuses_an_unknown_diversity_and_is_registered():
    with pytest.raises(ParameterError, match="must be a value of 'probabilistic', 'distinct', 'entropy'"):
        model(2, 1, "naive")
    assert models.build("l-alpha", {"l": 2, "alpha": 1, "on": "disease"}) == model(2, 1)
