from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import (
    Sample,
    agree,
    of_values,
    samples,
    verdicts,
    whole,
)

from hushtable.errors import Infeasible, ParameterError
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_sensitive import PSensitive
from hushtable.registry import models

ps = st.integers(2, 5)


def model(p: int) -> PSensitive:
    return PSensitive(p=p, on="disease")


TABLE_2 = (
    ["HIV", "HIV"],
    ["Cancer", "Cancer"],
    ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
    ["Flu", "Indigestion"],
    ["Flu", "Flu"],
)
TABLE_5 = (
    ["HIV", "HIV", "Cancer", "Cancer"],
    ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
    ["Flu", "Flu", "Flu", "Indigestion"],
)


def test_table_2_of_sun_has_five_groups_is_2_anonymous_and_not_2_sensitive():
    sample = of_values(*TABLE_2)
    stats, table = sample.stats(), sample.table()
    assert len(stats) == 5
    assert KAnonymity(k=2).achieved(stats, table) == 2
    assert model(2).score(stats, table).tolist() == [1, 1, 4, 2, 1]


def test_table_5_of_sun_is_2_sensitive_4_anonymous():
    sample = of_values(*TABLE_5)
    stats, table = sample.stats(), sample.table()
    assert model(2).satisfied(stats, table).all()
    assert model(2).achieved(stats, table) == 2
    assert KAnonymity(k=4).satisfied(stats, table).all()


def test_p_above_k_makes_p_the_effective_k():
    assert AllOf.bound_to([KAnonymity(k=2), PSensitive(p=5)], ("disease",)).min_group_size() == 5


@given(samples(), ps)
def test_equals_its_twin(sample: Sample, p: int):
    agree(model(p), sample, lambda g: min(len(g), whole(g)) >= p)


def test_does_not_survive_suppression():
    assert verdicts(model(2), {0: 1, 1: 1}, {0: 1}) == [True, False]


def test_several_values_of_one_person_do_not_hide_that_person():
    assert Sample(({0: 2, 1: 2, 2: 2},), unit=6).satisfied(model(2)) == [False]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 1: 1})).satisfied(model(2)) == [False, True]


def test_infeasible_names_the_distinct_values():
    reason = model(5).feasible(Sample(({0: 3, 1: 2, 2: 2, 3: 1},)).table())
    assert isinstance(reason, Infeasible)
    assert str(reason) == "p=5 but 'disease' has 4 distinct values. Lower p to 4 or less."
    assert model(4).feasible(Sample(({0: 3, 1: 2, 2: 2, 3: 1},)).table()) is None


def test_infeasible_names_the_people_where_they_are_fewer_than_values():
    reason = model(3).feasible(Sample(({0: 4, 1: 4, 2: 4},), unit=6).table())
    assert str(reason) == "p=3 but the table has 2 people. Lower p to 2 or less."


def test_refuses_p_below_2_and_is_registered():
    with pytest.raises(ParameterError, match=r"The 'p' parameter of PSensitive must be an int >= 2\. Got 1 instead\."):
        PSensitive(p=1)
    assert models.build("p-sensitive", {"p": 3, "on": "disease"}) == model(3)
