"""What a greedy local recoding must have seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import people, policy

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.attacks.combinatorial_refinement import plausible_leaves
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from support_core import Given

TREE = {"tree": {"A": ["a", "b"], "B": ["c", "d"], "C": ["e", "f"]}}
PLACES = [*"aaa", *"bbe", *"ccd", *"fff"]


def greedy(blocks: int) -> ht.Release:
    """In each block a and f are crowds of their own, c and d one below B, and b, b and e are left for the root."""
    table = pa.table(
        {
            "block": [f"{i:03}" for i in range(blocks) for _ in PLACES],
            "place": PLACES * blocks,
            "pay": list(range(12 * blocks)),
        }
    )
    quasi = {"block": {"kind": "nominal", "cells": "nodes"}, "place": {"hierarchy": TREE, "cells": "nodes"}}
    plan = ht.Policy(quasi=quasi, sensitive=["pay"], models=[ht.KAnonymity(k=3)]).plan()
    labels = tuple(4 * i + j // 3 for i in range(blocks) for j in range(12))
    return run_plan(table, replace(plan, algorithm=Given(labels=labels)))


def test_leaves_of_finer_classes_are_ruled_out():
    view = View.of(greedy(1))
    place = view.cells[1]
    root = int(np.argmax(place.height))
    found = plausible_leaves(place, np.arange(4), root, view.sizes, 3)
    names = [place.column.coded.labels[0][i] for i in np.flatnonzero(found)]
    assert names == ["b", "e"]


def test_the_rest_is_guessed_better_than_by_its_cell():
    result = greedy(40).attack("combinatorial-refinement")
    # the root's three records have two places left of six, those below B keep both
    assert result.counts["leaves ruled out"] == 4 * 40 and result.counts["cells whose program has no solution"] == 0
    assert result.interval[0] > result.baseline and result.targets == 240


def test_what_cannot_be_rules_nothing_out():
    view = View.of(greedy(1))
    place = view.cells[1]
    below = int(np.flatnonzero(place.height == 1)[0])
    both = plausible_leaves(place, np.array([below]), below, view.sizes, 3)
    assert both is not None and both.all()
    # six records below two leaves with at most two each cannot be: the recoding was not greedy
    assert plausible_leaves(place, np.array([below]), below, view.sizes * 2, 3) is None


def test_one_large_class_tells_nothing():
    quasi = {"age": {"cells": "nodes", "hierarchy": {"intervals": [40]}}}
    table = people(60).select(["age", "disease"])
    everybody = ht.Policy(quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=60)])
    result = ht.anonymize(table, everybody).attack("combinatorial-refinement")
    assert result.rate == result.baseline and result.counts["leaves ruled out"] == 0


def test_it_needs_local_nodes():
    release = ht.anonymize(people(30), policy([ht.KAnonymity(k=3)]))
    with pytest.raises(UsageError, match="needs a local recoding with hierarchy nodes") as caught:
        release.attack("combinatorial-refinement")
    assert caught.value.code == "no-local-nodes"


def test_a_sweep_is_refined_and_never_wrongly():
    """On our own greedy recoding, what is ruled out holds no record."""
    generator = np.random.default_rng(2)
    place = generator.choice(list("abcdef"), 60, p=[0.3, 0.04, 0.3, 0.03, 0.3, 0.03])
    table = pa.table({"place": place, "pay": range(60)})
    sweep = registry.algorithms.build("lattice-sweep", {})
    quasi = {"place": {"hierarchy": TREE, "cells": "nodes"}}
    policy = ht.Policy(quasi=quasi, sensitive=["pay"], models=[ht.KAnonymity(k=4)], algorithm=sweep)
    view = View.of(ht.anonymize(table, policy))
    cells = view.cells[0]
    for group in np.flatnonzero(cells.height > 0):
        found = plausible_leaves(cells, np.arange(view.n_groups), int(group), view.sizes, 4)
        leaves = np.flatnonzero(cells.column.coded.levels[cells.height[group]] == cells.node[group])
        there = np.unique(cells.column.codes[view.labels == group])
        assert found is None or set(there.tolist()) <= set(leaves[found].tolist())
