"""Specialising by counts of records that are elsewhere: the same groups as with the records at hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.branch_counts import BranchCounts, CountedBranches
from hushtable.algorithms.partition.children import Trees
from hushtable.algorithms.partition.localpk import Localpk, Specialising
from hushtable.engines import local
from hushtable.errors import HushtableError, IncompatibleError
from hushtable.models.base import Monotone
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.table.encoded import EncodedTable
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples


def some_rows(table: EncodedTable, rows: np.ndarray) -> EncodedTable:
    return replace(
        table,
        quasi=tuple(replace(c, codes=c.codes[rows]) for c in table.quasi),
        sensitive=tuple(replace(c, codes=c.codes[rows]) for c in table.sensitive),
        n_sample=len(rows),
        n_rows=len(rows),
        row_units=table.row_units[rows] if len(table.row_units) else table.row_units,
        tie_rank=np.arange(len(rows)),
    )


def by_counts(problem, most: int, seen: Counter) -> np.ndarray:
    """What Spark does, with a list of records for every group: labels of the rows."""
    table, trees, kinds = problem.table, Trees(problem.table.quasi), Kinds.of(problem)
    ranks = np.column_stack([rank[c.codes] for rank, c in zip(trees.ranks, table.quasi, strict=True)]).astype(np.int64)
    minimum = max(problem.model.min_group_size(), 1) * table.unit
    weight = table.row_units if len(table.row_units) else np.ones(table.n_rows, dtype=np.int64)
    d = len(table.quasi)
    labels, n_labels = np.full(table.n_rows, -1), 0
    looking = bool(problem.model.histogram_keys())
    lots = problem.coins.lots_of_combinations([c.codes for c in table.quasi]) if looking else np.zeros(table.n_rows)
    groups = [(table.canonical_order, np.zeros(d, dtype=np.bool_))]
    while groups:
        low = np.array([ranks[rows].min(axis=0) for rows, _ in groups])
        high = np.array([ranks[rows].max(axis=0) for rows, _ in groups])
        heights = trees.heights(low, high)
        large = []
        for (rows, closed), height in zip(groups, heights, strict=True):
            if weight[rows].sum() < 2 * minimum or not (~closed & (height > 0)).any():
                labels[rows], n_labels = n_labels, n_labels + 1
            elif len(rows) <= most:
                seen["finished elsewhere"] += 1
                found = Localpk().run_group(
                    replace(problem, store=some_rows(table, rows), tossed=problem.coins), closed
                )
                labels[rows], n_labels = n_labels + found.labels, n_labels + found.n_groups
            else:
                large.append((rows, closed, height))
        if not large:
            break
        seen["levels"] += 1
        counts: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for g, (rows, closed, height) in enumerate(large):
            for j in range(d):
                for row in rows.tolist() if height[j] and not closed[j] else []:
                    counts[g, j, int(trees.nodes[j][height[j] - 1, ranks[row, j]]), int(kinds.of_row[row])].append(row)
        entries = np.array(list(counts), dtype=np.int64).reshape(-1, 4)
        ends = [np.array([f(ranks[rows], axis=0) for rows in counts.values()]).reshape(-1, d) for f in (np.min, np.max)]
        branches = CountedBranches(
            problem,
            trees,
            kinds,
            BranchCounts(*entries.T, np.array([len(rows) for rows in counts.values()]), *ends),
            np.array([height for *_, height in large]),
            np.array([closed for _, closed, _ in large]),
        )
        Specialising(problem, branches, 0, kinds).work()
        division = branches.division
        part_of = dict(
            zip(zip(division.group.tolist(), division.node.tolist(), strict=True), division.part, strict=True)
        )
        taken = {tuple(map(int, t[:3])): (int(t[3]), int(t[4])) for t in zip(*division.taken, strict=True)}
        parts: list[list[int]] = [[] for _ in division.closed]
        for g, (rows, _, height) in enumerate(large):
            j = int(division.chosen[g])
            if j < 0:
                labels[rows], n_labels = n_labels, n_labels + 1
                continue
            gone: Counter[tuple[int, ...]] = Counter()
            for row in rows[np.argsort(lots[rows], kind="stable")].tolist():
                node = int(trees.nodes[j][height[j] - 1, ranks[row, j]])
                key = g, node, int(kinds.of_row[row])
                count, back = taken.get(key, (0, -1))
                gone[key] += 1
                seen["gone back"] += gone[key] <= count
                parts[back if gone[key] <= count else int(part_of[g, node])].append(row)
        rank = np.argsort(table.canonical_order)
        groups = [
            (np.array(sorted(rows, key=lambda r: rank[r])), closed)
            for rows, closed in zip(parts, division.closed, strict=True)
        ]
        assert all(len(rows) for rows, _ in groups)
    return labels


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


SEEN: Counter[str] = Counter()


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(models)),
    seed=st.integers(0, 10_000),
    rows=st.integers(4, 60),
    most=st.sampled_from([1, 4, 12, 30]),
    entity=st.booleans(),
)
def test_the_same_groups(name, seed, rows, most, entity):
    case = random_case(seed, rows, entity=entity)
    chosen = [KAnonymity(k=2), *model_examples(models[name], case)[:1]]
    try:
        problem = local.problem_of(case.table, case.plan(chosen, Localpk()))
        local.check_feasible(problem)
        want = Localpk().run(problem)
    except HushtableError:
        assume(False)
    assume(Monotone.MERGE in problem.model.flags and not problem.model.part(table_level=True).members)
    assume(problem.table.n_rows == problem.table.n_sample)
    assert alike(by_counts(problem, most, SEEN), np.asarray(want.labels))


def test_the_property_saw_all_there_is():
    for seed in range(40):
        case = random_case(seed, 60, entity=seed % 2 == 0)
        chosen = [KAnonymity(k=3), *model_examples(models["entropy-l"], case)[:1]]
        problem = local.problem_of(case.table, case.plan(chosen, Localpk()))
        try:
            want = Localpk().run(problem)
        except HushtableError:
            continue
        assert alike(by_counts(problem, 12, SEEN), np.asarray(want.labels))
    assert min(SEEN[what] for what in ("levels", "finished elsewhere", "gone back")) > 0


def test_records_elsewhere_are_not_suppressed():
    case = random_case(1, 20)
    problem = local.problem_of(case.table, case.plan([KAnonymity(k=2)], Localpk()))
    nothing = np.empty(0, dtype=np.int64)
    ends = np.empty((0, len(problem.table.quasi)), dtype=np.int64)
    counts = BranchCounts(nothing, nothing, nothing, nothing, nothing, ends, ends)
    branches = CountedBranches(
        problem, Trees(problem.table.quasi), Kinds.of(problem), counts, ends, ends.astype(np.bool_)
    )
    with pytest.raises(IncompatibleError, match="cannot be suppressed"):
        branches.leave_out(None, np.empty(0, dtype=np.bool_))
