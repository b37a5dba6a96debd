"""(c, k)-safety against all implications there are, on tiny tables."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from count_tables import Counts, count_tables, holds, stats
from hypothesis import given, settings
from hypothesis import strategies as st
from support_worlds import worlds

from hushtable.models.ck_safety import CKSafety, least_products
from hushtable.table.stats import Histogram

# Martin et al.'s hospital: five men, then five women; flu, lung cancer, mumps, breast and ovarian cancer, heart disease
MEN, WOMEN = [2, 2, 1, 0, 0, 0], [2, 0, 0, 1, 1, 1]


def score(rows, k, c=0.5):
    table = Counts(np.array(rows), 1)
    return CKSafety(c=c, k=k, on="disease").score(table.groups, table.table())


def atoms_of(rows):
    """The worlds in which each (person, value) is true, as rows of booleans."""
    known = worlds(rows)
    return np.array([known[:, p] == v for p in range(known.shape[1]) for v in range(len(rows[0]))])


def most_likely(atoms, statements):
    """The greatest probability of any atom over all sets of statements that some world fits."""
    left = statements.sum(axis=1)
    chances = (statements.astype(np.int64) @ atoms.T.astype(np.int64))[left > 0] / left[left > 0, None]
    return chances.max()


@pytest.mark.parametrize("rows", [[[2, 1, 1]], [[1, 1, 1], [2, 1, 0]], [[2, 2, 0], [1, 0, 1]], [[1, 1, 1, 1]]])
@pytest.mark.parametrize("k", [1, 2])
def test_no_simple_implications_tell_more(rows, k):
    atoms = atoms_of(rows)
    implications = np.unique([~a | b for a, b in product(atoms, atoms)], axis=0)
    chosen = np.array(list(combinations_with_replacement(range(len(implications)), k)))
    statements = np.logical_and.reduce([implications[chosen[:, i]] for i in range(k)])
    assert score(rows, k).max() == pytest.approx(most_likely(atoms, statements))


@pytest.mark.parametrize("rows", [[[2, 1, 1]], [[1, 1], [1, 1]], [[2, 1], [1, 1]]])
def test_no_basic_implication_with_two_atoms_on_each_side_tells_more(rows):
    atoms = atoms_of(rows)
    pairs = list(combinations_with_replacement(range(len(atoms)), 2))
    before = np.unique([atoms[a] & atoms[b] for a, b in pairs], axis=0)
    after = np.unique([atoms[a] | atoms[b] for a, b in pairs], axis=0)
    statements = np.unique([~a | b for a, b in product(before, after)], axis=0)
    assert most_likely(atoms, statements) <= score(rows, 1).max() + 1e-12


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=4).filter(lambda r: 2 <= sum(r) <= 6), st.integers(1, 3))
def test_denials_equal_the_least_over_all_sets_of_atoms(row, n):
    atoms = atoms_of([row])
    expected = min(np.mean(~np.logical_or.reduce([atoms[i] for i in a])) for a in combinations(range(len(atoms)), n))
    assert least_products(Histogram.dense([row]), n)[0, n] == pytest.approx(expected)


def test_the_hospital():
    """Worked by hand: Hannah's flu is Charlie's, or Ed has no flu, or no mumps either."""
    charlie, hannah = 0, 5
    known = worlds([MEN, WOMEN])
    spouses = (known[:, hannah] != 0) | (known[:, charlie] == 0)
    assert np.mean(known[spouses, charlie] == 0) == pytest.approx(10 / 19)
    # 1 - S2: one of five men has neither of the two frequent values, two have the one: 1 / (1 + (1/5) / (2/5))
    # two women without flu: (3/5)(2/4), against 2/5: 1 / (1 + 3/4)
    assert score([MEN, WOMEN], 1).tolist() == pytest.approx([2 / 3, 4 / 7])
    assert score([MEN, WOMEN], 0).tolist() == pytest.approx([0.4, 0.4])
    assert score([MEN, WOMEN], 2)[0] == 1.0


def test_other_classes_tell_something():
    """A pair beside helps: its people are denied a value at no cost to the class itself."""
    alone, beside = score([[5, 4, 4, 4]], 1)[0], score([[5, 4, 4, 4], [9, 1, 1, 1]], 1)[0]
    assert beside > alone


@settings(max_examples=30, deadline=None)
@given(count_tables(groups=(2, 4), values=(2, 5)), st.integers(0, 3))
def test_merging_never_tells_more(counts, k):
    rows = counts.matrix[counts.matrix.sum(axis=1) > 0]
    merged = np.vstack([rows[:2].sum(axis=0), rows[2:]])
    assert score(merged, k).max() <= score(rows, k).max() + 1e-9


@settings(max_examples=30, deadline=None)
@given(count_tables(), st.integers(0, 3), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_bounds_for_algorithms_hold(counts, k, c):
    model = CKSafety(c=c, k=k, on="disease")
    good = np.array(holds(model, counts.groups, counts.table()))
    assert (counts.groups.sizes[good] >= model.min_group_size()).all()
    assert (np.count_nonzero(counts.matrix, axis=1)[good] >= model.values_needed()).all()


def test_candidate_tables_are_judged_apart():
    rows = [[3, 3, 3, 3], [9, 1, 1, 1], [3, 3, 3, 3]]
    table = Counts(np.array(rows), 1)
    model = CKSafety(c=0.45, k=1, on="disease")
    from dataclasses import replace

    two = replace(stats(rows), tables=np.array([0, 2, 3]))
    assert model.table_satisfied(two, table.table()).tolist() == [False, True]
    assert model.score(two, table.table())[2] == score([rows[2]], 1)[0]


def test_infeasible():
    two = Counts(np.array([[5, 5]]), 1).table()
    reason = CKSafety(c=0.9, k=1, on="disease").feasible(two)
    assert reason is not None and "has 2 values" in reason.message and reason.hint == "Lower k to 0."
    reason = CKSafety(c=0.3, k=1, on="disease").feasible(Counts(np.array([[5, 5, 5]]), 1).table())
    assert reason is not None and "even with the whole table as one class" in reason.message
    assert CKSafety(c=0.6, k=1, on="disease").feasible(Counts(np.array([[5, 5, 5]]), 1).table()) is None
