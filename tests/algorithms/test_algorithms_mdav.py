"""MDAV, CBFS, V-MDAV and optimal univariate: against twins, and against the published figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_microaggregation import (
    ROWS,
    cbfs_twin,
    census_run,
    groups,
    mdav_twin,
    ordered,
    sse,
    v_mdav_twin,
)

from hushtable.kernels import compile as kernels
from hushtable.models.k_anonymity import KAnonymity
from support_core import groups_of


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(2, 4))
def test_mdav_and_cbfs_as_described(rows, k):
    rows = ordered(rows)
    assert groups(rows, k, "mdav") == mdav_twin(rows, k)
    assert groups(rows, k, "cbfs") == cbfs_twin(rows, k)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(2, 4), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]))
def test_v_mdav_as_described(rows, k, gamma):
    rows = ordered(rows)
    found = groups(rows, k, "v-mdav", gamma=gamma)
    assert found == v_mdav_twin(rows, k, gamma)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("mdav", 6, (3.6933, 6.3500, 7.9691, 9.9903)),
        ("cbfs", 6, (3.6967, 6.2071, 7.9335, 9.7115)),
        ("mdav", 13, (5.6922, 9.0884, 11.5979, 14.1559)),
    ],
)
def test_census_as_independent_programs_have_it(name, keys, expected, compiled, monkeypatch):
    monkeypatch.setattr(kernels, "COMPILE_FROM", 0 if compiled else 1 << 62)
    for k, published in zip((3, 5, 7, 10), expected, strict=True):
        outcome = census_run(name, [KAnonymity(k=k)], keys)
        assert round(sse(outcome), 4) == published
        assert np.bincount(outcome.recoded.labels).min() >= k


def test_the_index_gives_the_same_groups_on_census(monkeypatch):
    found = []
    for threshold in (0, 1 << 62):
        monkeypatch.setattr(kernels, "COMPILE_FROM", threshold)
        found.append([groups_of(census_run(n, [KAnonymity(k=3)]).partition.labels) for n in ("mdav", "cbfs", "v-mdav")])
    assert found[0] == found[1]


def test_optimal_univariate_is_never_worse():
    line = census_run("optimal-univariate", [KAnonymity(k=3)], 1)
    assert np.bincount(line.recoded.labels).max() <= 5
    for other in ("mdav", "cbfs", "v-mdav"):
        assert sse(line) < sse(census_run(other, [KAnonymity(k=3)], 1))
