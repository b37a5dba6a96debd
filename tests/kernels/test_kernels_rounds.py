"""Annealing in rounds: sums and sizes stay true, the error falls, and neither cores nor compilation change a bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import rounds
from hushtable.kernels.rounds import QUANTILES, Processor, draws, grouped, tickets
from hushtable.rng import exponential_quantiles

TOLERANCE = exponential_quantiles(QUANTILES)


def error(points: np.ndarray, labels: np.ndarray) -> float:
    return sum(float(((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum()) for g in np.unique(labels))


def table(seed: int, n: int, d: int, least: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(n, d))
    labels = draw.permutation(np.arange(n) % (n // least))
    away = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return points, labels, np.argsort(away, axis=1, kind="stable")[:, 1 : min(n, 12)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 5), st.sampled_from([0.0, 0.3, 5.0]))
def test_groups_stay_what_they_must_be(seed, d, least, heat):
    points, labels, near = table(seed, 40, d, least)
    state = Processor(points, labels, near, least, TOLERANCE)
    state.run(0, np.full(30, heat))
    found = state.labels()
    sizes = np.bincount(found, minlength=len(np.unique(labels)))
    assert sizes.min() >= least and sizes.sum() == 40
    for group in range(len(sizes)):
        members = state._member[group, : sizes[group]]
        assert sorted(members.tolist()) == np.flatnonzero(found == group).tolist()
        np.testing.assert_allclose(state._total[group], points[members].sum(axis=0), atol=1e-9)
    assert np.array_equal(state._count, sizes)
    if heat == 0.0:
        assert error(points, found) <= error(points, labels) + 1e-9


@pytest.mark.parametrize("cores", ["1", "2"])
def test_compiled_or_not_on_any_number_of_cores(cores, monkeypatch):
    points, labels, near = table(3, 60, 3, 3)
    runs = []
    for plain in (True, False):
        monkeypatch.setattr(rounds, "SHARED_FROM", 2)
        monkeypatch.setenv("HUSHTABLE_THREADS", cores)
        if plain:
            monkeypatch.setattr(rounds, "dispatch", lambda loops, twin, rows: twin)
        else:
            monkeypatch.undo()
        state = Processor(points, labels, near, 3, TOLERANCE)
        state.run(0, np.linspace(0.5, 0.0, 80))
        state.run(80, np.zeros(20))
        runs.append((state.labels().tolist(), state._total.tolist()))
    assert runs[0] == runs[1]


def test_no_two_changes_touch_one_group():
    """Every claim is decided by one ticket, and no two groups have the same."""
    drawn = draws(7, 5000)
    held = tickets(drawn)
    assert len(set(held.tolist())) == 5000 and held.min() >= 0
    assert np.array_equal(held & 0xFFFFFFFF, np.arange(5000))


def test_the_error_falls_by_annealing():
    points, labels, near = table(5, 300, 4, 3)
    state = Processor(points, labels, near, 3, TOLERANCE)
    start = error(points, labels)
    state.run(0, 0.2 * start / 300 * (1 - np.arange(2000) / 2000) ** 3)
    assert error(points, state.labels()) < 0.5 * start


def test_grouped():
    own, member, count, total = grouped(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1]), 1)
    assert own.tolist() == [1, 0, 1] and count.tolist() == [1, 2] and total.tolist() == [[2.0], [5.0]]
    assert member[:, :2].tolist() == [[1, -1], [0, 2]]
