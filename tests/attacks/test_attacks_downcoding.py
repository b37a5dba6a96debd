"""Records behind minimal cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import people

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.attacks.downcoding import _guess
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from support_core import COUNTRIES, WORLD, Given


def pairs(n: int, cells: str) -> ht.Release:
    """Classes of two, whose members differ in age only."""
    generator = np.random.default_rng(4)
    gap = generator.integers(2, 5, n)
    age = np.column_stack([10 * np.arange(n), 10 * np.arange(n) + gap]).ravel()
    filler = np.arange(10 * n)
    table = pa.table(
        {
            "age": np.concatenate([age, filler]),
            "block": np.concatenate([np.repeat(np.arange(n), 2), np.full(10 * n, n)]),
            "pay": np.arange(12 * n),
        }
    )
    quasi = {"age": {"cells": cells}, "block": {}}
    plan = ht.Policy(quasi=quasi, sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="intervals").plan()
    labels = (*np.repeat(np.arange(n), 2).tolist(), *[n] * (10 * n))
    return run_plan(table, replace(plan, algorithm=Given(labels=labels)))


@pytest.mark.parametrize("cells", ["intervals", "sets"])
def test_pairs_are_recovered(cells):
    result = pairs(40, cells).attack("downcoding")
    assert result.successes >= 80 and result.lift > 0.02


def test_pairs_alone_are_recovered_for_certain():
    table = pa.table({"age": [20, 25, 40, 48, 60, 61, 80, 90], "pay": [1, 2, 3, 4, 5, 6, 7, 8]})
    policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="intervals")
    assert ht.anonymize(table, policy).attack("downcoding").rate == 1.0


def test_two_children_under_a_node():
    """Two people in Asia, where the table has China and Japan, are one in each."""
    table = pa.table({"country": ["China", "Japan", "France", "Spain", "Fiji", "Fiji"], "pay": [1, 2, 3, 4, 5, 6]})
    quasi = {"country": {"hierarchy": WORLD, "cells": "nodes"}}
    plan = ht.Policy(quasi=quasi, sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="intervals").plan()
    result = run_plan(table, replace(plan, algorithm=Given(labels=(0, 0, 1, 1, 2, 2)))).attack("downcoding")
    # Fiji is not generalized, so its people are no targets
    assert (result.targets, result.rate) == (4, 1.0)
    assert len(COUNTRIES) == 6


def test_global_recoding_tells_nothing_more():
    table = people(300)
    quasi = {"age": {"hierarchy": {"intervals": [10, 20, 40]}}, "zip": {"hierarchy": {"intervals": [30000]}}}
    policy = ht.Policy(
        quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=5)], algorithm=registry.algorithms.build("optimal")
    )
    result = ht.anonymize(table, policy).attack("downcoding")
    assert result.counts["columns with minimal cells"] == 0
    assert result.rate == result.baseline


@pytest.mark.parametrize("cells", ["nodes", "intervals", "sets"])
@pytest.mark.parametrize("minimal", [False, True])
def test_guesses_lie_in_their_cells(cells, minimal):
    quasi = {"age": {"hierarchy": {"intervals": [5, 10, 40]}}, "zip": {"hierarchy": {"intervals": [9000, 45000]}}}
    policy = ht.Policy(quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=3)], cells=cells)
    view = View.of(ht.anonymize(people(200), policy))
    group = np.sort(view.labels)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    for column in view.cells:
        guess = _guess(column, group, 3, "test", minimal=minimal)
        assert column.covers(group, guess).all()
        if minimal and cells == "nodes":
            # the first two are below different children, wherever there are two
            for i in first[(column.height[group[first]] > 0)]:
                child = column.column.coded.levels[column.height[group[i]] - 1]
                assert child[guess[i]] != child[guess[i + 1]]


def test_it_is_seeded():
    release = pairs(10, "intervals")
    result = release.attack("downcoding")
    assert result == release.attack("downcoding") and result.targets == 120


def test_representatives_are_refused():
    policy = ht.Policy(quasi={"age": {"cells": "midpoint"}}, sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    release = ht.anonymize(people(20).select(["age", "disease"]), policy)
    with pytest.raises(UsageError, match="publishes representatives"):
        release.attack("downcoding")
