import math

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds, stats
from hypothesis import given, settings

from hushtable.errors import ParameterError
from hushtable.models.base import Monotone
from hushtable.models.beta_likeness import BetaLikeness
from hushtable.table.reference import Attribute, Reference

BINARY = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))


def twin(row, units, beta, variant):
    """The definition, value by value: does every gain stay within its own bound?"""
    if not sum(row):
        return False
    for count, overall in zip(row, units, strict=True):
        q, p = count / sum(row), overall / sum(units)
        if q > p:
            allowed = beta if variant == "basic" else min(beta, -math.log(p))
            if (q - p) / p > allowed + 1e-7:
                return False
    return True


@pytest.mark.parametrize("variant", ["basic", "enhanced"])
@settings(max_examples=100, deadline=None)
@given(counts=count_tables())
def test_satisfied_equals_the_slow_twin(variant, counts):
    units = counts.matrix.sum(axis=0).tolist()
    for beta in (0.11, 0.53, 1.7, 5.3):
        model = BetaLikeness(beta=beta, variant=variant, on="disease")
        expected = [twin(r, units, beta, variant) for r in counts.matrix.tolist()]
        assert holds(model, counts.groups, counts.table()) == expected


@settings(max_examples=60, deadline=None)
@given(counts=count_tables())
def test_basic_score_is_the_greatest_relative_gain(counts):
    p = counts.matrix.sum(axis=0) / counts.matrix.sum()
    for row, score in zip(
        counts.matrix, BetaLikeness(beta=1, on="disease").score(counts.groups, counts.table()), strict=True
    ):
        gains = [(c / row.sum() - x) / x for c, x in zip(row, p, strict=True) if c] if row.sum() else [math.inf]
        assert score == pytest.approx(max(0.0, *gains))


@pytest.mark.parametrize("variant", ["basic", "enhanced"])
@settings(max_examples=100, deadline=None)
@given(counts=count_tables(groups=(2, 2)))
def test_merging_satisfied_groups_keeps_them_satisfied(variant, counts):
    other = Counts(counts.matrix * np.array([[1], [4]]), counts.unit).table()
    for beta in (0.2, 0.7, 2.0):
        model = BetaLikeness(beta=beta, variant=variant, on="disease")
        if all(holds(model, counts.groups, other)):
            assert holds(model, counts.groups.whole(), other) == [True]


def test_enhanced_protects_frequent_values():
    # flu: p = 3/4, q = 1: a gain of 1/3, above -ln 0.75 = 0.288
    group = stats([[0, 4]])
    assert holds(BetaLikeness(beta=1, variant="basic", on="disease"), group, BINARY) == [True]
    assert holds(BetaLikeness(beta=1, variant="enhanced", on="disease"), group, BINARY) == [False]
    assert BetaLikeness(beta=1, variant="enhanced", on="disease").score(group, BINARY)[0] == pytest.approx(
        (1 / 3) / -math.log(0.75)
    )


def test_a_value_foreign_to_the_table_gains_infinitely_and_a_single_value_gains_nothing():
    table = Reference.of(4, Attribute.of("disease", ["a", "b"], [4, 0]))
    model = BetaLikeness(beta=0.1, variant="enhanced", on="disease")
    assert model.score(stats([[3, 0], [3, 1], [0, 0]]), table).tolist() == [0.0, math.inf, math.inf]


def test_adding_or_removing_a_record_may_violate():
    assert BetaLikeness.monotone is Monotone.MERGE
    model = BetaLikeness(beta=0.1, on="disease")
    assert holds(model, stats([[1, 3], [2, 3], [1, 2]]), BINARY) == [True, False, False]


@given(counts=count_tables())
def test_whole_table_is_always_feasible(counts):
    model = BetaLikeness(beta=0.01, variant="enhanced", on="disease")
    assert model.score(counts.table().whole(), counts.table()).tolist() == [0.0]
    assert model.feasible(counts.table()) is None


def test_refusals():
    reason = BetaLikeness(beta=1, on="disease").feasible(Reference.of(0, Attribute.of("disease", ["a"], [0])))
    assert reason is not None
    assert "no values at all" in reason.message
    with pytest.raises(ParameterError, match="'beta' parameter of BetaLikeness must be a float > 0"):
        BetaLikeness(beta=0)
