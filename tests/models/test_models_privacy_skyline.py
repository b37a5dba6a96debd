"""The privacy skyline against all knowledge of its three kinds, on tiny tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds
from hypothesis import given, settings
from hypothesis import strategies as st
from support_worlds import worlds

from hushtable.models.privacy_skyline import PrivacySkyline, beliefs
from hushtable.table.stats import Histogram


def exhaustive(rows, l, k, m):
    """Belief of every (class, value), given the worst knowledge: whoever the others are, whatever they have."""
    known, n_values = worlds(rows), len(rows[0])
    people = range(known.shape[1])
    first = np.concatenate([[0], np.cumsum([sum(row) for row in rows])])
    out = []
    for group, row in enumerate(rows):
        target = int(first[group])
        others = [p for p in people if p != target]
        for value in [v for v, count in enumerate(row) if count]:
            best = 0.0
            for denied in combinations([v for v in range(n_values) if v != value], l):
                fits = ~np.isin(known[:, target], denied)
                for friends in combinations(others, k):
                    # what they have: any values that some world gives them
                    cases, which = np.unique(known[:, list(friends)], axis=0, return_inverse=True)
                    for case in range(len(cases)):
                        for family in combinations([p for p in others if p not in friends], m):
                            true = fits & (which.reshape(-1) == case)
                            true &= (known[:, target] == value) | ~(known[:, list(family)] == value).any(axis=1)
                            if true.any():
                                best = max(best, float(np.mean(known[true, target] == value)))
            out.append(best)
    return out


@pytest.mark.parametrize("rows", [[[2, 1, 1]], [[2, 2, 1]], [[1, 1, 1], [2, 1, 0]], [[2, 1, 1], [1, 0, 2]]])
@pytest.mark.parametrize(
    "knows", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (0, 0, 2), (1, 1, 1)]
)
def test_no_other_knowledge_tells_more(rows, knows):
    assert beliefs(Histogram.dense(rows), *knows).tolist() == pytest.approx(exhaustive(rows, *knows))


def test_by_hand():
    """Five men, two with flu and two with cancer; five women, two with flu."""
    both = Histogram.dense([[2, 2, 1, 0, 0, 0], [2, 0, 0, 1, 1, 1]])
    # he has no cancer: flu 2 of 3
    assert beliefs(both, 1, 0, 0)[0] == pytest.approx(2 / 3)
    # a friend has mumps, too: flu for certain
    assert beliefs(both, 1, 1, 0)[0] == 1.0
    # his wife's flu is his: 0.4 / (0.4 + 0.6 * 0.6); a brother's: 0.4 / (0.4 + 0.6 * 2/4), which is more
    assert pytest.approx(10 / 19) == 0.4 / (0.4 + 0.6 * 0.6)
    assert beliefs(both, 0, 0, 1)[0] == pytest.approx(4 / 7)


def test_a_family_in_another_class_may_tell_more():
    """Where nearly everybody has flu, somebody with flu is easy to find."""
    rows = [[2, 5, 5, 5], [9, 1, 0, 0]]
    assert beliefs(Histogram.dense(rows), 0, 0, 2)[0] > beliefs(Histogram.dense(rows[:1]), 0, 0, 2)[0]
    table = Counts(np.array(rows), 1)
    assert PrivacySkyline(c=0.9, m=2, on="disease").table_level
    assert not PrivacySkyline(c=0.9, l=2, k=1, on="disease").table_level
    assert PrivacySkyline(c=0.9, m=2, on="disease").score(table.groups, table.table())[0] == pytest.approx(
        2 / (2 + 15 * (1 / 10) * 0)
    )


def score(rows, l, k, m):
    table = Counts(np.array(rows), 1)
    return PrivacySkyline(c=0.5, l=l, k=k, m=m, on="disease").score(table.groups, table.table())


@settings(max_examples=30, deadline=None)
@given(count_tables(groups=(2, 4), values=(2, 5)), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
def test_merging_never_tells_more(counts, l, k, m):
    rows = counts.matrix[counts.matrix.sum(axis=1) > 0]
    merged = np.vstack([rows[:2].sum(axis=0), rows[2:]])
    assert score(merged, l, k, m).max() <= score(rows, l, k, m).max() + 1e-9


@settings(max_examples=30, deadline=None)
@given(count_tables(), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_bounds_for_algorithms_hold(counts, l, k, m, c):
    model = PrivacySkyline(c=c, l=l, k=k, m=m, on="disease")
    good = np.array(holds(model, counts.groups, counts.table()))
    assert (counts.groups.sizes[good] >= model.min_group_size()).all()
    assert (np.count_nonzero(counts.matrix, axis=1)[good] >= model.values_needed()).all()


def test_infeasible():
    two = Counts(np.array([[5, 5]]), 1).table()
    reason = PrivacySkyline(c=0.9, l=1, on="disease").feasible(two)
    assert reason is not None and "has 2 values" in reason.message and reason.hint == "Lower l to 0."
    reason = PrivacySkyline(c=0.5, k=1, on="disease").feasible(two)
    assert reason is not None and "reaches 0.555556 even with the whole table" in reason.message
    assert PrivacySkyline(c=0.6, k=1, on="disease").feasible(two) is None
    assert PrivacySkyline(c=1e-7, l=1, on="disease").min_group_size() > 1e6
