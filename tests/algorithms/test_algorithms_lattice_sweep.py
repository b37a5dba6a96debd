"""The lattice sweep against a slow twin, the rule that nobody is stranded, and its targets on Adult."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hushtable.algorithms.cluster.costs import CellCosts
from hushtable.algorithms.cluster.leftovers import Clusters
from hushtable.algorithms.partition import lattice_sweep
from hushtable.algorithms.partition.lattice_sweep import LatticeSweep, level_axes
from hushtable.engines import local
from hushtable.models.average_risk import AverageRisk
from hushtable.models.distinct_l import DistinctL
from hushtable.models.eps_m import EpsM
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.policy.policy import Policy
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan
from hushtable.utility.summary import measure_all
from support_core import COUNTRIES, ILLNESSES, groups_of, people_table, plan_of, quasi, random_people, sensitive

ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.sampled_from([None, *COUNTRIES]), st.sampled_from(ILLNESSES)),
    min_size=2,
    max_size=25,
)


def run(table, models, *, sweep_alone=True, **options):
    plan = plan_of(models, algorithm=LatticeSweep(), cells=Nodes(), **options)
    problem = local.problem_of(table, plan)
    local.check_feasible(problem)
    with pytest.MonkeyPatch.context() as patch:
        if sweep_alone:
            patch.setattr(lattice_sweep, "without_costly", lambda problem, partition: partition)
        return problem, plan.algorithm.run(problem)


def twin(problem, accept, budget=0):
    """Sweep once, row by row: sets of rows, and whoever is suppressed."""
    table = problem.table
    coded = [c.coded for c in table.quasi]
    codes = [tuple(int(c.codes[r]) for c in table.quasi) for r in range(table.n_rows)]

    def price(j, h, code):
        return (int(coded[j].leaves(h)[coded[j].levels[h][code]]) - 1) * round(2**32 / max(coded[j].size - 1, 1))

    nodes = list(itertools.product(*(range(c.height + 1) for c in coded)))
    nodes.sort(key=lambda v: sum(math.fsum(price(j, h, c[j]) for c in codes) / len(codes) for j, h in enumerate(v)))
    waiting, out = sorted(range(table.n_rows), key=lambda r: codes[r]), []
    for node in nodes:
        groups = {}
        for r in waiting:
            groups.setdefault(tuple(coded[j].levels[h][codes[r][j]] for j, h in enumerate(node)), []).append(r)
        good = [g for g in groups.values() if accept(g)]
        dropped, step = 0, 1
        while dropped < len(good):
            kept = good[: len(good) - dropped]
            rest = [r for r in waiting if not any(r in g for g in kept)]
            if len(rest) <= budget or not rest or accept(rest):
                out, waiting = out + [frozenset(g) for g in kept], rest
                break
            dropped, step = dropped + step, 2 * step
    if waiting and accept(waiting):
        out, waiting = [*out, frozenset(waiting)], []
    return set(out), set(waiting)


@given(ROWS, st.integers(2, 4), st.sampled_from([0.0, 0.1]))
def test_k_anonymity(rows, k, suppression):
    assume(len(rows) >= k)
    problem, partition = run(people_table(rows), [KAnonymity(k=k)], suppression=suppression)
    groups, suppressed = twin(problem, lambda g: len(g) >= k, problem.budget)
    assert groups_of(np.where(partition.labels < 0, -1, partition.labels)) == groups
    assert set(np.flatnonzero(partition.labels < 0).tolist()) == suppressed
    assert len(suppressed) <= problem.budget


@given(ROWS, st.sampled_from([2, 3]))
def test_distinct_values(rows, least):
    ill = [r[2] for r in rows]
    assume(len(set(ill)) >= least)
    problem, partition = run(people_table(rows), [DistinctL(l=least)])
    groups, suppressed = twin(problem, lambda g: len({ill[r] for r in g}) >= least)
    assert groups_of(partition.labels) == groups and not suppressed


@given(ROWS)
def test_a_bound_that_adding_records_can_break(rows):
    ill = [r[2] for r in rows]

    def accept(group):
        return 2 * max([ill[r] for r in group].count(v) for v in ILLNESSES) <= len(group)

    assume(accept(range(len(rows))))
    problem, partition = run(people_table(rows), [ProbabilisticL(l=2)])
    groups, _ = twin(problem, accept)
    assert groups_of(partition.labels) == groups


def loss(problem, partition):
    rows = np.flatnonzero(partition.labels >= 0)
    costs = CellCosts.of(problem.table, rows)
    stats = problem.table.stats_of(partition.labels, partition.n_groups, ())
    groups = Clusters(costs, partition.labels[rows], partition.n_groups, stats)
    return int((groups.cost * groups.rows).sum())


@given(ROWS, st.sampled_from([2, 3]), st.sampled_from([0.0, 0.2]))
def test_costly_groups_are_dissolved_only_where_that_pays(rows, least, suppression):
    assume(len({r[2] for r in rows}) >= least)
    table, models = people_table(rows), [KAnonymity(k=2), DistinctL(l=least)]
    problem, before = run(table, models, suppression=suppression)
    _, after = run(table, models, sweep_alone=False, suppression=suppression)
    assert loss(problem, after) <= loss(problem, before)
    assert ((after.labels < 0) == (before.labels < 0)).all()
    assert set(after.labels[after.labels >= 0].tolist()) == set(range(after.n_groups))
    stats = problem.table.stats_of(after.labels, after.n_groups, problem.model.histogram_keys())
    assert problem.model.satisfied(stats, problem.reference).all()


def test_a_value_that_every_group_needs_is_not_used_up():
    """One in four is ill: pairs take the ill, and what is left used to be one group of everybody else."""
    draw = np.random.default_rng(3)
    rows = [
        (int(draw.integers(0, 60)), COUNTRIES[int(draw.integers(0, len(COUNTRIES)))], "flu" if i % 4 else "cold")
        for i in range(400)
    ]
    problem, before = run(people_table(rows), [DistinctL(l=2)])
    _, after = run(people_table(rows), [DistinctL(l=2)], sweep_alone=False)
    assert np.bincount(before.labels).max() > 60
    assert loss(problem, after) < 0.9 * loss(problem, before)


@pytest.mark.parametrize("average", [0.15, 0.3])
def test_a_model_that_judges_the_table(average):
    problem, partition = run(random_people(200, 4), [KAnonymity(k=2), AverageRisk(average=average)])
    stats = problem.table.stats_of(partition.labels, partition.n_groups, ())
    assert problem.model.table_satisfied(stats, problem.reference).all()
    assert 1 < partition.n_groups <= average * 200


def test_entities_are_counted_as_people():
    table = random_people(60, 2).append_column("who", [[str(i // 3) for i in range(60)]])
    columns = (
        ColumnPlan("who", Role.IDENTIFIER),
        quasi("age", Kind.NUMERIC),
        quasi("country", Kind.NOMINAL),
        sensitive("illness"),
    )
    problem, partition = run(table, [KAnonymity(k=3)], columns=columns, entity="who")
    stats = problem.table.stats_of(partition.labels, partition.n_groups, ())
    assert stats.sizes.min() >= 3
    assert partition.n_groups > 1


def test_models_that_do_not_survive_merging_get_one_node():
    table = people_table([(i % 20, COUNTRIES[i % 6], "flu") for i in range(60)])
    table = table.append_column("pay", [[10.0 * (i % 7) for i in range(60)]])
    columns = (
        quasi("age", Kind.NUMERIC),
        quasi("country", Kind.NOMINAL),
        sensitive("illness"),
        sensitive("pay", Kind.NUMERIC),
    )
    problem, partition = run(table, [EpsM(eps=2.0, m=2, on="pay")], columns=columns)
    assert set(partition.notes["one_node"]) == {"age", "country"}
    stats = problem.table.stats_of(partition.labels, partition.n_groups, problem.model.histogram_keys())
    assert problem.model.satisfied(stats, problem.reference).all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.sampled_from([2, 8, 64, 500]))
def test_axes_keep_the_bottom_and_the_top(heights, most):
    axes = level_axes(heights, most)
    sizes = [len(a) for a in axes]
    assert math.prod(sizes) <= most
    assert sum((a[0] for a in axes), ()) == (0,) * len(heights)
    assert sum((a[-1] for a in axes), ()) == tuple(heights)
    for axis in axes:
        assert all(x <= y for lower, upper in itertools.pairwise(axis) for x, y in zip(lower, upper, strict=True))
    if math.prod(h + 1 for h in heights) <= most:
        assert sizes == [h + 1 for h in heights]


TARGETS = [
    (8, "nodes", {"lattice-sweep": {}}, 0.0280),
    (8, "nodes", {"lattice-sweep": {"refine": True}}, 0.0266),
    (8, "sets", {"mondrian": {"refine": True, "nominal": "cuts"}}, 0.0132),
    (9, "nodes", {"lattice-sweep": {}}, 0.0512),
    pytest.param(9, "nodes", {"lattice-sweep": {"refine": True}}, 0.0494, marks=pytest.mark.slow),
    pytest.param(9, "sets", {"mondrian": {"refine": True}}, 0.0236, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("columns", "cells", "algorithm", "most"), TARGETS)
def test_loss_on_adult(adult, adult_hierarchy_files, columns, cells, algorithm, most):
    """15% (nodes) and 60% (sets) below what ARX's local recoding loses, k=5; 0.0591 and 0.0329."""
    roles = {
        name: {"role": "quasi", "hierarchy": str(file)}
        for name, file in adult_hierarchy_files.items()
        if columns == 9 or name != "occupation"
    }
    policy = Policy(columns=roles, models=[{"k-anonymity": {"k": 5}}], algorithm=algorithm, cells=cells)
    outcome = local.run(adult.select(list(roles)), policy.plan())
    assert outcome.verification.ok
    release = RowComparison(outcome.problem.table, outcome.recoded.labels, outcome.recoded.cells, k=5)
    got = measure_all(release, ["ncp", "cavg"])
    assert release.n_suppressed == 0
    assert got["ncp"] <= most
    assert got["cavg"] >= 1
