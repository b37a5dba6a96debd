"""Samarati's least height, against every node."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_lattice import brute, cost, problem_of

from hushtable.algorithms.lattice.monotone import not_monotone
from hushtable.algorithms.lattice.samarati import Samarati
from hushtable.engines import local
from hushtable.errors import NotFound
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples
from support_core import ILLNESSES, people_table, plan_of


@settings(max_examples=40)
@given(
    name=st.sampled_from(sorted(models)),
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 24),
    limit=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
)
def test_samarati_finds_the_least_height(name, seed, rows, limit):
    chosen = model_examples(models[name], random_case(seed, rows), 1)
    assume(chosen)
    problem = problem_of(chosen, seed, rows, limit)
    seen = brute(problem)
    monotone = not not_monotone(problem.model, suppression=problem.budget > 0)
    try:
        partition = Samarati().run(problem)
    except NotFound:
        assert not (seen and monotone)
        return
    notes = partition.notes
    assert notes["height"] == sum(partition.levels)
    assert notes["least_height_proven"] == monotone
    level = [s for s in seen if sum(s.node) == notes["height"]]
    if monotone:
        assert notes["height"] == min(sum(s.node) for s in seen)
    best = min((s.lost, cost(problem, s, "loss")) for s in level)
    mine = next(s for s in level if s.node == partition.levels)
    assert mine.lost == best[0]
    assert notes["value"] == pytest.approx(best[1])


def test_samarati_suppresses_as_little_as_its_height_allows():
    """Two nodes of height 1: the one that suppresses nobody is taken, although the other loses less."""
    rows = [(a, c, ILLNESSES[0]) for a, c in [(1, "China"), (1, "Japan"), (2, "China"), (2, "Japan"), (3, "Fiji")]]
    plan = plan_of([KAnonymity(k=2)], algorithm=Samarati(), suppression=0.3)
    problem = local.problem_of(people_table(rows), plan)
    fits = {s.node: s.lost for s in brute(problem)}
    chosen = Samarati().run(problem)
    same_height = {n: lost for n, lost in fits.items() if sum(n) == sum(chosen.levels)}
    assert fits[chosen.levels] == min(same_height.values())
