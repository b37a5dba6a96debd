"""Mondrian against a recursive twin written from its description."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st
from support_mondrian import run

from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.table.people import PERSON_UNITS
from hushtable.table.plan import ColumnPlan
from support_core import (
    COUNTRIES,
    ILLNESSES,
    PEOPLE,
    PLACES,
    WHO,
    MondrianTwin,
    distinct_at_least,
    groups_of,
    people_table,
    plan_of,
    share_at_most,
)

AGES = st.one_of(st.none(), st.integers(0, 12), st.sampled_from([-(2**62), 2**62]))

ROWS = st.lists(
    st.tuples(AGES, st.one_of(st.none(), st.sampled_from(COUNTRIES)), st.sampled_from(ILLNESSES)),
    min_size=1,
    max_size=30,
)

PATHS = {country: (continent, country) for continent, countries in PLACES.items() for country in countries}


def twin(rows, accept, **options):
    columns = [[r[0] for r in rows], [r[1] for r in rows]]
    ages = sorted({a for a in columns[0] if a is not None})
    return MondrianTwin(columns, [ages or [0], COUNTRIES], accept, **options)


@given(ROWS, st.integers(2, 4))
def test_strict_with_k_anonymity(rows, k):
    assume(len(rows) >= k)
    _, partition = run(people_table(rows), plan_of([KAnonymity(k=k)]))
    expected = twin(rows, lambda group: True, minimum=k).run()
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}
    assert partition.n_groups == len(expected)


@given(ROWS, st.integers(2, 3), st.sampled_from([2, 3]))
def test_strict_with_distinct_values(rows, k, least):
    illnesses = [r[2] for r in rows]
    assume(len(rows) >= k and len(set(illnesses)) >= least)
    _, partition = run(people_table(rows), plan_of([KAnonymity(k=k), DistinctL(l=least)]))
    expected = twin(rows, distinct_at_least(illnesses, least), minimum=max(k, least)).run()
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}


@given(ROWS)
def test_strict_with_a_bound_on_the_most_frequent_value(rows):
    illnesses = [r[2] for r in rows]
    accept = share_at_most(illnesses, 1 / 2)
    assume(accept(list(range(len(rows)))))
    _, partition = run(people_table(rows), plan_of([ProbabilisticL(l=2)]))
    expected = twin(rows, accept, minimum=2).run()
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}


@given(ROWS, st.integers(2, 3), st.sampled_from([(1.0, 2.5), (0.25, 1.0), (3.0, 0.5)]))
def test_weights_of_columns_decide_which_is_widest(rows, k, importance):
    assume(len(rows) >= k)
    columns = tuple(
        ColumnPlan(c.name, c.role, c.kind, c.hierarchy, weight=w)
        for c, w in zip(PEOPLE, (*importance, 1.0), strict=True)
    )
    _, partition = run(people_table(rows), plan_of([KAnonymity(k=k)], columns))
    expected = twin(rows, lambda group: True, minimum=k, importance=list(importance)).run()
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}


@given(ROWS, st.integers(2, 3))
def test_children_of_nodes(rows, k):
    assume(len(rows) >= k)
    plan = plan_of([KAnonymity(k=k)], algorithm=Mondrian(nominal="children"))
    _, partition = run(people_table(rows), plan)
    expected = twin(rows, lambda group: True, minimum=k, paths=[None, PATHS]).run()
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}


@given(st.lists(st.tuples(AGES, st.sampled_from(COUNTRIES), st.integers(0, 6)), min_size=2, max_size=25))
def test_with_an_entity_column_people_are_counted(rows):
    who = [str(r[2]) for r in rows]
    assume(len(set(who)) >= 2)
    table = people_table([(*r[:2], "flu") for r in rows]).append_column("who", pa.array(who))
    problem, partition = run(table, plan_of([KAnonymity(k=2)], (WHO, *PEOPLE), entity="who"))
    share = [PERSON_UNITS // who.count(w) for w in who]
    expected = twin(rows, lambda group: True, minimum=2 * PERSON_UNITS, weights=share).run()
    if len(set(who)) == len(who):
        expected = twin(rows, lambda group: True, minimum=2).run()
    assert groups_of(partition.labels) == {frozenset(g) for g in expected}
    assert problem.table.sample_units == len(set(who)) * problem.table.unit


def canonical_rank(rows, columns_order):
    order = sorted(range(len(rows)), key=lambda i: columns_order(rows[i]))
    rank = [0] * len(rows)
    for place, i in enumerate(order):
        rank[i] = place
    return rank


@given(ROWS, st.integers(2, 3), st.booleans())
def test_relaxed_may_divide_equal_records(rows, k, with_values):
    illnesses = [r[2] for r in rows]
    assume(len(rows) >= k and len(set(illnesses)) >= 2)
    models = [KAnonymity(k=k), DistinctL(l=2)] if with_values else [KAnonymity(k=k)]
    problem, partition = run(people_table(rows), plan_of(models, algorithm=Mondrian(mode="relaxed")))

    def quasi(r):
        return (r[0] is not None, r[0] or 0), -1 if r[1] is None else COUNTRIES.index(r[1])

    rank = canonical_rank(rows, lambda r: (*quasi(r), ILLNESSES.index(r[2])))
    if with_values:
        # coins order equal records, whose values would decide otherwise
        order = problem.order.tolist()
        rank = [order.index(i) for i in range(len(rows))]
        assert [quasi(rows[i]) for i in order] == sorted(map(quasi, rows))
    accept = distinct_at_least(illnesses, 2) if with_values else (lambda group: True)
    expected = twin(rows, accept, minimum=k, relaxed_rank=rank).run()

    def shown(groups):
        return sorted(sorted(map(repr, (rows[i] for i in g))) for g in groups)

    assert shown(groups_of(partition.labels)) == shown(expected)
