import numpy as np
import pytest
from count_tables import count_tables, histogram
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hushtable.models.t_closeness import equal_distance, hierarchical_distance, ordered_distance


def transport(p, q, ground):
    """Least work that turns p into q: the definition, as a linear program."""
    n = len(p)
    rows = np.kron(np.eye(n), np.ones(n))
    columns = np.kron(np.ones(n), np.eye(n))
    result = linprog(ground.ravel(), A_eq=np.vstack([rows, columns])[:-1], b_eq=np.concatenate([p, q])[:-1])
    assert result.status == 0
    return result.fun


def check(counts, ours, ground):
    matrix = counts.matrix
    table = matrix.sum(axis=0) / matrix.sum()
    for row, distance in zip(matrix, ours, strict=True):
        if row.sum():
            assert distance == pytest.approx(transport(row / row.sum(), table, ground), abs=1e-9)
        else:
            assert distance == np.inf


@settings(max_examples=60, deadline=None)
@given(count_tables())
def test_equal_is_the_transport_with_all_values_one_apart(counts):
    n = counts.matrix.shape[1]
    ours = equal_distance(histogram(counts.matrix, counts.unit), counts.matrix.sum(axis=0))
    check(counts, ours, 1.0 - np.eye(n))


@settings(max_examples=60, deadline=None)
@given(count_tables())
def test_ordered_is_the_transport_along_a_line(counts):
    n = counts.matrix.shape[1]
    place = np.arange(n) / max(n - 1, 1)
    ours = ordered_distance(histogram(counts.matrix, counts.unit), counts.matrix.sum(axis=0))
    check(counts, ours, np.abs(place[:, None] - place))


@st.composite
def hierarchies(draw, n_values):
    """Nested levels above n values; the last has one node."""
    levels = [np.arange(n_values)]
    for _ in range(draw(st.integers(0, 2))):
        nodes = int(levels[-1].max()) + 1
        parent = np.array(draw(st.lists(st.integers(0, nodes - 1), min_size=nodes, max_size=nodes)))
        levels.append(np.unique(parent, return_inverse=True)[1][levels[-1]])
    levels.append(np.zeros(n_values, dtype=np.int64))
    return tuple(levels)


def li_formula(row, table, levels):
    """Li et al.: over all inner nodes, height / H times the lesser of the children's surplus and deficit."""
    height, work = len(levels) - 1, 0.0
    difference = row / row.sum() - table
    for h in range(1, height + 1):
        for node in set(levels[h].tolist()):
            inside = levels[h] == node
            children = [difference[levels[h - 1] == child].sum() for child in set(levels[h - 1][inside].tolist())]
            surplus = sum(c for c in children if c > 0)
            deficit = -sum(c for c in children if c < 0)
            work += h / height * min(surplus, deficit)
    return work


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_hierarchical_is_the_transport_along_the_tree_and_the_published_formula(data):
    counts = data.draw(count_tables())
    n = counts.matrix.shape[1]
    levels = data.draw(hierarchies(n))
    ours = hierarchical_distance(histogram(counts.matrix, counts.unit), counts.matrix.sum(axis=0), levels)
    ground = np.array([[next(h for h, lv in enumerate(levels) if lv[i] == lv[j]) for j in range(n)] for i in range(n)])
    check(counts, ours, ground / (len(levels) - 1))
    table = counts.matrix.sum(axis=0) / counts.matrix.sum()
    for row, distance in zip(counts.matrix, ours, strict=True):
        if row.sum():
            assert distance == pytest.approx(li_formula(row, table, levels), abs=1e-9)


def test_ordered_with_counts_too_large_for_exact_sums_stays_accurate():
    units = np.full(100, 2**54, dtype=np.int64)
    rows = np.zeros((1, 100), dtype=np.int64)
    rows[0, 0] = 1
    assert ordered_distance(histogram(rows), units)[0] == pytest.approx(0.5, rel=1e-9)


def test_ordered_on_a_large_domain_equals_the_dense_sum():
    rng = np.random.default_rng(5)
    matrix = rng.integers(0, 3, size=(20, 5000)) * (rng.random((20, 5000)) < 0.01)
    units = rng.integers(1, 9, size=5000)
    share = matrix.cumsum(axis=1) / matrix.sum(axis=1, keepdims=True)
    dense = np.abs(share - units.cumsum() / units.sum()).sum(axis=1) / 4999
    assert ordered_distance(histogram(matrix), units) == pytest.approx(dense, abs=1e-12)


def test_a_hierarchy_of_one_value_has_no_distance():
    levels = (np.array([0]),)
    assert hierarchical_distance(histogram(np.array([[3], [0]])), np.array([3]), levels).tolist() == [0.0, np.inf]
