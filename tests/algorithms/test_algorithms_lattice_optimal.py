"""The optimal search against every node of the lattice, its time budget, its bounds and its refusals."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_lattice import brute, cost, look, problem_of, wide_problem

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice import branch_and_bound, optimal, space
from hushtable.algorithms.lattice import climb as climbing
from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import OBJECTIVES
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.lattice.relax import lower_bound
from hushtable.engines import local
from hushtable.errors import Cancelled, HierarchyError, NotFound, ParameterError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.schema.columns import Kind
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples
from support_core import people_table, plan_of, quasi

LIMITS = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.6, 1.0])


@contextmanager
def as_if_large():
    """Search a small table with what is meant for large ones: rolled-up tables, and nodes chosen by forecast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "MANY", 1)
        patch.setattr(branch_and_bound, "TRIED", 2)
        patch.setattr(branch_and_bound, "PATIENCE", 3)
        patch.setattr(branch_and_bound, "ENOUGH", 4)
        patch.setattr(space, "WORTH_ROLLING", 1)
        yield


def drawn(name: str, seed: int, rows: int, entity: bool):
    """One or two models of a random case."""
    case = random_case(seed, rows, entity=entity)
    examples = model_examples(models[name], case, 2)
    extra = [KAnonymity(k=2)] if seed % 3 == 0 else []
    return [*examples[:1], *extra]


@settings(max_examples=100)
@given(
    name=st.sampled_from(sorted(models)),
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 20),
    limit=LIMITS,
    objective=st.sampled_from(sorted(OBJECTIVES)),
    entity=st.booleans(),
    many=st.booleans(),
)
def test_equals_brute_force(name, seed, rows, limit, objective, entity, many):
    chosen = drawn(name, seed, rows, entity)
    assume(chosen)
    problem = problem_of(chosen, seed, rows, limit, entity=entity)
    assume(problem is not None)
    fixed = {problem.table.quasi[0].name: seed % (problem.table.quasi[0].coded.height + 1)} if seed % 4 == 0 else {}
    seen = brute(problem, fixed)
    algorithm = Optimal(objective=objective, fixed=fixed)
    if not seen:
        with as_if_large() if many else nullcontext(), pytest.raises(NotFound):
            algorithm.run(problem)
        return
    best = min(cost(problem, s, objective) for s in seen)
    with as_if_large() if many else nullcontext():
        partition = algorithm.run(problem)
    assert partition.notes["value"] == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert partition.notes["optimum_proven"] and partition.notes["lower_bound"] <= partition.notes["value"]
    mine = look(problem, partition.levels)
    assert mine.fits and cost(problem, mine, objective) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert all(partition.levels[i] == fixed.get(c.name, partition.levels[i]) for i, c in enumerate(problem.table.quasi))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(2, 20),
    limit=LIMITS,
    objective=st.sampled_from(sorted(OBJECTIVES)),
    k=st.integers(2, 5),
)
def test_the_heuristic_is_honest(seed, rows, limit, objective, k):
    """What climbing finds satisfies the models, and the optimum lies between its bound and its value."""
    problem = problem_of([KAnonymity(k=k)], seed, rows, limit)
    seen = brute(problem)
    judge = Judge(problem, objective)
    found, bound = climbing.climb(judge, time.monotonic() + 60)
    if not seen:
        assert found is None
        return
    best = min(cost(problem, s, objective) for s in seen)
    assert bound <= best + 1e-9
    assert found is not None and look(problem, tuple(found.node.tolist())).fits
    assert found.value >= best - 1e-9
    assert lower_bound(judge) == bound


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(10, 60),
    limit=st.sampled_from([0.0, 0.05, 0.2, 1.0]),
    objective=st.sampled_from(sorted(OBJECTIVES)),
    k=st.integers(2, 4),
)
def test_large_tables_are_searched_as_exactly(seed, rows, limit, objective, k):
    problem = problem_of([KAnonymity(k=k)], seed, rows, limit)
    try:
        plain = Optimal(objective=objective).run(problem).notes
    except NotFound:
        plain = None
    with as_if_large():
        if plain is None:
            with pytest.raises(NotFound):
                Optimal(objective=objective).run(problem)
            return
        notes = Optimal(objective=objective).run(problem).notes
    assert notes["optimum_proven"]
    assert notes["value"] == pytest.approx(plain["value"], rel=1e-12, abs=1e-12)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), rows=st.integers(5, 60), minimum=st.integers(2, 5), data=st.data())
def test_projections_of_rolled_up_tables_are_bounds(seed, rows, minimum, data):
    """A table rolled up to some levels keeps one leaf of each group: levels below must not tell groups apart by it."""
    problem = problem_of([KAnonymity(k=minimum)], seed, rows)
    judge = Judge(problem)
    levels = np.array([data.draw(st.integers(0, int(h))) for h in judge.space.heights], dtype=np.int64)
    with as_if_large():
        source = judge.space.projection(levels)
    assume(source is not None)
    nodes = judge.space.nodes
    for columns in range(1, min(3, judge.space.d) + 1):
        bound = project(judge.space, minimum, columns, nodes, np.zeros(len(nodes), dtype=np.int64), source)
        for node, least in zip(nodes, bound.tolist(), strict=True):
            sizes = judge.space.group(node.astype(np.int64), judge.space.base).sizes
            assert least <= int(sizes[sizes < minimum].sum())


def test_the_bound_of_pairs_is_better_than_none():
    problem = problem_of([KAnonymity(k=3)], 5, 40)
    judge = Judge(problem)
    assert lower_bound(judge) > float(judge.objective.bound(judge.space.low[None, :], np.array([0]))[0]) >= 0


def test_a_lattice_of_ten_to_the_thirteen():
    start = time.monotonic()
    problem = wide_problem()
    partition = Optimal(seconds=2).run(problem)
    assert time.monotonic() - start < 20
    notes = partition.notes
    assert notes["nodes"] == 5**20
    assert notes["lower_bound"] <= notes["value"]
    assert notes["optimum_proven"] == (notes["lower_bound"] == notes["value"])
    sizes = np.bincount(partition.labels[partition.labels >= 0])
    assert sizes.min() >= 3
    assert (partition.labels < 0).sum() <= problem.budget


def test_huge_lattices_have_a_time_budget_of_their_own(monkeypatch):
    monkeypatch.setattr(optimal, "MOST_SECONDS", 0.5)
    start = time.monotonic()
    assert Optimal().run(wide_problem()).notes["value"] < 1
    assert time.monotonic() - start < 15


def test_out_of_time_is_said():
    """A search that is stopped gives the best so far and does not claim more."""
    problem = problem_of([KAnonymity(k=3)], 5, 40)
    try:
        notes = Optimal(seconds=1e-9).run(problem).notes
    except NotFound:
        return
    assert not notes["optimum_proven"] and notes["lower_bound"] <= notes["value"]


@pytest.mark.parametrize("make", [wide_problem, lambda progress: replace(small(), progress=progress)])
def test_cancelled(make):
    def stop(share, what):
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        Optimal(objective="average-class-size").run(make(progress=stop))


def small() -> Problem:
    return problem_of([KAnonymity(k=2)], 11, 60, 0.3)


def test_infeasible_at_the_top():
    with pytest.raises(NotFound):
        Optimal().run(wide_problem(k=401, suppression=0.0))


@pytest.mark.parametrize("limit", [-0.01, 1.01, float("nan")])
def test_suppression_limits_out_of_range(limit):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        wide_problem(suppression=limit)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        plan_of([KAnonymity(k=2)], algorithm=Optimal(), suppression=limit)


def test_fixed_levels_that_do_not_exist():
    problem = small()
    name = problem.table.quasi[0].name
    height = problem.table.quasi[0].coded.height
    with pytest.raises(ParameterError, match=f"'{name}' has no level {height + 1}. Its hierarchy has levels 0 to"):
        Optimal(fixed={name: height + 1}).run(problem)
    with pytest.raises(ParameterError, match="no level -1"):
        Optimal(fixed={name: -1}).run(problem)
    with pytest.raises(ParameterError, match="no quasi-identifier"):
        Optimal(fixed={"nobody": 0}).run(problem)
    with pytest.raises(ParameterError, match="'fixed' parameter"):
        Optimal(fixed={"age": "top"})


def test_levels_that_do_not_nest():
    rows = "a;x;m;*\nb;x;n;*\n"
    table = people_table([("a",), ("b",)], ("country",))
    bad = Taxonomy(rows=tuple(tuple(line.split(";")) for line in rows.split()))
    plan = plan_of([KAnonymity(k=2)], (quasi("country", Kind.NOMINAL, hierarchy=bad),), Optimal())
    with pytest.raises(HierarchyError, match="country"):
        local.run(table, plan)
