"""Bottom-up generalization and top-down specialization against twins that count records anew for every step."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_lattice import problem_of

from hushtable.algorithms.lattice.bottom_up_generalization import BottomUpGeneralization
from hushtable.algorithms.lattice.cuts import NodeTree
from hushtable.algorithms.lattice.top_down_specialization import TopDownSpecialization
from hushtable.engines import local
from hushtable.errors import Cancelled, NotFound, ParameterError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.schema.columns import Kind
from hushtable.testing.cases import chosen_forms, random_case
from hushtable.testing.examples import model_examples
from support_core import WORLD, groups_of, people_table, plan_of, quasi, sensitive

ANY = {
    "name": st.sampled_from(sorted(models)),
    "seed": st.integers(0, 10_000),
    "rows": st.integers(1, 20),
    "limit": st.sampled_from([0.0, 0.0, 0.2, 0.6]),
}


def drawn(name, seed, rows, limit):
    chosen = model_examples(models[name], random_case(seed, rows), 1)
    assume(chosen)
    return problem_of([*chosen, KAnonymity(k=2)], seed, rows, limit)


def leaf_sets(coded):
    """The leaves under every node of every level."""
    return {frozenset(np.flatnonzero(level == n).tolist()) for level in coded.levels for n in np.unique(level)}


class Twin:
    """Cuts as sets of leaves, groups as lists of rows."""

    def __init__(self, problem, target):
        self.problem, table = problem, problem.table
        self.table = table
        self.weights = table.row_units.tolist() if len(table.row_units) else [1] * table.n_rows
        self.trees = []
        for column in table.quasi:
            self.trees.append(leaf_sets(column.coded))
        self.classes = None
        if target is not None:
            self.classes = next(c for c in table.sensitive if c.name == target).codes.tolist()

    def children(self, j, node):
        smaller = [s for s in self.trees[j] if s < node]
        return [s for s in smaller if not any(s < t for t in smaller)]

    def groups(self, cut):
        found = defaultdict(list)
        for r in range(self.table.n_rows):
            key = tuple(
                next(i for i, s in enumerate(nodes) if int(c.codes[r]) in s)
                for c, nodes in zip(self.table.quasi, cut, strict=True)
            )
            found[key].append(r)
        return list(found.values())

    def judge(self, cut):
        """(fits, units lost, least kept size, labels)."""
        groups = self.groups(cut)
        labels = np.zeros(self.table.n_rows, dtype=np.int64)
        for g, rows in enumerate(groups):
            labels[rows] = g
        model = self.problem.model
        stats = self.table.stats_of(labels, len(groups), sorted(model.histogram_keys()))
        there = [g for g in range(len(groups)) if stats.units[g] > 0]
        good = model.part(table_level=False).satisfied(stats.take(there), self.problem.reference)
        bad = {g for g, ok in zip(there, good, strict=True) if not ok}
        kept = [g for g in there if g not in bad]
        lost = sum(int(stats.units[g]) for g in bad)
        fits = lost <= self.problem.budget and bool(kept)
        if fits:
            fits = bool(model.part(table_level=True).table_satisfied(stats.take(kept), self.problem.reference)[0])
        least = min((int(stats.units[g]) for g in kept), default=None)
        return fits, lost, least, [-1 if g in bad else int(g) for g in labels]

    def gain(self, j, node):
        column = self.table.quasi[j]
        rows = [r for r in range(self.table.n_sample) if int(column.codes[r]) in node]
        if self.classes is None:
            size = max(column.coded.size - 1, 1)
            lost = lambda part, own: own * (len(part) - 1) / size  # noqa: E731
            own = lambda part: sum(self.weights[r] for r in rows if int(column.codes[r]) in part)  # noqa: E731
            total = lost(node, own(node)) - sum(lost(c, own(c)) for c in self.children(j, node))
            return total * column.weight / sum(self.weights[: self.table.n_sample]), True
        count = lambda part: sum(self.weights[r] for r in rows if int(column.codes[r]) in part)  # noqa: E731
        if not rows:
            return 0.0, False
        parts = [(c, [r for r in rows if int(column.codes[r]) in c]) for c in self.children(j, node)]
        below = sum(count(c) * self.entropy(part) for c, part in parts)
        several = len({self.classes[r] for r in rows}) > 1
        return self.entropy(rows) - below / count(node), several

    def entropy(self, rows):
        found = Counter()
        for r in rows:
            found[self.classes[r]] += self.weights[r]
        total = sum(found.values())
        return -sum(n / total * math.log2(n / total) for n in found.values())

    def numbered(self, j, node):
        """The place of a node among its column's, as the tree numbers them."""
        tree = NodeTree.of(self.table.quasi[j].coded)
        return next(n for n in range(tree.size) if set(np.flatnonzero((tree.paths == n).any(axis=0)).tolist()) == node)

    def down(self, beneficial):
        cut = [[max(sets, key=len)] for sets in self.trees]
        fits, _, least, labels = self.judge(cut)
        if not fits:
            return None
        while True:
            found = []
            for j, nodes in enumerate(cut):
                for node in nodes:
                    if len(node) == 1:
                        continue
                    gain, several = self.gain(j, node)
                    if beneficial and not several:
                        continue
                    finer = [n for n in nodes if n != node] + self.children(j, node)
                    tried = [finer if i == j else other for i, other in enumerate(cut)]
                    ok, _, now, after = self.judge(tried)
                    if ok:
                        price = max(least - now, 0) / self.table.unit + 1
                        found.append((-round(max(gain, 0) / price, 12), j, self.numbered(j, node), tried, now, after))
            if not found:
                return cut, labels
            _, _, _, cut, least, labels = min(found, key=lambda f: f[:3])

    def up(self):
        cut = [[s for s in sets if len(s) == 1] for sets in self.trees]
        while True:
            fits, lost, _, labels = self.judge(cut)
            if fits:
                return cut, labels
            found = []
            for j, nodes in enumerate(cut):
                for node in self.trees[j]:
                    children = self.children(j, node)
                    if len(node) == 1 or not all(c in nodes for c in children):
                        continue
                    coarser = [n for n in nodes if n not in children] + [node]
                    tried = [coarser if i == j else other for i, other in enumerate(cut)]
                    gained = lost - self.judge(tried)[1]
                    loss = max(self.gain(j, node)[0], 0)
                    people = gained / self.table.unit
                    price = round(loss / people if people > 0 else loss, 12)
                    found.append((price, -gained, j, self.numbered(j, node), tried))
            if not found:
                return None
            cut = min(found, key=lambda f: f[:4])[4]


def compare(algorithm, problem, expected):
    try:
        partition = algorithm.run(problem)
    except NotFound:
        assert expected is None
        return
    assert expected is not None
    cut, labels = expected
    assert groups_of(partition.labels) == groups_of(labels)
    for column, levels, nodes in zip(problem.table.quasi, partition.cuts, cut, strict=True):
        mine = {
            frozenset(np.flatnonzero(column.coded.levels[h] == column.coded.levels[h][leaf]).tolist())
            for leaf, h in enumerate(levels.tolist())
        }
        assert mine == set(nodes)


@settings(max_examples=40)
@given(**ANY, beneficial=st.booleans())
def test_top_down(name, seed, rows, limit, beneficial):
    problem = drawn(name, seed, rows, limit)
    algorithm = TopDownSpecialization(target="disease", beneficial=beneficial)
    compare(algorithm, problem, Twin(problem, "disease").down(beneficial))


@settings(max_examples=40)
@given(**ANY)
def test_bottom_up(name, seed, rows, limit):
    problem = drawn(name, seed, rows, limit)
    compare(BottomUpGeneralization(target="income"), problem, Twin(problem, "income").up())


PLACES = [("China", 3), ("Japan", 3), ("France", 2), ("Italy", 1), ("Spain", 1)]


def places(algorithm, **options):
    """No sensitive column: what is measured is the loss."""
    rows = [(country,) for country, n in PLACES for _ in range(n)]
    columns = (quasi("country", Kind.NOMINAL, hierarchy=WORLD),)
    plan = plan_of([KAnonymity(k=2)], columns, algorithm, **options)
    return local.run(people_table(rows, ("country",)), plan)


@pytest.mark.parametrize("algorithm", [BottomUpGeneralization(), TopDownSpecialization()])
def test_without_classes_and_published_at_the_nodes_of_the_cut(algorithm):
    """Asia is specialized, Europe is not: Italy and Spain would stand alone."""
    for style in (form for form in chosen_forms() if not form.any_groups):
        shown = places(algorithm, cells=style).published.column("country").to_pylist()
        assert Counter(shown) == {"China": 3, "Japan": 3, "Europe": 4}


@pytest.mark.parametrize("algorithm", [BottomUpGeneralization(), TopDownSpecialization()])
def test_suppression_buys_detail(algorithm):
    shown = places(algorithm, suppression=0.2).published.column("country").to_pylist()
    assert Counter(shown) == {"China": 3, "Japan": 3, "France": 2}


def test_a_class_of_one_value_is_not_worth_telling_apart():
    asia = WORLD.tree["Asia"]
    rows = [(c, "flu" if c in asia else ["HIV", "cold"][i % 2]) for c, n in PLACES for i in range(2 * n)]
    columns = (quasi("country", Kind.NOMINAL, hierarchy=WORLD), sensitive("illness"))
    table = people_table(rows, ("country", "illness"))
    shown = {}
    for beneficial in (True, False):
        plan = plan_of([KAnonymity(k=2)], columns, TopDownSpecialization(beneficial=beneficial))
        shown[beneficial] = set(local.run(table, plan).published.column("country").to_pylist())
    assert shown[True] == {"Asia", "France", "Italy", "Spain"}
    assert shown[False] == {"China", "Japan", "France", "Italy", "Spain"}


@pytest.mark.parametrize("algorithm", [BottomUpGeneralization, TopDownSpecialization])
def test_a_target_that_is_not_there(algorithm):
    problem = problem_of([KAnonymity(k=2)], 3)
    with pytest.raises(ParameterError, match="Did you mean 'disease'"):
        algorithm(target="diseases").run(problem)


@pytest.mark.parametrize("algorithm", [BottomUpGeneralization(), TopDownSpecialization()])
def test_cancelled(algorithm):
    def stop(share, what):
        raise Cancelled("Stopped.")

    case = random_case(8, 60)
    with pytest.raises(Cancelled):
        local.run(case.table, case.plan([KAnonymity(k=3)], algorithm), lambda s, w: stop(s, w) if "is" in w else None)


@given(seed=st.integers(0, 10_000))
def test_the_tree_has_every_set_of_leaves_once(seed):
    for column in problem_of([KAnonymity(k=2)], seed).table.quasi:
        tree = NodeTree.of(column.coded)
        sets = leaf_sets(column.coded)
        mine = [frozenset(np.flatnonzero((tree.paths == n).any(axis=0)).tolist()) for n in range(tree.size)]
        assert len(mine) == len(sets) and set(mine) == sets
        assert tree.leaves.tolist() == [len(s) for s in mine]
