from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_risk import exposed, keys, pitman_labels, tables

from hushtable.errors import ParameterError
from hushtable.laws.joining import expected_risk, fewer_than
from hushtable.release.exposure import Exposure
from hushtable.risk.delta_presence import DeltaPresenceEstimate
from hushtable.risk.journalist import Journalist
from hushtable.risk.k_map import KMapEstimate
from hushtable.risk.marketer import Marketer


def chance(h, f, alpha, p):
    """P(F = h | f), from its definition."""
    r = f - alpha
    if r == 0:
        return float(h == f)
    return math.exp(
        math.lgamma(h - f + r) - math.lgamma(r) - math.lgamma(h - f + 1) + r * math.log(p) + (h - f) * math.log1p(-p)
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.7, 0.99])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.9, 0.999])
@pytest.mark.parametrize("f", [1, 2, 3, 10, 39, 40, 41, 60])
def test_expected_risk_is_the_sum_over_all_populations(f, alpha, p):
    slow = math.fsum(chance(h, f, alpha, p) / h for h in range(f, 4000))
    assert expected_risk(np.array([f]), alpha, p)[0] == pytest.approx(slow, rel=1e-8)


@pytest.mark.parametrize("p", [0.001, 0.1, 0.6])
def test_classes_that_nobody_joins_are_as_risky_in_the_population(p):
    assert expected_risk(np.array([1]), 1.0, p)[0] == pytest.approx(1)
    slow = math.fsum(chance(h, 2, 1.0, p) / h for h in range(2, 40_000))
    assert expected_risk(np.array([2]), 1.0, p)[0] == pytest.approx(slow, rel=1e-6)
    assert fewer_than(2, np.array([1]), 1.0, p)[0] == pytest.approx(1)


@given(st.integers(1, 12), st.floats(0, 0.99), st.floats(0.01, 0.99), st.integers(2, 15))
def test_fewer_than_is_the_sum_over_small_populations(f, alpha, p, k):
    slow = math.fsum(chance(h, f, alpha, p) for h in range(f, k))
    assert fewer_than(k, np.array([f]), alpha, p)[0] == pytest.approx(slow, abs=1e-9)


@given(st.integers(1, 10**7), st.floats(0, 0.9998), st.floats(1e-9, 1))
def test_expected_risk_stays_within_its_bounds(f, alpha, p):
    risk = expected_risk(np.array([f]), alpha, p)[0]
    assert 0 < risk <= 1 / f
    # Jensen: E(1/F) >= 1/E(F)
    assert risk >= 1 / (f + (f - alpha) * (1 - p) / p) * (1 - 1e-6)


def test_the_law_is_that_of_a_growing_partition():
    theta, alpha, n, population = 30.0, 0.6, 2_000, 20_000
    risks = {1: [], 2: [], 5: []}
    for seed in range(6):
        label = pitman_labels(population, theta, alpha, seed)
        table, whole = np.bincount(label[:n]), np.bincount(label)
        for f, found in risks.items():
            found += (1 / whole[: len(table)][table == f]).tolist()
    for f, found in risks.items():
        expected = expected_risk(np.array([f]), alpha, (theta + n) / (theta + population))[0]
        assert np.mean(found) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_estimates_come_near_what_a_population_table_tells(fraction):
    label = pitman_labels(20_000, 60.0, 0.7, seed=9)
    drawn = label[np.random.default_rng(1).permutation(len(label))[: int(fraction * len(label))]]
    table = Exposure.of({"q": drawn.tolist()}, population={"q": label.tolist()})
    for risk, key in ((Journalist, "average"), (Marketer, "share"), (DeltaPresenceEstimate, "average")):
        known, estimated = risk().compute(table), risk(fraction=fraction).compute(table)
        assert getattr(estimated, key) == pytest.approx(getattr(known, key), rel=0.1), risk.name
    known, estimated = KMapEstimate(k=3).compute(table), KMapEstimate(k=3, fraction=fraction).compute(table)
    assert estimated.share_below == pytest.approx(known.share_below, rel=0.1)


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


def test_where_everybody_is_unique_nothing_is_hidden():
    table = exposed([1, 1, 1])
    assert Journalist(fraction=0.01).compute(table).average == pytest.approx(1)
    found = KMapEstimate(k=2, fraction=0.01).compute(table)
    assert (found.smallest, found.below) == pytest.approx((1, 3))


def test_without_a_population_the_table_is_it():
    assert KMapEstimate(k=2).compute(exposed([1, 2])).below == 1
    found = DeltaPresenceEstimate().compute(exposed([1, 2]))
    assert (found.highest, found.lowest, found.known_present) == (1, 1, 3)
    assert math.isnan(found.known_absent)


@pytest.mark.parametrize("fraction", [0, -1, 1.5, math.nan])
def test_fractions_out_of_range(fraction):
    with pytest.raises(ParameterError):
        Journalist(fraction=fraction)
