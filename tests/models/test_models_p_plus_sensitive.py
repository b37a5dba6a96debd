from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import (
    SUN,
    SUN_CATEGORIES,
    Sample,
    agree,
    categories,
    of_values,
    samples,
    verdicts,
    whole,
)

from hushtable.errors import PolicyError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_plus_sensitive import PPlusSensitive
from hushtable.registry import models

ps = st.integers(2, 4)


def model(p: int) -> PPlusSensitive:
    return PPlusSensitive(p=p, on="disease")


def test_table_5_of_sun_has_one_category_in_two_of_its_groups():
    sample = of_values(
        ["HIV", "HIV", "Cancer", "Cancer"],
        ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
        ["Flu", "Flu", "Flu", "Indigestion"],
    )
    table = sample.table(SUN, SUN_CATEGORIES)
    assert model(2).score(sample.stats(), table).tolist() == [1, 2, 1]
    assert not model(2).table_satisfied(sample.stats(), table)[0]


def test_table_6_of_sun_is_2_plus_sensitive_4_anonymous():
    sample = of_values(
        ["HIV", "Cancer", "Flu", "Indigestion"],
        ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
        ["HIV", "Cancer", "Flu", "Flu"],
    )
    table = sample.table(SUN, SUN_CATEGORIES)
    assert model(2).achieved(sample.stats(), table) == 2
    assert model(2).table_satisfied(sample.stats(), table)[0]
    assert KAnonymity(k=4).table_satisfied(sample.stats(), table)[0]


@given(samples(), ps)
def test_equals_its_twin(sample: Sample, p: int):
    agree(model(p), sample, lambda g: min(len(categories(g)), whole(g)) >= p)


def test_does_not_survive_suppression():
    assert verdicts(model(2), {0: 1, 1: 1, 2: 1}, {0: 1, 1: 1}) == [True, False]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 5: 1})).satisfied(model(2)) == [False, True]


def test_infeasible_names_the_categories_that_occur():
    reason = model(3).feasible(Sample(({0: 3, 1: 2, 5: 1},)).table())
    assert str(reason) == "p=3 but 'disease' has 2 categories that occur. Lower p to 2 or less."


def test_refuses_a_column_without_categories_before_any_work():
    with pytest.raises(PolicyError, match="Column 'disease' has no sensitivity categories") as raised:
        model(2).feasible(Sample(({0: 3, 1: 2},)).table(categories=None))
    assert raised.value.code == "no-categories"


def test_is_registered():
    assert models.build("p-plus-sensitive", {"p": 2, "on": "disease"}) == model(2)
