from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_risk import exposed, keys, tables

from hushtable.errors import ParameterError
from hushtable.release.exposure import Exposure
from hushtable.risk.delta_presence import DeltaPresenceEstimate
from hushtable.risk.journalist import Journalist
from hushtable.risk.k_map import KMapEstimate
from hushtable.risk.sampling import expected_risk, fewer_than


def chance(h, f, pi):
    """P(F = h | f), from its definition."""
    return math.comb(h - 1, f - 1) * pi**f * (1 - pi) ** (h - f)


@pytest.mark.parametrize("pi", [0.05, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("f", [1, 2, 3, 10])
def test_expected_risk_is_the_sum_over_all_populations(f, pi):
    slow = math.fsum(chance(h, f, pi) / h for h in range(f, 1000))
    assert expected_risk(np.array([f]), pi)[0] == pytest.approx(slow, rel=1e-9)


@given(st.integers(1, 12), st.floats(0.01, 1), st.integers(2, 15))
def test_fewer_than_is_the_sum_over_small_populations(f, pi, k):
    slow = math.fsum(chance(h, f, pi) for h in range(f, k))
    assert fewer_than(k, np.array([f]), pi)[0] == pytest.approx(slow, abs=1e-12)


@given(st.integers(1, 10**7), st.floats(1e-9, 1))
def test_expected_risk_stays_within_its_bounds(f, pi):
    risk = expected_risk(np.array([f]), pi)[0]
    assert 0 < risk <= 1 / f
    # Jensen: E(1/F) >= 1/E(F) = pi/f
    assert risk >= pi / f * (1 - 1e-9)


@given(tables(columns=(2, 2)), tables(columns=(2, 2), rows=(0, 20)), st.integers(2, 5))
def test_k_map_and_presence_record_by_record(table, others, k):
    population = {name: table[name] + others[name] for name in table}
    mine, held = keys(table), keys(population)
    exposure = Exposure.of(table, population)
    counted = KMapEstimate(k=k).compute(exposure)
    assert counted.smallest == min(held.count(key) for key in mine)
    assert counted.below == pytest.approx(sum(held.count(key) < k for key in mine))
    delta = {key: mine.count(key) / held.count(key) for key in set(mine)}
    found = DeltaPresenceEstimate().compute(exposure)
    assert found.highest == pytest.approx(max(delta.values()))
    assert found.lowest == pytest.approx(min(delta.values()))
    assert found.average == pytest.approx(sum(delta[key] for key in mine) / len(mine))
    assert found.known_present == sum(delta[key] == 1 for key in mine)
    assert found.known_absent == sum(key not in delta for key in held)
    assert found.fraction == pytest.approx(len(mine) / len(held))


def test_k_map_estimated_by_hand():
    # a single is alone with chance 1/4; a pair cannot be fewer than two
    found = KMapEstimate(k=2, fraction=0.25).compute(exposed([1, 2]))
    assert found.below == pytest.approx(0.25)
    assert found.smallest == 4.0
    # F < 3: a single with 1/4 + 3/16, a pair with 1/16
    assert KMapEstimate(k=3, fraction=0.25).compute(exposed([1, 2])).below == pytest.approx(7 / 16 + 2 / 16)


def test_without_a_population_the_table_is_it():
    assert KMapEstimate(k=2).compute(exposed([1, 2])).below == 1
    found = DeltaPresenceEstimate().compute(exposed([1, 2]))
    assert (found.highest, found.lowest, found.known_present) == (1, 1, 3)
    assert math.isnan(found.known_absent)


@pytest.mark.parametrize("fraction", [0, -1, 1.5, math.nan])
def test_fractions_out_of_range(fraction):
    with pytest.raises(ParameterError):
        Journalist(fraction=fraction)
