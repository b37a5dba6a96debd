from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from count_tables import Counts, count_tables, histogram, holds, stats
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import Monotone, Stat
from hushtable.models.bayes_optimal import BayesOptimal
from hushtable.table.reference import Attribute, Reference

BINARY = Reference.of(8, Attribute.of("disease", ["HIV", "flu"], [2, 6]))


def with_background(matrix, masses, unit=1):
    """Groups with a background: ``masses[g]`` maps q to the list of its f(q, s), in whole units."""
    n_values = len(matrix[0])
    n_quasi = 1 + max((q for m in masses for q in m), default=0)
    dense = np.zeros((len(matrix), n_quasi * n_values), dtype=np.int64)
    for row, mass in zip(dense, masses, strict=True):
        for q, f in mass.items():
            row[q * n_values : (q + 1) * n_values] = f
    known = histogram(dense, max(int(dense.sum()), 1))
    counts = Counts(np.array(matrix), unit)
    groups = replace(counts.groups, background=known)
    table = replace(counts.table(), background=known.merge(np.zeros(len(matrix), int), 1), background_values=n_values)
    return groups, table


def twin_without(row, units):
    if not sum(row):
        return float("inf")
    return float(max(abs(Fraction(c, sum(row)) - Fraction(u, sum(units))) for c, u in zip(row, units, strict=True)))


def twin_with(row, mass, units):
    """The slides' formula, person by person, with the conventions of the module where it divides by 0."""
    if not sum(row):
        return float("inf")
    mass = {q: f for q, f in mass.items() if sum(f)}
    if not mass:
        return twin_without(row, units)
    whole = sum(map(sum, mass.values()))
    gaps = []
    for f in mass.values():
        prior = [Fraction(x, sum(f)) for x in f]
        weight = []
        for s, n in enumerate(row):
            class_share = Fraction(sum(g[s] for g in mass.values()), whole)
            weight.append(n * (prior[s] / class_share if class_share else 1))
        total = sum(weight)
        gaps += [abs(a - w / total) for a, w in zip(prior, weight, strict=True)] if total else [Fraction(1)]
    return float(max(gaps))


@settings(max_examples=150, deadline=None)
@given(count_tables())
def test_without_background_score_equals_the_slow_twin(counts):
    units = counts.matrix.sum(axis=0).tolist()
    score = BayesOptimal(theta=0.5, on="disease").score(counts.groups, counts.table())
    assert score.tolist() == pytest.approx([twin_without(r, units) for r in counts.matrix.tolist()])


@st.composite
def backgrounds(draw):
    counts = draw(count_tables(values=(1, 3)))
    n_values = counts.matrix.shape[1]
    mass = st.dictionaries(
        st.integers(0, 4), st.lists(st.integers(0, 4), min_size=n_values, max_size=n_values), max_size=3
    )
    return counts, [draw(mass) for _ in counts.matrix]


@settings(max_examples=250, deadline=None)
@given(backgrounds())
def test_with_background_score_equals_the_slow_twin(case):
    counts, masses = case
    groups, table = with_background(counts.matrix, masses, counts.unit)
    units = counts.matrix.sum(axis=0).tolist()
    score = BayesOptimal(theta=0.5, background=True, on="disease").score(groups, table)
    expected = [twin_with(r, m, units) for r, m in zip(counts.matrix.tolist(), masses, strict=True)]
    assert score.tolist() == pytest.approx(expected)


def test_allard_don():
    # f(Don) = 0.1, 0.01, 0.14 and f(anybody else) = 1/12 each, in units of 1/300; Cold, Flu, HIV
    groups, table = with_background([[1, 0, 1]], [{0: [30, 3, 42], 1: [25, 25, 25]}])
    model = BayesOptimal(theta=0.1, background=True, on="disease")
    beliefs = model.beliefs(groups, table)
    don = beliefs.quasi == 0
    assert beliefs.prior[don] == pytest.approx([0.4, 0.04, 0.56])
    assert beliefs.posterior[don].round(4).tolist() == [0.4653, 0.0, 0.5347]
    # Don's own gap is 0.0653; about the other person of the class flu is ruled out, a third of the prior
    assert np.abs(beliefs.prior - beliefs.posterior)[don].max() == pytest.approx(0.0653, abs=5e-5)
    assert model.score(groups, table).tolist() == pytest.approx([1 / 3])


def test_theta_is_strict():
    assert holds(BayesOptimal(theta=0.25, on="disease"), stats([[2, 2], [1, 3], [0, 0]]), BINARY) == [
        False,
        True,
        False,
    ]
    assert holds(BayesOptimal(theta=0.2501, on="disease"), stats([[2, 2]]), BINARY) == [True]


def test_a_class_of_people_who_are_all_one_to_the_adversary_shows_its_shares():
    groups, table = with_background([[3, 1]], [{0: [1, 1]}])
    assert BayesOptimal(theta=0.5, background=True, on="disease").score(groups, table).tolist() == [0.25]


def test_what_was_held_impossible_is_a_gap_by_itself():
    # nobody of the class can have the second value, says the background; half of them do
    groups, table = with_background([[2, 2]], [{0: [5, 0], 1: [3, 0]}])
    assert BayesOptimal(theta=0.9, background=True, on="disease").score(groups, table).tolist() == [0.5]


def test_belief_collapses_where_the_class_has_nothing_that_was_possible():
    # about person 0 only the first value was possible; the class holds the second alone
    groups, table = with_background([[0, 2]], [{0: [5, 0], 1: [0, 5]}])
    assert BayesOptimal(theta=1, background=True, on="disease").score(groups, table).tolist() == [1.0]


@settings(max_examples=100, deadline=None)
@given(count_tables(groups=(2, 2)))
def test_without_background_merging_satisfied_groups_keeps_them_satisfied(counts):
    other = Counts(counts.matrix * np.array([[1], [4]]), counts.unit).table()
    worst = float(BayesOptimal(theta=1, on="disease").score(counts.groups, other).max())
    if worst < 0.99:
        model = BayesOptimal(theta=worst + 1e-6, on="disease")
        assert model.monotone is Monotone.MERGE
        assert holds(model, counts.groups, other) == [True, True]
        assert holds(model, counts.groups.whole(), other) == [True]


def test_with_background_merging_two_satisfied_groups_may_violate():
    # each class agrees with what was believed; together the large one overrules the belief about both
    groups, table = with_background([[90, 10], [1, 9]], [{0: [9, 1]}, {1: [1, 9]}])
    model = BayesOptimal(theta=0.05, background=True, on="disease")
    assert model.monotone is Monotone.NONE
    assert holds(model, groups, table) == [True, True]
    assert holds(model, groups.whole(), table) == [False]


def test_adding_or_removing_a_record_may_violate():
    model = BayesOptimal(theta=0.05, on="disease")
    assert holds(model, stats([[1, 3], [2, 3], [1, 2]]), BINARY) == [True, False, False]


def test_needs_follow_the_adversary():
    assert BayesOptimal(theta=0.1, on="disease").stats_needed() == {Stat.SIZE, Stat.HISTOGRAM}
    assert Stat.BACKGROUND in BayesOptimal(theta=0.1, background=True, on="disease").stats_needed()


@given(count_tables())
def test_without_background_the_whole_table_is_feasible(counts):
    assert BayesOptimal(theta=0.01, on="disease").feasible(counts.table()) is None


def test_refusals():
    with pytest.raises(PolicyError, match="needs a background table"):
        BayesOptimal(theta=0.1, background=True, on="disease").feasible(BINARY)
    groups, table = with_background([[1, 1]], [{0: [1, 1]}])
    assert BayesOptimal(theta=0.1, background=True, on="disease").feasible(table) is None
    with pytest.raises(PolicyError, match="the background table is about another column"):
        BayesOptimal(theta=0.1, background=True, on="disease").score(groups, replace(table, background_values=5))
    reason = BayesOptimal(theta=1, on="disease").feasible(Reference.of(0, Attribute.of("disease", ["a"], [0])))
    assert reason is not None
    assert "no values at all" in reason.message
    with pytest.raises(ParameterError, match=r"'theta' parameter of BayesOptimal must be a float in \(0, 1\]"):
        BayesOptimal(theta=0)
