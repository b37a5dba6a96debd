"""Greedy clustering against a twin in plain Python, its blocks, its leftovers, and the kernel against its twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.cluster.blocks import cut_blocks
from hushtable.algorithms.cluster.costs import CellCosts
from hushtable.algorithms.cluster.k_member import KMember
from hushtable.algorithms.trim import trim
from hushtable.engines import local
from hushtable.errors import Cancelled, NotFound
from hushtable.kernels import members
from hushtable.models.average_risk import AverageRisk
from hushtable.models.base import SensitiveModel
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.p_alpha_sensitive import PAlphaSensitive
from hushtable.models.p_sensitive import PSensitive
from hushtable.release.forms.base import of_groups
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coins import Coins
from hushtable.testing import random_case
from hushtable.testing.cases import chosen_forms
from support_core import plan_of, quasi, random_people, sensitive


def problem_of(models, seed=1, n=30, **more):
    case = random_case(seed, n, **more)
    return local.problem_of(case.table, case.plan(models, KMember()))


class Twin:
    """The algorithm in one block, for models that judge groups one by one and survive any record."""

    def __init__(self, problem):
        self.problem, self.table, self.model = problem, problem.table, problem.model
        self.keys = self.model.histogram_keys()

    def stats(self, rows):
        labels = np.full(self.table.n_rows, -1)
        labels[rows] = 0
        return self.table.stats_of(labels, 1, self.keys)

    def holds(self, rows):
        return bool(self.model.satisfied(self.stats(rows), self.problem.reference)[0])

    def cost(self, rows):
        total = 0
        for column in self.table.quasi:
            codes, coded = {int(column.codes[r]) for r in rows}, column.coded
            if column.cover is Cover.RANGE:
                gap = coded.missing and 0 in codes and len(codes) > 1
                leaves = coded.size if gap else max(codes) - min(codes) + 1
            else:
                height = next(h for h in range(coded.height + 1) if len({int(coded.levels[h][c]) for c in codes}) == 1)
                leaves = int((coded.levels[height] == coded.levels[height][min(codes)]).sum())
            total += round(2**30 * column.weight * (leaves - 1) / max(coded.size - 1, 1))
        return total

    def helps(self, rows, row):
        stats = self.stats(rows)
        return any(
            m.contributes(stats, self.problem.reference)[0, int(self.table.code_column(m.key)[0][row])]
            for m in self.model.members
            if isinstance(m, SensitiveModel) and not m.satisfied(stats, self.problem.reference)[0]
        )

    def run(self):
        free = self.problem.secret_order.tolist()
        done, seed = [], None
        while free:
            seed = free[0] if seed is None else max(free, key=lambda r: (self.cost([seed, r]), -free.index(r)))
            free.remove(seed)
            cluster = [seed]
            while free and not self.holds(cluster):
                useful = [r for r in free if self.helps(cluster, r)] or free
                nearest = min(useful, key=lambda r: (self.cost([*cluster, r]), free.index(r)))
                free.remove(nearest)
                cluster.append(nearest)
            if self.holds(cluster):
                done.append(cluster)
            else:
                free = []
                rank = {r: i for i, r in enumerate(self.problem.secret_order.tolist())}
                for row in sorted(cluster, key=rank.get):
                    rise = [self.cost([*c, row]) * (len(c) + 1) - self.cost(c) * len(c) for c in done]
                    if done:
                        done[int(np.argmin(rise))].append(row)
                if not done:
                    done.append(cluster)
        return done


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 26),
    cells=st.sampled_from(chosen_forms()),
    models=st.sampled_from(
        [
            [KAnonymity(k=3)],
            [KAnonymity(k=2), PSensitive(p=2, on="disease")],
            [PAlphaSensitive(p=2, alpha=1, on="disease")],
        ]
    ),
)
def test_exact_equals_the_twin(seed, n, cells, models):
    problem = problem_of(models, seed, n, cells=cells)
    if trim(problem) is None:
        return
    partition = KMember(exact=True).run(problem)
    table = problem.table

    def content(rows):
        columns = (*table.quasi, *table.sensitive)
        return Counter(tuple(int(c.codes[r]) for c in columns) for r in rows)

    ours = [content(np.flatnonzero(partition.labels == g)) for g in range(partition.n_groups)]
    twins = [content(rows) for rows in Twin(problem).run()]
    key = lambda c: sorted(c.items())  # noqa: E731
    assert sorted(ours, key=key) == sorted(twins, key=key)


def test_nearby_records_meet():
    table = pa.table({"age": [20, 21, 22, 60, 61, 62], "illness": ["flu", "flu", "HIV", "flu", "flu", "HIV"]})
    columns = (quasi("age", Kind.NUMERIC), sensitive("illness"))
    # whichever record is first: from both ends inwards
    for key in range(8):
        plan = plan_of([KAnonymity(k=3), PSensitive(p=2)], columns, KMember(), coins=Coins(bytes([key])))
        cells = Counter(local.run(table, plan).published.column("age").to_pylist())
        assert sorted(cells.values()) == [3, 3]


def test_a_useful_value_is_worth_a_longer_way():
    table = pa.table({"age": [20, 21, 30, 60, 61, 70], "illness": ["flu", "flu", "HIV", "flu", "flu", "HIV"]})
    columns = (quasi("age", Kind.NUMERIC), sensitive("illness"))
    outcome = local.run(table, plan_of([PSensitive(p=2)], columns, KMember()))
    by_class: dict[str, set[str]] = {}
    for row in outcome.published.to_pylist():
        by_class.setdefault(row["age"], set()).add(row["illness"])
    assert all(found == {"flu", "HIV"} for found in by_class.values()) and len(by_class) == 2


def test_smaller_blocks_cost_more():
    plan = [KAnonymity(k=3), PSensitive(p=2)]
    table = random_people(600, 3)

    def loss(algorithm):
        outcome = local.run(table, plan_of(plan, algorithm=algorithm))
        cells = outcome.recoded.cells
        sizes = np.bincount(outcome.recoded.labels)
        return sum(float((c.leaves * sizes).sum()) for c in cells)

    exact, blocks, small = loss(KMember(exact=True)), loss(KMember(block=128)), loss(KMember(block=30))
    assert exact < small and blocks < small


def test_blocks_are_even_and_follow_the_content():
    problem = problem_of([KAnonymity(k=2)], 4, 200)
    table = problem.table
    rows = table.canonical_order
    block = cut_blocks(table, rows, 30)
    sizes = np.bincount(block)
    assert sizes.max() <= 30 and sizes.min() >= 15
    assert cut_blocks(table, rows, 200).max() == 0


def test_every_row_of_a_population_finds_a_class():
    case = random_case(8, 30)
    problem = local.problem_of(case.table, case.plan([KMap(k=4)], KMember()))
    assert problem.table.n_rows > problem.table.n_sample
    partition = KMember().run(problem)
    assert partition.labels.min() == 0
    stats = problem.table.stats_of(partition.labels, partition.n_groups, ())
    assert stats.units.min() > 0


def test_table_level_models_merge_the_worst():
    table = random_people(120, 5)
    outcome = local.run(table, plan_of([KAnonymity(k=2), AverageRisk(average=0.1)], algorithm=KMember()))
    assert outcome.verification.classes <= 12
    assert outcome.verification.ok


def test_models_that_a_record_may_break_keep_their_clusters():
    case = random_case(21, 60)
    outcome = local.run(case.table, case.plan([EntropyL(l=1.7, on="disease")], KMember()))
    assert outcome.verification.ok and outcome.verification.classes > 1


def test_not_found_is_said():
    table = pa.table({"age": [1, 2, 3, 4], "illness": ["flu", "flu", "flu", "HIV"]})
    columns = (quasi("age", Kind.NUMERIC), sensitive("illness"))
    problem = local.problem_of(table, plan_of([EntropyL(l=1.9)], columns, KMember()))
    with pytest.raises(NotFound, match="k-member"):
        KMember().run(problem)


def test_cancelled():
    def stop(share, what):
        raise Cancelled("Canceled.")

    with pytest.raises(Cancelled):
        local.run(random_people(30, 1), plan_of([KAnonymity(k=2)], algorithm=KMember()), stop)


@pytest.mark.parametrize("cells", chosen_forms())
def test_costs_are_those_of_the_published_cells(cells):
    """But for sets of nominal values, which are valued by their node."""
    problem = problem_of([KAnonymity(k=2)], 12, 40, cells=cells)
    table = problem.table
    rows = np.arange(table.n_sample)
    costs = CellCosts.of(table, rows)
    pairs = np.stack([rows[:-1], rows[1:]], axis=1)
    own = costs.codes.astype(np.int64)
    got = costs.boxes(np.minimum(own[:-1], own[1:]), np.maximum(own[:-1], own[1:]))
    expected = np.zeros(len(pairs), dtype=np.int64)
    for column in table.quasi:
        cell = of_groups(column, pairs.ravel(), 2 * np.arange(len(pairs) + 1))
        leaves = cell.leaves
        if column.cover is Cover.SET:
            leaves = Nodes().from_records(column, pairs.ravel(), 2 * np.arange(len(pairs) + 1)).leaves
        expected += np.rint(2**30 * (leaves - 1) / max(column.coded.size - 1, 1)).astype(np.int64)
    assert got.tolist() == expected.tolist()


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), farthest=st.booleans(), choosy=st.booleans())
def test_kernel_equals_its_twin(seed, farthest, choosy):
    problem = problem_of([KAnonymity(k=2)], seed % 50, 60, cells=chosen_forms()[seed % len(chosen_forms())])
    generator = np.random.default_rng(seed)
    costs = CellCosts.of(problem.table, np.arange(60))
    starts, ends = np.array([0, 10, 30]), np.array([10, 30, 60])
    corner = costs.codes[generator.integers(0, 60, (3, 2))].astype(np.int64)
    low, high = corner.min(axis=1), corner.max(axis=1)
    kinds = generator.integers(0, 3, 60)
    wanted = generator.random((3, 3 if choosy else 0)) < 0.5
    free = generator.random(60) < 0.7
    out = [np.empty(3, dtype=np.int64) for _ in range(2)]
    arguments = (costs.codes, free, starts, ends, low, high, wanted, kinds, *costs.tables.arrays(), farthest)
    members._extreme_loops(*arguments, out[0])
    members._extreme_numpy(*arguments, out[1])
    assert out[0].tolist() == out[1].tolist()
