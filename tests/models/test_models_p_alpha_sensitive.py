from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import (
    SUN,
    SUN_CATEGORIES,
    Sample,
    agree,
    of_values,
    samples,
    verdicts,
    weight,
    whole,
)

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_alpha_sensitive import PAlphaSensitive, total_weights
from hushtable.registry import models
from hushtable.table.reference import Attribute
from hushtable.table.stats import Histogram

ps, alphas = st.integers(1, 4), st.sampled_from([0.5, 1, 1.25, 2, 3, 7])

TABLE_7 = of_values(
    ["HIV", "HIV", "Cancer", "Flu"],
    ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
    ["Cancer", "Flu", "Flu", "Indigestion"],
)


def model(p: int, alpha: float) -> PAlphaSensitive:
    return PAlphaSensitive(p=p, alpha=alpha, on="disease")


def test_table_7_of_sun_is_3_1_sensitive_with_weights_1_2_3():
    table, stats = TABLE_7.table(SUN, SUN_CATEGORIES), TABLE_7.stats()
    weights = total_weights(stats.histogram(("disease",)), table.attribute(("disease",)))
    assert weights == pytest.approx([1, 2, 3])
    assert model(3, 1).table_satisfied(stats, table)[0]
    assert KAnonymity(k=4).table_satisfied(stats, table)[0]
    assert model(3, 1.1).satisfied(stats, table).tolist() == [False, True, True]
    assert model(4, 1).satisfied(stats, table).tolist() == [False, True, False]


def test_section_3s_set_a_weighs_2():
    sample = of_values(["Cancer", "Phthisis", "Asthma", "Flu"])
    table = sample.table(SUN, SUN_CATEGORIES)
    assert table.attribute(("disease",)).category_weights()[[0, 2, 4, 6]] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert model(4, 2).score(sample.stats(), table).tolist() == pytest.approx([1.0])
    assert model(4, 2).satisfied(sample.stats(), table).all()


def test_a_single_category_weighs_1():
    only = Attribute.of("disease", ["flu", "cold"], [1, 1], categories=[0, 0])
    assert total_weights(Histogram.dense([[1, 1]]), only).tolist() == [2]


@given(samples(), ps, alphas)
def test_equals_its_twin(sample: Sample, p: int, alpha: float):
    agree(model(p, alpha), sample, lambda g: min(len(g), whole(g)) >= p and weight(g) >= alpha)


def test_does_not_survive_suppression():
    assert verdicts(model(2, 1), {0: 1, 1: 1, 5: 1}, {0: 1, 1: 1}) == [True, False]


@given(samples(), ps, alphas)
def test_contributes_are_the_values_that_a_failing_condition_lacks(sample: Sample, p: int, alpha: float):
    got = model(p, alpha).contributes(sample.stats(), sample.table())
    for row, group in zip(got, sample.exact(), strict=True):
        few, light = len(group) < p, weight(group) < alpha
        scarce = whole(group) < p and not few and not light
        # Values 0 and 1 are of the category that weighs nothing.
        assert row.tolist() == [(few and v not in group) or (light and v > 1) or scarce for v in range(6)]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {5: 1})).satisfied(model(1, 1)) == [False, True]


def test_infeasible_names_what_is_lacking():
    table = Sample(({0: 3, 1: 2, 5: 1},)).table()
    assert str(model(4, 1).feasible(table)) == ("p=4 but 'disease' has 3 distinct values. Lower p to 3 or less.")
    assert str(model(3, 2).feasible(table)) == (
        "alpha=2 but the whole of 'disease' weighs 1. Lower alpha to 1 or less."
    )
    assert model(3, 1).feasible(table) is None
    assert "Only the most sensitive category occurs." in str(model(2, 1).feasible(Sample(({0: 3, 1: 2},)).table()))


def test_refuses_a_column_without_categories_before_any_work():
    with pytest.raises(PolicyError) as raised:
        model(2, 1).feasible(Sample(({0: 3, 1: 2},)).table(categories=None))
    assert raised.value.code == "no-categories"


def test_refuses_alpha_0_and_is_registered():
    with pytest.raises(ParameterError, match=r"The 'alpha' parameter of PAlphaSensitive must be a float > 0"):
        PAlphaSensitive(p=2, alpha=0)
    assert models.build("p-alpha-sensitive", {"p": 3, "alpha": 1, "on": "disease"}) == model(3, 1)
