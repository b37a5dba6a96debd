"""The optimal search against every node of the lattice, its time budget, its bounds and its refusals."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_lattice import brute, cost, look, problem_of, wide, wide_problem

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice import branch_and_bound, optimal, space
from hushtable.algorithms.lattice import climb as climbing
from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import OBJECTIVES
from hushtable.algorithms.lattice.optimal import Optimal, search_boxes
from hushtable.engines import local
from hushtable.errors import Cancelled, HierarchyError, NotFound, ParameterError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.schema.columns import Kind
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples
from support_core import people_table, plan_of, quasi

LIMITS = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.6, 1.0])

NOT_MONOTONE = [
    *("t-closeness", "entropy-l", "recursive-cl", "probabilistic-l", "beta-likeness", "delta-disclosure", "alpha-k"),
    *("value-bounds", "l-alpha"),
]

PLAIN = sorted(name for name, kind in OBJECTIVES.items() if not kind.by_population)
"""Objectives that need no population."""


@contextmanager
def as_if_large():
    """Search a small table with what is meant for large ones: rolled-up tables, and nodes chosen by forecast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "MANY", 1)
        patch.setattr(branch_and_bound, "TRIED", 2)
        patch.setattr(branch_and_bound, "PATIENCE", 3)
        patch.setattr(branch_and_bound, "ENOUGH", 4)
        patch.setattr(branch_and_bound, "SOME", 1)
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
    objective=st.sampled_from(PLAIN),
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


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(NOT_MONOTONE),
    seed=st.integers(0, 10_000),
    rows=st.integers(8, 40),
    limit=st.sampled_from([0.0, 0.3, 0.6, 1.0]),
    objective=st.sampled_from(PLAIN),
)
def test_models_that_are_not_monotone_equal_brute_force(name, seed, rows, limit, objective):
    """Larger tables than above: violating groups have parts that are kept at finer nodes."""
    chosen = drawn(name, seed, rows, False)
    assume(chosen)
    problem = problem_of(chosen, seed, rows, limit)
    assume(problem is not None)
    seen = brute(problem)
    assume(seen)
    best = min(cost(problem, s, objective) for s in seen)
    notes = Optimal(objective=objective).run(problem).notes
    assert notes["value"] == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(
    name=st.sampled_from(["k-anonymity", "distinct-l", *NOT_MONOTONE]),
    seed=st.integers(0, 10_000),
    rows=st.integers(4, 40),
    limit=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    objective=st.sampled_from(PLAIN),
)
def test_what_a_verdict_says_about_finer_and_coarser_nodes_holds(name, seed, rows, limit, objective):
    """Every pair of a judged node and a finer or coarser one, against the records."""
    chosen = drawn(name, seed, rows, False)
    assume(chosen)
    problem = problem_of(chosen, seed, rows, limit)
    assume(problem is not None)
    judge = Judge(problem, objective)
    nodes = judge.space.nodes[:: max(len(judge.space.nodes) // 60, 1)].astype(np.int64)
    with as_if_large():
        verdicts = [judge(node) for node in nodes]
        ruled_out = [judge(v.node, beat=v.value * (1 + 1e-9) + 1e-9) for v in verdicts if v.fits]
    # a node is ruled out only if it is no better than the value to beat
    assert [v.value for v in ruled_out] == [v.value for v in verdicts if v.fits]
    by_size, none = judge.by_size, np.zeros(1, dtype=np.int64)
    for mine in verdicts:
        for other in verdicts:
            if (other.node <= mine.node).all():
                # units that a node is said to force are lost at every finer one
                assert other.lost >= min(mine.small, judge.budget + 1)
                if other.fits:
                    assert judge.objective.bound(other.node[None], np.array([mine.small]))[0] <= other.value + 1e-9
                    alike = judge.objective.bound_alike(other.node[None], mine.small, mine.extras)[0]
                    assert alike <= other.value + 1e-9
            if (other.node >= mine.node).all() and other.fits:
                lost = np.array([other.small]) if by_size else none
                bound = judge.objective.bound(other.node[None], lost, np.array([mine.floor]))[0]
                assert bound <= other.value + 1e-9


@settings(max_examples=100, deadline=None)
@given(
    name=st.sampled_from(["k-anonymity", "k-anonymity", "distinct-l", *NOT_MONOTONE]),
    seed=st.integers(0, 10_000),
    rows=st.integers(2, 30),
    limit=LIMITS,
    objective=st.sampled_from(PLAIN),
    nodes=st.sampled_from([2, 5, 20, 10**6]),
)
def test_a_search_that_does_not_enumerate_is_honest(name, seed, rows, limit, objective, nodes):
    """What it finds fits, the optimum lies between its bound and its value, and is found in the end."""
    chosen = drawn(name, seed, rows, False)
    assume(chosen)
    problem = problem_of(chosen, seed, rows, limit)
    assume(problem is not None)
    seen = brute(problem)
    judge = Judge(problem, objective)
    first = climbing.climb(judge, climbing.Limit(nodes // 2))
    found, bound = search_boxes(judge, first, climbing.Limit(nodes))
    best = min((cost(problem, s, objective) for s in seen), default=float("inf"))
    assert bound <= best + 1e-9
    # the two corners of the last box may come on top
    assert len(judge.seen) <= nodes + 2
    if found is not None:
        assert look(problem, tuple(found.node.tolist())).fits
        assert found.value >= best - 1e-9
    if nodes == 10**6:
        assert bound == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert (found is None) == (not seen)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(10, 60),
    limit=st.sampled_from([0.0, 0.05, 0.2, 1.0]),
    objective=st.sampled_from(PLAIN),
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


@pytest.mark.parametrize("objective", ["loss", "entropy", "discernibility"])
def test_boxes_raise_the_bound(objective):
    judge = Judge(wide_problem(), objective)
    first = search_boxes(judge, None, climbing.Limit(1))[1]
    assert search_boxes(judge, None, climbing.Limit(200))[1] >= first
    assert first > float(judge.objective.bound(judge.space.low[None, :], np.array([0]))[0]) or objective != "loss"


def test_a_lattice_of_ten_to_the_thirteen():
    problem = wide_problem()
    partition = Optimal(nodes=300).run(problem)
    notes = partition.notes
    assert notes["nodes"] == 5**20
    assert notes["nodes_judged"] <= 302
    assert 0 < notes["lower_bound"] <= notes["value"]
    assert notes["gap"] == notes["value"] - notes["lower_bound"]
    assert not notes["optimum_proven"]
    sizes = np.bincount(partition.labels[partition.labels >= 0])
    assert sizes.min() >= 3
    assert (partition.labels < 0).sum() <= problem.budget
    again = Optimal(nodes=300).run(wide_problem())
    assert again.levels == partition.levels and again.notes == notes


def test_huge_lattices_have_a_budget_of_their_own(monkeypatch):
    monkeypatch.setattr(optimal, "MOST_JUDGED", 60)
    notes = Optimal().run(wide_problem()).notes
    assert notes["value"] < 1 and notes["nodes_judged"] <= 62


def test_a_budget_of_nodes_stops_a_small_search():
    table = wide(columns=5)
    problem = Problem(table, AllOf((KAnonymity(k=3),)), table.reference(), 0.3)
    whole = Optimal(objective="discernibility").run(problem).notes
    notes = Optimal(objective="discernibility", nodes=9).run(problem).notes
    # the coarsest node may come on top, where none was found that fits
    assert notes["nodes_judged"] in (9, 10)
    assert 10 < whole["nodes_judged"] < whole["nodes"] == 5**5
    assert notes["lower_bound"] <= whole["value"] <= notes["value"] and not notes["optimum_proven"]


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
    with pytest.raises(ParameterError, match="not a quasi-identifier"):
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
