"""Refining: valid, never dearer than the start, the same for any row order, and close to the best on tiny tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.base import Partition
from hushtable.algorithms.cluster.k_member import KMember
from hushtable.algorithms.partition.lattice_sweep import LatticeSweep
from hushtable.algorithms.partition.localpk import Localpk
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.algorithms.refining import refine as refining
from hushtable.algorithms.refining.cells import COST_SCALE
from hushtable.algorithms.refining.refine import State, refine
from hushtable.api import run_plan
from hushtable.engines import local
from hushtable.models.average_risk import AverageRisk
from hushtable.models.distinct_l import DistinctL
from hushtable.models.eps_m import EpsM
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.registry import models as known_models
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.sets import Sets
from hushtable.release.settle import settle
from hushtable.schema.columns import Kind
from hushtable.testing import Answer, check_pair
from hushtable.testing.cases import chosen_forms
from hushtable.utility.ncp import Ncp
from support_core import COUNTRIES, ILLNESSES, groups_of, people_table, plan_of, quasi, random_people, sensitive

ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.sampled_from([None, *COUNTRIES]), st.sampled_from(ILLNESSES)),
    min_size=4,
    max_size=24,
)
# refining weighs tight ranges and sets of single values
STYLES = st.sampled_from([form for form in chosen_forms() if form.name not in ("regions", "counts")])
LOCAL_MODELS = [
    [KAnonymity(k=2)],
    [KAnonymity(k=3), DistinctL(l=2)],
    [KAnonymity(k=2), TCloseness(t=0.4)],
    [KAnonymity(k=2), AverageRisk(average=0.4)],
]


def ncp_of(problem, partition):
    recoded = settle(problem, partition)
    return Ncp(weighted=True).compute(
        RowComparison(problem.table, recoded.labels[: problem.table.n_sample], recoded.cells)
    )


def holds(problem, partition):
    stats = problem.table.stats_of(partition.labels, partition.n_groups, problem.model.histogram_keys())
    return (
        bool(problem.model.part(table_level=False).satisfied(stats, problem.reference).all())
        and bool(problem.model.table_satisfied(stats, problem.reference)[0])
    )  # fmt: skip


@given(ROWS, STYLES, st.sampled_from(LOCAL_MODELS))
def test_valid_and_never_dearer(rows, style, models):
    plan = plan_of(models, cells=style)
    problem = local.problem_of(people_table(rows), plan)
    assume(all(m.feasible(problem.reference) is None for m in problem.model.members))
    start = Mondrian().run(problem)
    better = refine(problem, start)
    assert np.array_equal(better.labels >= 0, start.labels >= 0)
    assert set(better.labels.tolist()) == set(range(better.n_groups))
    assert holds(problem, better)
    assert ncp_of(problem, better) <= ncp_of(problem, start) + 1e-9


@given(ROWS, STYLES)
def test_the_state_counts_what_the_measure_counts(rows, style):
    problem = local.problem_of(people_table(rows), plan_of([KAnonymity(k=2)], cells=style))
    start = Mondrian().run(problem)
    order = problem.table.canonical_order
    state = State(problem, order, start.labels[order])
    assert state.loss / COST_SCALE / len(rows) / 2 == pytest.approx(ncp_of(problem, start), abs=1e-7)
    # what a record saves by leaving, and what it costs to join its best group, from the definition
    for r in range(len(rows)):
        own = int(state.labels[r])
        alone = Partition(np.where(np.arange(len(rows)) == r, state.n, state.labels), state.n + 1)
        gone = State(problem, order, alone.labels)
        assert gone.loss == state.loss - state.saving[r] or state.sizes[own] == 1
        if state.best[r] >= 0:
            joined = state.labels.copy()
            joined[r] = state.best[r]
            assert State(problem, order, joined).loss == state.loss - state.saving[r] + state.price[r]


FEW = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(COUNTRIES), st.just("flu")), min_size=4, max_size=7)


@settings(max_examples=20)
@given(FEW, STYLES)
def test_close_to_the_best_partition_of_tiny_tables(rows, style):
    problem = local.problem_of(people_table(rows), plan_of([KAnonymity(k=2)], cells=style))
    refined = ncp_of(problem, refine(problem, Mondrian().run(problem)))
    best = min(ncp_of(problem, p) for p in _partitions(len(rows), problem.table.n_rows))
    assert best - 1e-9 <= refined <= 1.5 * best + 0.15


def _partitions(n, n_rows):
    def grow(labels):
        if len(labels) == n:
            if all(labels.count(g) >= 2 for g in set(labels)):
                yield Partition(np.array(labels), max(labels) + 1)
            return
        for g in range(max(labels, default=-1) + 2):
            yield from grow([*labels, g])

    yield from grow([])


@pytest.mark.parametrize(
    "algorithm", [Mondrian(refine=True), LatticeSweep(refine=True), Localpk(refine=True), KMember(refine=True)], ids=str
)
@pytest.mark.parametrize("style", chosen_forms())
def test_row_order_does_not_matter(algorithm, style):
    table = random_people(120, 3, missing=0.05)
    order = np.random.default_rng(1).permutation(120)
    plan = plan_of([KAnonymity(k=3), DistinctL(l=2)], algorithm=algorithm, cells=style, suppression=0.05)
    first = run_plan(table, plan).table
    again = run_plan(table.take(pa.array(order)), plan).table
    assert first.equals(again)


def test_every_kind_of_change_lowers_the_loss(monkeypatch):
    """Each kind on its own gains something on some table: none of them is dead."""
    kinds = ("move", "dissolve", "split", "swap", "found")
    gained = dict.fromkeys(kinds, 0)
    for only in kinds:
        for seed in range(4):
            with monkeypatch.context() as patch:
                for kind in kinds:
                    if kind != only:
                        patch.setattr(refining, kind, lambda state: [])
                problem = local.problem_of(random_people(150, seed), plan_of([KAnonymity(k=4)], cells=Sets()))
                start = _one_group_or_mondrian(problem, seed)
                gained[only] += ncp_of(problem, start) - ncp_of(problem, refine(problem, start))
    assert all(gain > 0 for gain in gained.values()), gained


def _one_group_or_mondrian(problem, seed):
    return (
        Mondrian(mode="relaxed").run(problem) if seed else Partition(np.zeros(problem.table.n_rows, dtype=np.int64), 1)
    )


def test_one_group_is_split_down_to_small_ones():
    problem = local.problem_of(random_people(300, 11), plan_of([KAnonymity(k=3)], cells=Ranges()))
    better = refine(problem, Partition(np.zeros(300, dtype=np.int64), 1))
    assert better.n_groups > 40
    assert holds(problem, better)


def test_blocks_of_a_large_table(monkeypatch):
    monkeypatch.setattr(refining, "BLOCK", 50)
    problem = local.problem_of(random_people(300, 5), plan_of([KAnonymity(k=3)], cells=Sets()))
    start = Mondrian().run(problem)
    better = refine(problem, start)
    assert holds(problem, better)
    assert set(better.labels.tolist()) == set(range(better.n_groups))
    assert ncp_of(problem, better) < ncp_of(problem, start)
    blocks = list(refining._blocks(problem, problem.table.canonical_order, start.labels[problem.table.canonical_order]))
    assert len(blocks) > 3
    assert sorted(np.concatenate(blocks).tolist()) == list(range(300))
    assert sum(len(set(start.labels[b].tolist())) for b in blocks) == start.n_groups


def test_a_budget_of_rounds():
    problem = local.problem_of(random_people(200, 6), plan_of([KAnonymity(k=3)], cells=Sets()))
    start = Mondrian().run(problem)
    loss = [ncp_of(problem, refine(problem, start, rounds=n)) for n in (0, 1, 3, 60)]
    assert loss[0] == pytest.approx(ncp_of(problem, start))
    assert loss == sorted(loss, reverse=True)
    assert loss[3] < loss[1] < loss[0]
    assert refine(problem, start, rounds=3).notes["refine_rounds"] == 3


def test_a_time_limit_that_is_over_changes_nothing():
    problem = local.problem_of(random_people(100, 7), plan_of([KAnonymity(k=3)]))
    start = Mondrian().run(problem)
    late = refine(problem, start, seconds=1e-12)
    assert groups_of(late.labels) == groups_of(start.labels)
    assert late.notes["refine_rounds"] == 0
    assert late.notes["stopped_by_time"] is True
    assert refine(problem, start, seconds=3600).notes["stopped_by_time"] is False
    assert "stopped_by_time" not in refine(problem, start).notes


def test_suppressed_records_stay_suppressed_and_regions_are_gone():
    problem = local.problem_of(random_people(80, 8), plan_of([KAnonymity(k=3)], suppression=0.1))
    start = Mondrian().run(problem)
    start = replace(
        start, labels=np.where(start.labels == 2, -1, start.labels - (start.labels > 2)), n_groups=start.n_groups - 1
    )
    better = refine(problem, start)
    assert start.regions is not None and better.regions is None
    assert np.array_equal(start.labels < 0, better.labels < 0)
    assert (better.labels < 0).any()


def test_models_that_do_not_survive_merging_keep_their_groups():
    columns = (quasi("age", Kind.NUMERIC), sensitive("pay", Kind.NUMERIC))
    table = pa.table({"age": list(range(40)), "pay": [10 * (i % 7) for i in range(40)]})
    problem = local.problem_of(table, plan_of([EpsM(eps=2.0, m=2)], columns))
    start = Mondrian().run(problem)
    assert refine(problem, start) is start


def test_weights_of_columns_count():
    table = random_people(200, 9)
    columns = (
        quasi("age", Kind.NUMERIC, weight=4.0),
        quasi("country", Kind.NOMINAL, weight=0.25),
        sensitive("illness"),
    )
    problem = local.problem_of(table, plan_of([KAnonymity(k=4)], columns, cells=Sets()))
    plain = replace(
        problem, store=replace(problem.table, quasi=tuple(replace(c, weight=1.0) for c in problem.table.quasi))
    )
    start = Mondrian().run(problem)
    assert ncp_of(problem, refine(problem, start)) < ncp_of(problem, refine(plain, start))


@pytest.mark.parametrize("model", list(known_models))
def test_the_contract_of_a_refined_partition(model):
    done = check_pair(known_models[model], Mondrian(refine=True), tables=1, seed=list(known_models).index(model))
    assert sum(done[a.value] for a in Answer) + done["brute force"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", list(known_models))
def test_the_contract_of_a_refined_sweep(model):
    done = check_pair(known_models[model], LatticeSweep(refine=True), tables=5, seed=700)
    assert sum(done[a.value] for a in Answer) + done["brute force"] > 0
