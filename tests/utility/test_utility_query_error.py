from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from statistics import median

import pytest
from hypothesis import given
from support_utility import comparisons, make_coded, make_comparison, rows_of, weights_of

from hushtable.errors import ParameterError
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.query_error import QueryError, answers, draw_queries, true_counts


def hits(comparison, query):
    return comparison.over_tuples(partial(true_counts, [query]))[0]


@given(comparisons())
def test_against_rows(comparison):
    rows = rows_of(comparison)
    errors, weights = [], weights_of(comparison)
    queries = draw_queries(comparison, 20, 0.3)
    for query, answered in zip(queries, answers(comparison, queries), strict=True):
        true, estimate = 0, 0.0
        for row, weight in zip(rows, weights, strict=True):
            true += weight * all(low <= row[j].code <= high for j, low, high in query)
            if not row[0].suppressed:
                estimate += weight * math.prod(
                    len(row[j].covered & set(range(low, high + 1))) / len(row[j].covered) for j, low, high in query
                )
        assert math.isclose(hits(comparison, query), true, abs_tol=1e-9)
        assert math.isclose(answered, estimate, abs_tol=1e-9)
        errors.append(abs(estimate - true) / max(true, 0.25 * sum(weights)))
    got = QueryError(queries=20, selectivity=0.3, sanity=0.25).compute(comparison)
    assert got == pytest.approx(median(errors) if errors else math.nan, nan_ok=True, abs=1e-9)


@given(comparisons())
def test_queries_fit_the_columns(comparison):
    varying = [j for j, c in enumerate(comparison.table.quasi) if c.coded.size - c.coded.missing > 1]
    queries = draw_queries(comparison, 30, 0.5)
    assert len(queries) == (30 if varying else 0)
    for query in queries:
        columns = [j for j, _, _ in query]
        assert len(set(columns)) == len(columns)
        assert min(2, len(varying)) <= len(columns) <= min(3, len(varying))
        for j, low, high in query:
            coded = comparison.table.quasi[j].coded
            values = coded.size - coded.missing
            assert int(coded.missing) <= low <= high < coded.size
            assert high - low + 1 == max(1, round(values * 0.5 ** (1 / len(columns))))


def wide(labels, seed=0):
    a, b, c = (
        make_coded(Kind.NUMERIC, 20, False),
        make_coded(Kind.NOMINAL, 5, False),
        make_coded(Kind.DATE, 9, True),
    )
    rows = range(60)
    columns = [
        ([7 * i % 20 for i in rows], a, Ranges(), 1.0),
        ([3 * i % 5 for i in rows], b, Sets(), 1.0),
        ([11 * i % 10 for i in rows], c, Ranges(), 1.0),
    ]
    return make_comparison(columns, labels, seed=seed)


def test_untouched_answers_exactly_and_coarse_does_not():
    assert QueryError(queries=50).compute(wide(list(range(60)))) == pytest.approx(0, abs=1e-12)
    assert QueryError(queries=50, selectivity=0.5).compute(wide([0] * 60)) > 0.01
    assert QueryError(queries=50, selectivity=1.0).compute(wide([-1] * 60)) == 1


def test_the_seed_decides():
    release = wide([i // 6 for i in range(60)])
    asked = draw_queries(release, 10, 0.2)
    assert draw_queries(release, 10, 0.2) == asked
    assert draw_queries(release, 4, 0.2) == asked[:4]
    assert draw_queries(replace(release, seed=1), 10, 0.2) != asked


def test_releases_of_one_table_are_asked_the_same():
    assert draw_queries(wide([0] * 60), 10, 0.2) == draw_queries(wide(list(range(60))), 10, 0.2)


def test_undefined_where_nothing_varies():
    release = make_comparison([([0, 0], make_coded(Kind.NOMINAL, 1, False), Sets(), 1.0)], [0, 0])
    assert math.isnan(QueryError().compute(release))


def test_by_hand():
    # class [0, 3] of four records; range 1..2 holds half of its leaves
    coded = make_coded(Kind.NUMERIC, 5, False)
    release = make_comparison([([0, 0, 3, 3, 4], coded, Ranges(), 1.0)], [0, 0, 0, 0, -1])
    assert answers(release, [((0, 1, 2),)]).tolist() == [2]
    assert hits(release, ((0, 1, 2),)) == 0
    assert answers(release, [((0, 3, 4),)]).tolist() == [1]
    assert hits(release, ((0, 3, 4),)) == 3


def test_by_hand_with_survey_weights():
    # class [0, 3] stands for 10 + 20 + 30 + 40 people, half of its leaves are in 1..2; the suppressed record for 50
    coded = make_coded(Kind.NUMERIC, 5, False)
    weights = [10, 20, 30, 40, 50]
    release = make_comparison([([0, 0, 3, 3, 4], coded, Ranges(), 1.0)], [0, 0, 0, 0, -1], weights=weights)
    assert answers(release, [((0, 1, 2),)]).tolist() == [50]
    assert hits(release, ((0, 1, 2),)) == 0
    assert answers(release, [((0, 3, 4),)]).tolist() == [25]
    assert hits(release, ((0, 3, 4),)) == 120
    assert QueryError().about(release) == "by survey weights"
    # everything is asked for: 100 of 150 people
    assert QueryError(queries=1, selectivity=1.0).compute(release) == pytest.approx(1 / 3)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="'sanity' parameter of QueryError must be a float in"):
        QueryError(sanity=0.0)
