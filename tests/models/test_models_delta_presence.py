from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import Monotone
from hushtable.models.delta_presence import DeltaPresence
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

UNIT = st.sampled_from([1, 6])
PEOPLE = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


def groups_of(pairs, unit=1):
    units, population = np.array(pairs, dtype=np.int64).T
    return GroupStats(units, unit, population=population)


@settings(max_examples=200)
@given(PEOPLE, UNIT, SHARES, SHARES)
def test_satisfied_where_the_share_lies_between(pairs, unit, a, b):
    low, high = min(a, b), max(a, b)
    got = DeltaPresence(low=low, high=high).satisfied(groups_of(pairs, unit), Reference(1, population=1))
    # the float 0.1 is a little more than one in ten, which is within the tolerance
    low, high = Fraction(str(low)), Fraction(str(high))
    assert got.tolist() == [p > 0 and low <= Fraction(u, unit * p) <= high for u, p in pairs]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=2), UNIT)
def test_merging_satisfied_groups_keeps_them_satisfied(pairs, unit):
    groups, table = groups_of(pairs, unit), Reference(1, population=1)
    shares = groups.sizes / groups.population
    if shares.max() <= 1:
        model = DeltaPresence(low=float(shares.min()), high=float(shares.max()))
        assert model.satisfied(groups, table).all()
        assert model.satisfied(groups.whole(), table).all()


def test_adding_or_removing_a_record_may_violate():
    assert DeltaPresence.monotone is Monotone.MERGE
    model, table = DeltaPresence(low=0.4, high=0.6), Reference(5, population=10)
    assert model.satisfied(groups_of([(2, 4), (3, 4), (1, 4)]), table).tolist() == [True, False, False]


def test_score_is_the_distance_outside():
    model = DeltaPresence(low=0.25, high=0.5)
    score = model.score(groups_of([(3, 8), (1, 8), (6, 8), (1, 0), (0, 0)]), Reference(1, population=1))
    assert score.tolist() == [-0.125, 0.125, 0.25, np.inf, np.inf]


def test_too_great_an_overall_share_is_infeasible():
    model = DeltaPresence(low=0.25, high=0.5)
    assert model.feasible(Reference(4, population=10)) is None
    reason = model.feasible(Reference(9, population=10))
    assert reason is not None
    assert reason.message.startswith("high=0.5 but the table holds 0.9 of the whole population")
    assert reason.hint


def test_too_small_an_overall_share_proves_nothing():
    # one person of ten, in a class of her own that covers nobody else, is the whole of that class
    assert DeltaPresence(low=0.25, high=1).feasible(Reference(1, population=10)) is None


def test_refusals():
    with pytest.raises(PolicyError, match=r"delta-presence needs a population table. Give `population:`"):
        DeltaPresence(low=0, high=1).feasible(Reference.of(5))
    with pytest.raises(ParameterError, match="must not be above 'high'"):
        DeltaPresence(low=0.5, high=0.4)
    with pytest.raises(ParameterError, match="'high' parameter of DeltaPresence"):
        DeltaPresence(low=0.5, high=1.4)
    reason = DeltaPresence(low=0, high=1).feasible(Reference(0, population=0))
    assert reason is not None
    assert "population table has no people" in reason.message
