from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import LABELS, Exact, Sample, agree, people, samples, verdicts

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.alpha_k import AlphaK
from hushtable.registry import models
from hushtable.table.reference import Reference

alphas, ks = st.sampled_from([0.25, 0.5, 0.75, 1]), st.integers(2, 5)
onlys = st.sampled_from([None, ("HIV",), ("cancer", "flu")])


def model(alpha: float, k: int, only: tuple[str, ...] | None = None) -> AlphaK:
    return AlphaK(alpha=alpha, k=k, only=only, on="disease")


@given(samples(), alphas, ks, onlys)
def test_equals_its_twin(sample: Sample, alpha: float, k: int, only: tuple[str, ...] | None):
    def twin(group: Exact) -> bool:
        bounded = [n for v, n in group.items() if only is None or LABELS[v] in only]
        return people(group) >= k and all(n / people(group) <= Fraction(alpha) for n in bounded)

    agree(model(alpha, k, only), sample, twin)


@pytest.mark.parametrize("parts", range(2, 11))
def test_a_share_of_exactly_alpha_is_allowed(parts: int):
    sample = Sample((dict.fromkeys(range(parts), 7), {**dict.fromkeys(range(parts), 7), 0: 8}))
    table = sample.table([str(v) for v in range(parts)], None)
    assert model(1 / parts, 2).satisfied(sample.stats(), table).tolist() == [True, False]


def test_does_not_survive_adding():
    assert verdicts(model(0.5, 2), {0: 1, 1: 1}, {0: 2, 1: 1}) == [True, False]


def test_does_not_survive_suppression():
    assert verdicts(model(0.5, 2), {0: 2, 1: 2}, {0: 2, 1: 1}) == [True, False]


def test_contributes_are_the_values_with_room_in_the_class_to_come():
    sample = Sample(({}, {0: 1, 1: 1}, {0: 2}, {0: 6, 1: 3}))
    got = model(0.5, 4).contributes(sample.stats(), sample.table())
    assert got.tolist() == [
        [True] * 6,
        [True] * 6,
        [False] + [True] * 5,
        [False] + [True] * 5,
    ]


def test_contributes_does_not_mind_values_that_are_not_bounded():
    sample = Sample(({0: 6, 1: 3},))
    assert model(0.25, 4, ("cancer",)).contributes(sample.stats(), sample.table()).tolist() == [
        [True, False, True, True, True, True]
    ]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({}, {0: 1, 1: 1})).satisfied(model(0.5, 2)) == [False, True]
    assert Sample(({},)).satisfied(model(0.5, 2, ("HIV",))) == [False]


def test_infeasible_names_the_people_or_the_share():
    table = Sample(({0: 5, 1: 2, 2: 1},)).table()
    assert str(model(0.5, 9).feasible(table)) == (
        "k=9 but the table has 8 people. Lower k to 8 or less, or add records."
    )
    assert str(model(0.5, 4).feasible(table)) == (
        "alpha=0.5 but one value of 'disease' makes up 0.625 of the table. Raise alpha to 0.625 or more."
    )
    assert model(0.625, 8).feasible(table) is None
    assert model(0.25, 8, ("cancer",)).feasible(table) is None


def test_refuses_unknown_values_before_any_work():
    with pytest.raises(PolicyError, match="Column 'disease' has no value 'hiv'") as raised:
        model(0.5, 2, ("hiv",)).feasible(Sample(({0: 5, 1: 2},)).table())
    assert raised.value.code == "unknown-value"


def test_a_published_file_need_not_hold_every_bounded_value():
    sample = Sample(({0: 1, 1: 1},))
    whole = sample.table().attribute(("disease",))
    published = Reference(2, 1, {whole.key: replace(whole, labels=tuple("abcdef"), whole=False)})
    assert model(0.4, 2, ("HIV",)).satisfied(sample.stats(), published).tolist() == [True]
    assert model(0.4, 2, ("HIV", "a")).satisfied(sample.stats(), published).tolist() == [False]


def test_refuses_alpha_0_and_is_registered():
    with pytest.raises(ParameterError, match=r"must be a float in \(0, 1\]\. Got 0 instead\."):
        AlphaK(alpha=0, k=2)
    built = models.build("alpha-k", {"alpha": 0.5, "k": 3, "only": ["HIV"], "on": "disease"})
    assert built == model(0.5, 3, ("HIV",))
    assert built.values() == {"alpha": 0.5, "k": 3, "only": ["HIV"], "on": "disease"}


def test_refuses_to_bound_no_value_at_all():
    with pytest.raises(ParameterError, match="AlphaK bounds no value"):
        models.build("alpha-k", {"alpha": 0.5, "k": 3, "only": []})
