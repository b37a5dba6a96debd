"""Levels decided from histograms: the groups of Mondrian, found without looking at a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.partition.histograms import HistogramLevel, LevelCounts
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.engines import local
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from support_core import groups_of, plan_of, random_people


def by_levels(problem, algorithm, collapse=False):
    """Divide until nothing can be, one histogram per group and column; rows are looked at only to move them."""
    table, key = problem.table, ("illness",)
    weights = table.row_units if len(table.row_units) else np.ones(table.n_rows, dtype=np.int64)
    node = np.zeros(table.n_rows, dtype=np.int64)
    waiting, fresh, done = np.zeros(1, dtype=np.int64), 1, set()
    minimum = problem.model.min_group_size() * table.unit
    while len(waiting):
        entries = []
        for g, name in enumerate(waiting):
            rows = np.flatnonzero(node == name)
            for j, column in enumerate(table.quasi):
                pairs = np.stack([column.codes[rows], table.sensitive[0].codes[rows]]).astype(np.int64)
                # equal entries may be one, or as many as there are rows
                found, back = (
                    np.unique(pairs, axis=1, return_inverse=True) if collapse else (pairs, np.arange(len(rows)))
                )
                units = np.bincount(back.reshape(-1), weights=weights[rows], minlength=found.shape[1])
                entries.append(
                    (np.full(len(units), g), np.full(len(units), j), found[0], units.astype(np.int64), found[1])
                )
        group, column, code, units, value = map(np.concatenate, zip(*entries, strict=True))
        sizes = {key: table.sensitive[0].coded.size}
        counts = LevelCounts(group, column, code, units, {key: value}, sizes, len(waiting))
        level = HistogramLevel(table.quasi, counts, minimum, table.unit)
        accepted = algorithm.level(level, problem.model.part(table_level=False), problem)
        for g in set(range(len(waiting))) - set(accepted.group.tolist()):
            done.add(frozenset(np.flatnonzero(node == waiting[g]).tolist()))
        before, children = node.copy(), []
        for p in range(len(accepted)):
            rows = np.flatnonzero(before == waiting[accepted.group[p]])
            left = table.quasi[accepted.column[p]].codes[rows] <= accepted.cuts[2 * p]
            node[rows] = np.where(left, fresh, fresh + 1)
            children += [fresh, fresh + 1]
            fresh += 2
        waiting = np.array(children, dtype=np.int64)
    return done


@settings(max_examples=25)
@given(
    st.integers(1, 120),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([[KAnonymity(k=2)], [KAnonymity(k=3), EntropyL(l=1.5)], [DistinctL(l=2)], [TCloseness(t=0.4)]]),
    st.booleans(),
    st.booleans(),
)
def test_the_groups_are_those_of_the_rows(n, seed, missing, models, collapse, weighted):
    algorithm = Mondrian()
    problem = local.problem_of(random_people(n, seed, missing), plan_of(models, algorithm=algorithm))
    if weighted:
        units = np.random.default_rng(seed).integers(1, 4, n)
        table = replace(problem.table, row_units=units.astype(np.int64))
        problem = replace(problem, store=table, reference=table.reference(problem.model.histogram_keys()))
    if not problem.model.table_satisfied(problem.reference.whole(), problem.reference)[0]:
        return
    assert by_levels(problem, algorithm, collapse) == groups_of(algorithm.run(problem).labels.tolist())


@pytest.mark.parametrize(
    ("algorithm", "answer"),
    [(Mondrian(), True), (Mondrian(mode="relaxed"), False), (Mondrian(nominal="children"), False),
     (Mondrian(refine=True), False)],
)  # fmt: skip
def test_only_cuts_that_keep_equal_records_together_follow_from_counts(algorithm, answer):
    assert algorithm.by_histograms is answer


def test_members_are_the_distinct_codes_of_a_group():
    problem = local.problem_of(random_people(30, 1), plan_of([KAnonymity(k=2)]))
    table = problem.table
    entries = [(np.zeros(30, int), np.full(30, j), c.codes.astype(np.int64)) for j, c in enumerate(table.quasi)]
    group, column, code = map(np.concatenate, zip(*entries, strict=True))
    level = HistogramLevel(table.quasi, LevelCounts(group, column, code, np.ones(60, int), {}, {}, 1), 2)
    offsets, members = level.members(np.array([0]), 1)
    assert offsets.tolist() == [0, len(members)]
    assert members.tolist() == sorted(set(table.quasi[1].codes.tolist()))
