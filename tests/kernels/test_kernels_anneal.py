"""Annealing and neighbors: compiled loops beside the same in Python, and what must hold whatever they do."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.kernels.anneal import _anneal, anneal
from hushtable.kernels.compile import compiled
from hushtable.kernels.kdtree import build
from hushtable.kernels.metric import Metric
from hushtable.kernels.neighbours import _from_tree, _neighbours_loops, _neighbours_numpy, neighbours
from hushtable.rng import exponential_quantiles


def error(points, labels):
    return sum(((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels))


def case(seed, n=60, d=2, k=3):
    generator = np.random.default_rng(seed)
    points = generator.integers(0, 12, (n, d)).astype(float) if seed % 2 else generator.normal(size=(n, d))
    return points, np.arange(n) // k


@pytest.mark.parametrize("seed", range(6))
def test_compiled_loops_do_the_same(seed):
    points, labels = case(seed)
    units = np.random.default_rng(seed).integers(1, 3, 60) if seed > 2 else np.ones(60, dtype=np.int64)
    near = neighbours(points, 8)
    args = (near, units, 3, 3000, 0.5, 0.0, exponential_quantiles(64), seed, 12, 40)
    slow, fast = labels.copy(), labels.copy()
    _anneal(points, slow, *args)
    compiled(_anneal)(points, fast, *args)
    assert slow.tolist() == fast.tolist()
    assert slow.tolist() != labels.tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("heat", [(0.0, 0.0), (1.0, 0.0)])
def test_groups_stay_large_enough_and_no_one_is_lost(seed, heat):
    points, labels = case(seed, n=90, d=3, k=5)
    units = np.random.default_rng(seed).integers(1, 4, 90) if seed > 2 else np.ones(90, dtype=np.int64)
    found = anneal(points, labels, neighbours(points, 10), units, 5, 40_000, heat, exponential_quantiles(64), seed)
    weights = np.bincount(found, weights=units)
    assert (found >= 0).all() and weights[weights > 0].min() >= 5
    assert error(points, found) < error(points, labels)


def test_groups_are_founded_and_dissolved():
    points = np.repeat([[0.0], [10.0], [20.0]], 4, axis=0)
    one = np.zeros(12, dtype=np.int64)
    near = neighbours(points, 8)
    units = np.ones(12, dtype=np.int64)
    found = anneal(points, one, near, units, 2, 40_000, (0.0, 0.0), exponential_quantiles(64))
    assert error(points, found) == 0.0
    # two pairs across three places: only fewer groups are better
    points = np.array([[0.0], [0.0], [0.1], [9.9], [10.0], [10.0]])
    halves = np.array([0, 0, 1, 1, 2, 2])
    found = anneal(points, halves, neighbours(points, 5), np.ones(6, dtype=np.int64), 2, 40_000, (0.0, 0.0),
                   exponential_quantiles(64))  # fmt: skip
    assert found[0] == found[1] == found[2] != found[3] == found[4] == found[5]


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_in_three_ways(seed):
    points, _ = case(seed, n=120, d=3)
    expected = np.empty((120, 7), dtype=np.int64)
    _neighbours_numpy(points, expected)
    for other in (_neighbours_loops, compiled(_neighbours_loops)):
        out = np.empty_like(expected)
        other(points, out)
        assert out.tolist() == expected.tolist()
    if seed % 2 == 0:  # without ties the tree's list is the same one
        out, metric = np.empty_like(expected), Metric.of_numbers(3)
        compiled(_from_tree)(build(points, metric), points, metric, out)
        assert out.tolist() == expected.tolist()
