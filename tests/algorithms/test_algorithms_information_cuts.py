"""Information cuts against a recursive twin written from their description, and what the refinement keeps."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_mondrian import run

from hushtable.algorithms.partition.information_cuts import BINS, InformationCuts, coarse_bins
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.algorithms.refining.swaps import refine_for_samples
from hushtable.engines import local
from hushtable.errors import IncompatibleError
from hushtable.kernels.information import amount, fixed_log2
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan
from hushtable.testing.plain_store import PlainStore
from support_core import COUNTRIES, ILLNESSES, PEOPLE, groups_of, people_table, plan_of, random_people

AGES = st.one_of(st.none(), st.integers(0, 12), st.integers(0, 100))

ROWS = st.lists(
    st.tuples(AGES, st.one_of(st.none(), st.sampled_from(COUNTRIES)), st.sampled_from(ILLNESSES)),
    min_size=1,
    max_size=40,
)


class Twin:
    """One group at a time, one candidate at a time."""

    def __init__(self, table, minimum, accept=lambda group: True):
        self.codes = [c.codes.astype(int).tolist() for c in table.quasi]
        self.missing = [c.coded.missing for c in table.quasi]
        units = [np.bincount(c.codes, minlength=c.coded.size) for c in table.quasi]
        self.bins = [coarse_bins(u, m).tolist() for u, m in zip(units, self.missing, strict=True)]
        self.minimum, self.accept = minimum, accept
        self.rows = list(range(table.n_rows))

    def divide(self, group):
        best = {}
        for j in range(len(self.codes)):
            for cut in self.thresholds(group, j):
                best[j] = max(best.get(j, (-(10**30), 0)), (self.score(group, j, cut), -cut))
        for j in sorted(best, key=lambda j: (-best[j][0], j)):
            left = [r for r in group if self.codes[j][r] <= -best[j][1]]
            right = [r for r in group if r not in left]
            if self.accept(left) and self.accept(right):
                return self.divide(left) + self.divide(right)
        return [group]

    def thresholds(self, group, j):
        codes = [self.codes[j][r] for r in group]
        found, octile = [], 1
        for code in sorted(set(codes))[:-1]:
            below = sum(c <= code for c in codes)
            large = min(below, len(group) - below) >= self.minimum
            if large and (8 * below >= octile * len(group) or (code == 0 and self.missing[j])):
                found.append(code)
            octile = max(octile, 8 * below // len(group) + 1)
        return found

    def score(self, group, j, cut):
        sides = [[r for r in group if (self.codes[j][r] <= cut) is left] for left in (True, False)]
        bins = [[self.bins[c][self.codes[c][r]] for r in self.rows] for c in range(len(self.codes))]
        if all(len({of[r] for r in group}) == 1 for of in bins):
            places = [self.thresholds(group, c) for c in range(len(self.codes))]
            bins = [[sum(p < self.codes[c][r] for p in places[c]) for r in self.rows] for c in range(len(self.codes))]
        told = sum(
            information([len(s) for s in sides])
            - sum(information([sum(of[r] == b for r in s) for s in sides]) for b in {of[r] for r in group})
            for of in bins
        )
        return 16 * (told + sum(self.room(s) for s in sides) - self.room(group))

    def room(self, group):
        return len(group) * int(fixed_log2(np.array(len(group) // self.minimum)))


def information(parts):
    """What it takes to say which part each member of a whole is in."""
    return int(amount(np.array(sum(parts))) - sum(int(amount(np.array(p))) for p in parts))


@given(ROWS, st.integers(2, 4))
def test_against_a_twin(rows, k):
    assume(len(rows) >= k)
    problem, partition = run(people_table(rows), plan_of([KAnonymity(k=k)], algorithm=InformationCuts()))
    twin = Twin(problem.table, k)
    expected = twin.divide(twin.rows)
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}
    assert partition.n_groups == len(expected)


@given(ROWS, st.integers(2, 3))
def test_refused_cuts_give_way_to_the_next_best_column(rows, k):
    illness = [r[2] for r in rows]
    assume(len(rows) >= k and len(set(illness)) >= 2)
    models = [KAnonymity(k=k), DistinctL(l=2)]
    problem, partition = run(people_table(rows), plan_of(models, algorithm=InformationCuts()))
    twin = Twin(problem.table, k, lambda group: len({illness[r] for r in group}) >= 2)
    assert groups_of(partition.labels) == {frozenset(g) for g in twin.divide(twin.rows)}


def test_cuts_the_column_that_tells_about_others():
    # age is the widest column and tells nothing; the countries of birth and residence tell about each other
    rows = [(age, COUNTRIES[age % 2], "flu") for age in range(40)]
    table = people_table([(a, c, i, c) for a, c, i in rows], ("age", "country", "illness", "born"))
    columns = [*PEOPLE, ColumnPlan("born", Role.QUASI)]
    informed = run(table, plan_of([KAnonymity(k=20)], columns, InformationCuts()))[1]
    assert groups_of(informed.labels) == {frozenset(range(0, 40, 2)), frozenset(range(1, 40, 2))}


def test_bins_hold_equally_many_people_and_missing_values_stand_alone():
    bins = coarse_bins(np.array([7, *([1] * 40)]), missing=True)
    assert bins[0] == 0 and Counter(bins[1:].tolist()) == dict.fromkeys(range(1, BINS + 1), 2)
    assert coarse_bins(np.array([500, *([1] * 30)]), missing=False).max() == BINS - 1


def held_apart(problem, partition):
    """How far the counts of two columns' values that dealing lets expect are from those of the table."""
    codes = [c.codes.astype(int) for c in problem.table.quasi]
    found = np.zeros((codes[0].max() + 1, codes[1].max() + 1))
    np.add.at(found, (codes[0], codes[1]), -1.0)
    for g in range(partition.n_groups):
        mine = partition.labels == g
        a, b = (np.bincount(c[mine], minlength=c.max() + 1) for c in codes)
        found += np.outer(a, b) / mine.sum()
    return float(np.abs(found).sum())


def test_refining_keeps_sizes_and_tells_more_about_pairs():
    problem, plain = run(random_people(600, 1), plan_of([KAnonymity(k=40)], algorithm=InformationCuts()))
    refined = InformationCuts(refine=True).run(problem)
    assert np.bincount(refined.labels).tolist() == np.bincount(plain.labels).tolist()
    assert held_apart(problem, refined) < held_apart(problem, plain)
    assert refined.regions is None and plain.regions is not None
    assert refined.notes["refine_rounds"] > 0


@settings(max_examples=15)
@given(st.lists(ROWS.filter(len).map(lambda r: r[0]), min_size=12, max_size=60), st.randoms(use_true_random=False))
def test_refining_asks_every_model_and_minds_no_order(rows, random):
    assume(len({r[2] for r in rows}) >= 2)
    plan = plan_of([KAnonymity(k=2), DistinctL(l=2)], algorithm=InformationCuts(refine=True))
    problem, partition = run(people_table(rows), plan)
    stats = problem.table.stats_of(partition.labels, partition.n_groups, problem.model.histogram_keys())
    assert problem.model.satisfied(stats, problem.reference).all()
    order = list(range(len(rows)))
    random.shuffle(order)
    _, other = run(people_table([rows[i] for i in order]), plan)

    def held(labels, of):
        members = [sorted(map(str, (of[i] for i in np.flatnonzero(labels == g)))) for g in range(labels.max() + 1)]
        return sorted(members)

    assert held(partition.labels, rows) == held(other.labels, [rows[i] for i in order])


def test_a_time_limit_stops_refining_and_is_noted():
    plan = plan_of([KAnonymity(k=5), TCloseness(t=0.4)], algorithm=InformationCuts(refine=True))
    problem = local.problem_of(random_people(200, 3), plan)
    partition = Mondrian().run(problem)
    bins = [coarse_bins(np.bincount(c.codes), c.coded.missing) for c in problem.table.quasi]
    refined = refine_for_samples(problem, partition, bins, np.array([16, 16]), seconds=1e-9)
    assert refined.notes["stopped_by_time"] is True
    assert refined.labels.tolist() == partition.labels.tolist()


@pytest.mark.parametrize(("settings", "together"), [({}, True), ({"refine": True}, False)])
def test_equal_records_stay_together_unless_refined(settings, together):
    problem = local.problem_of(random_people(60, 3), plan_of([KAnonymity(k=3)]))
    far = replace(problem, store=PlainStore(problem, 10**6, 1))
    if together:
        assert len(InformationCuts(**settings).run(far).labels) <= 60
    else:
        with pytest.raises(IncompatibleError, match="records are remote"):
            InformationCuts(**settings).run(far)
