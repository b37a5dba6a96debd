"""Datafly and greedy minimum-loss against record-by-record twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_lattice import look, problem_of

from hushtable.algorithms.lattice.datafly import Datafly
from hushtable.algorithms.lattice.greedy_loss import GreedyLoss
from hushtable.engines import local
from hushtable.errors import Cancelled, NotFound
from hushtable.models.alp_dif import AlpDif
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.schema.columns import Kind
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples
from support_core import groups_of, people_table, plan_of, quasi, sensitive

ANY = {
    "name": st.sampled_from(sorted(models)),
    "seed": st.integers(0, 10_000),
    "rows": st.integers(1, 24),
    "limit": st.sampled_from([0.0, 0.1, 0.4, 1.0]),
}


def drawn(name, seed, rows, limit, k=2):
    chosen = model_examples(models[name], random_case(seed, rows), 1)
    assume(chosen)
    return problem_of([*chosen, KAnonymity(k=k)], seed, rows, limit)


def weights_of(problem):
    table = problem.table
    return table.row_units.tolist() if len(table.row_units) else [1] * table.n_rows


def outcome(algorithm, problem):
    try:
        return algorithm.run(problem)
    except NotFound:
        return None


@settings(max_examples=40)
@given(**ANY)
def test_datafly(name, seed, rows, limit):
    problem = drawn(name, seed, rows, limit)
    table, weights = problem.table, weights_of(problem)
    node = [0] * len(table.quasi)
    while not look(problem, tuple(node)).fits:
        counts = [
            len({int(c.coded.levels[level][c.codes[r]]) for r in range(table.n_rows) if weights[r]})
            if level < c.coded.height
            else -1
            for c, level in zip(table.quasi, node, strict=True)
        ]
        if max(counts) < 0:
            assert outcome(Datafly(), problem) is None
            return
        node[counts.index(max(counts))] += 1
    partition = Datafly().run(problem)
    assert partition.levels == tuple(node)
    seen = look(problem, tuple(node))
    expected = [-1 if g in seen.gone else g for g in seen.labels]
    assert groups_of(partition.labels) == groups_of(expected)


def greedy_twin(problem, as_printed):
    """Section III-C on lists: the node, and the rows that step 1 suppressed."""
    table, weights = problem.table, weights_of(problem)
    importance = np.array([c.weight for c in table.quasi])
    share = importance / importance.sum()
    factor = 1 - share if as_printed else share
    node, gone = [0] * len(table.quasi), set()

    def violating(model):
        keys = [
            tuple(int(c.coded.levels[level][c.codes[r]]) for c, level in zip(table.quasi, node, strict=True))
            for r in range(table.n_rows)
        ]
        numbers = {key: i for i, key in enumerate(sorted(set(keys)))}
        labels = np.array([-1 if r in gone else numbers[key] for r, key in enumerate(keys)])
        stats = table.stats_of(labels, len(numbers), sorted(problem.model.histogram_keys()))
        there = [g for g in range(len(numbers)) if stats.units[g] > 0]
        good = model.satisfied(stats.take(there), problem.reference)
        bad = {g for g, ok in zip(there, good, strict=True) if not ok}
        whole = bool(model.table_satisfied(stats.take(there), problem.reference)[0])
        return {r for r in range(table.n_sample) if labels[r] in bad}, whole

    def climb():
        losses = []
        for j, column in enumerate(table.quasi):
            coded, level = column.coded, node[j] + 1
            if level > coded.height:
                losses.append(float("inf"))
                continue
            leaves = coded.leaves(level)
            total = sum(
                (int(leaves[coded.levels[level][column.codes[r]]]) - 1) * weights[r]
                for r in range(table.n_sample)
                if r not in gone
            )
            losses.append(float(factor[j]) * total / coded.size)
        if min(losses) == float("inf"):
            return False
        node[losses.index(min(losses))] += 1
        return True

    first = AllOf(tuple(m for m in problem.model.members if Monotone.ADD in m.monotone and not m.table_level))
    for model, budget in ((first, problem.budget), (problem.model, 0)):
        while True:
            bad, whole = violating(model)
            lost = sum(weights[r] for r in bad)
            left = sum(weights[r] for r in range(table.n_sample) if r not in gone | bad)
            if lost <= budget and left and (bad or whole):
                gone |= bad
                break
            if not climb():
                return None
    return tuple(node), gone


@settings(max_examples=60)
@given(**ANY, as_printed=st.booleans(), heavy=st.floats(0.2, 5))
def test_greedy_loss(name, seed, rows, limit, as_printed, heavy):
    problem = drawn(name, seed, rows, limit)
    first = replace(problem.table.quasi[0], weight=heavy)
    problem = replace(problem, store=replace(problem.table, quasi=(first, *problem.table.quasi[1:])))
    expected = greedy_twin(problem, as_printed)
    partition = outcome(GreedyLoss(as_printed=as_printed), problem)
    if expected is None:
        assert partition is None
        return
    assert partition.levels == expected[0]
    assert set(np.flatnonzero(partition.labels[: problem.table.n_sample] < 0).tolist()) == expected[1]


def weighted(as_printed):
    """Two columns alike, one of them three times as important."""
    rows = [(a, b, i) for a in "wxyz" for b in "wxyz" for i in ("flu", "cold")]
    columns = (
        quasi("a", Kind.NOMINAL, weight=3.0),
        quasi("b", Kind.NOMINAL),
        sensitive("illness"),
    )
    plan = plan_of([KAnonymity(k=4)], columns, GreedyLoss(as_printed=as_printed))
    return local.run(people_table(rows, ("a", "b", "illness")), plan).partition


def test_the_less_important_column_goes_first():
    assert weighted(as_printed=False).levels == (0, 1)


def test_as_printed_the_most_important_column_goes_first():
    assert weighted(as_printed=True).levels == (1, 0)


def test_step_1_suppresses_and_step_2_does_not():
    rows = [("a", "HIV")] + [("b", "HIV")] * 2 + [("b", "flu")] + [("c", "flu")] * 3
    columns = (quasi("place", Kind.NOMINAL), sensitive("illness"))
    table = people_table(rows, ("place", "illness"))
    plan = plan_of([KAnonymity(k=3), AlpDif(alp={"HIV": 0.5})], columns, GreedyLoss(), suppression=0.2)
    partition = local.run(table, plan).partition
    assert (partition.labels < 0).tolist() == [True] + [False] * 6
    assert partition.notes["step_1"] == {"place": 0}
    assert partition.levels == (1,)


@pytest.mark.parametrize("algorithm", [Datafly(), GreedyLoss()])
def test_cancelled(algorithm):
    def stop(share, what):
        raise Cancelled("Stopped.")

    problem = replace(problem_of([KAnonymity(k=5)], 8, 24), progress=stop)
    with pytest.raises(Cancelled):
        algorithm.run(problem)


@pytest.mark.parametrize("algorithm", [Datafly, GreedyLoss])
def test_fixed(algorithm):
    problem = problem_of([KAnonymity(k=2)], 8, 40)
    column = problem.table.quasi[0]
    assert algorithm(fixed={column.name: column.coded.height}).run(problem).levels[0] == column.coded.height
