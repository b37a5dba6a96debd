"""Formulas of losses against their definitions, and objectives against the measures of their name."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import registry
from hushtable.algorithms.lattice.objectives import OBJECTIVES
from hushtable.hierarchy.flat import Flat
from hushtable.schema.columns import Kind
from hushtable.table import losses


def flat(values):
    return Flat().code(pa.array(values), Kind.NOMINAL, missing=False, column="x", counts=np.ones(len(values), int))


def test_ncp_counts_the_leaves_beyond_one():
    coded = flat(["a", "b", "c", "d", "e"])
    assert losses.ncp(coded, np.array([1, 2, 5])).tolist() == [0, 1 / 4, 1]
    assert losses.ncp(coded, np.array([1, 2, 5]), 2.0).tolist() == [0, 1 / 2, 2]
    assert losses.ncp_of_leaf(coded, 3.0) == 3 / 4
    assert losses.ncp(flat(["a"]), np.array([1])).tolist() == [0]


def test_precision_is_lost_step_by_step():
    assert losses.lost_precision(flat(["a", "b"]), np.array([0, 1])).tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_squares_are_exact(seed):
    draw = np.random.default_rng(seed)
    sizes, times = draw.integers(0, 10 ** (2 * seed + 1), 20), draw.integers(0, 9, 20)
    assert losses.squared_sizes(sizes, times) == sum(int(t) * int(s) ** 2 for s, t in zip(sizes, times, strict=True))


def test_classes_are_counted_with_the_suppressed_as_one():
    assert losses.average_class_size(10, 4, 0) == 2.5
    assert losses.average_class_size(10, 4, 3) == 2
    assert losses.average_class_size(10, 0, 0) == 10
    assert losses.discernibility(8, 1, 5) == 13


def test_wang_divides_by_all_leaves():
    coded = flat(["a", "b", "c", "d"])
    assert losses.wang_loss(coded, np.array([1, 2, 4]), np.array([5, 3, 2])) == (3 * 1 + 2 * 3) / 4
    assert losses.wang_loss(coded, np.array([2]), np.array([3]), 2.0) == 2 * 3 / 4


def test_rare_values_lose_more_bits():
    assert losses.lost_bits(np.array([8, 8, 8, 8]), np.array([8, 4, 1, 0])).tolist() == [0, 1, 3, 0]


@pytest.mark.parametrize("name", ["average-class-size", "discernibility", "loss", "ncp", "non-uniform-entropy", "prec"])
def test_an_objective_is_the_measure_of_its_name(name):
    """Every measure of the six is also an objective, and both give the same number, suppressed records included."""
    objective = name.removeprefix("non-uniform-")
    assert objective in OBJECTIVES
    draw = np.random.default_rng(3)
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"prefix": "*"}},
    }
    # the last one is far from all others, and best suppressed
    data = {
        "age": [*draw.integers(20, 60, 79).tolist(), 99],
        "zip": [*(f"1{i:02d}" for i in draw.integers(0, 30, 79)), "999"],
    }
    policy = ht.Policy.model_validate(
        {
            "columns": columns,
            "models": [{"k-anonymity": {"k": 3}}],
            "algorithm": {"optimal": {"objective": objective}},
            "suppression": 0.2,
        }
    )
    release = ht.anonymize(pd.DataFrame(data), policy)
    measured = float(release.measure(name))
    best = release.partition.notes["value"]
    assert math.isclose(1 - measured if registry.measures[name].better == "higher" else measured, best, rel_tol=1e-12)
    assert release.n_suppressed > 0
