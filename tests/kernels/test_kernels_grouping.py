"""Group-by kernels against dictionaries, and the compiled loops against their NumPy twins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import compile as compiling
from hushtable.kernels import grouping
from hushtable.kernels.compile import COMPILE_FROM, compiled, dispatch

NOTHING = np.empty(0, dtype=np.int64)
DTYPES = st.sampled_from([np.uint8, np.uint16, np.uint32, np.int64])


@st.composite
def grouped_rows(draw):
    """Rows in groups (some empty), with codes and weights of which some are 0."""
    n = draw(st.integers(1, 60))
    n_values = draw(st.sampled_from([1, 2, 5, 40, 200]))
    codes = np.array(draw(st.lists(st.integers(0, n_values - 1), min_size=n, max_size=n)), dtype=draw(DTYPES))
    rows = np.array(draw(st.permutations(range(n))), dtype=draw(st.sampled_from([np.uint32, np.int64])))
    edges = sorted(draw(st.lists(st.integers(0, n), min_size=2, max_size=8)))
    starts, ends = np.array(edges[:-1], dtype=np.int64), np.array(edges[1:], dtype=np.int64)
    weights = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    units = np.array(weights, dtype=np.int64) if draw(st.booleans()) else NOTHING
    return rows, starts, ends, codes, units, n_values


@given(grouped_rows())
def test_histogram_counts_as_a_counter_does_and_loops_equal_numpy(case):
    rows, starts, ends, codes, units, n_values = case
    for function in (grouping._histogram_numpy, compiled(grouping._histogram_loops)):
        offsets, values, counts = function(*case)
        assert offsets[0] == 0 and len(offsets) == len(starts) + 1
        for g in range(len(starts)):
            expected: Counter[int] = Counter()
            for row in rows[starts[g] : ends[g]]:
                expected[int(codes[row])] += int(units[row]) if len(units) else 1
            part = slice(offsets[g], offsets[g + 1])
            assert values[part].tolist() == sorted(v for v, c in expected.items() if c)
            assert counts[part].tolist() == [expected[v] for v in values[part]]


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 3), st.integers(0, 4)), max_size=40), st.booleans())
def test_a_tally_counts_as_a_histogram_does(rows, wide):
    labels, codes, units = (
        np.array(column, dtype=np.int64) for column in (zip(*rows, strict=True) if rows else ((),) * 3)
    )
    n_values = 4000 if wide else 4
    order, offsets = grouping.group_rows(labels, 6)
    expected = grouping.histogram(order, offsets[:-1], offsets[1:], codes, units, n_values)
    for function in (grouping.tally, grouping._tally_numpy, compiled(grouping._tally_loops)):
        found = function(labels, codes, units, 6, n_values)
        assert [part.tolist() for part in found] == [part.tolist() for part in expected]


def test_histogram_of_many_values_in_a_group_sorts_them():
    codes = np.arange(100)[::-1].astype(np.uint8)
    case = (np.arange(100), np.array([0]), np.array([100]), codes, NOTHING, 100)
    assert compiled(grouping._histogram_loops)(*case)[1].tolist() == list(range(100))


@given(st.lists(st.integers(-1, 4), max_size=40), st.integers(5, 7))
def test_group_rows_keeps_the_order_within_groups(labels, n_groups):
    array = np.array(labels, dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(array[array >= 0], minlength=n_groups))]).astype(np.int64)
    expected = [[i for i, label in enumerate(labels) if label == g] for g in range(n_groups)]
    for function in (grouping._group_numpy, compiled(grouping._group_loops)):
        rows = np.empty(offsets[-1], dtype=np.int64)
        function(array, offsets, rows)
        assert [rows[offsets[g] : offsets[g + 1]].tolist() for g in range(n_groups)] == expected
    public_rows, public_offsets = grouping.group_rows(array, n_groups)
    assert [public_rows[a:b].tolist() for a, b in zip(public_offsets, public_offsets[1:], strict=False)] == expected


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(st.tuples(*[st.integers(0, 6)] * d), min_size=1, max_size=50),
    ),
    st.sampled_from([7, 1000, 2**31, 2**45]),
    DTYPES,
)
def test_number_rows_ranks_tuples_exactly(rows, size, dtype):
    columns = [np.array([r[j] for r in rows], dtype=dtype) for j in range(len(rows[0]))]
    labels, first = grouping.number_rows(columns, [size] * len(columns))
    ranked = sorted(set(rows))
    assert [ranked[label] for label in labels] == rows
    assert [rows[i] for i in first] == ranked


def test_number_rows_tells_apart_what_a_product_of_sizes_cannot_hold():
    # 2**40 * 2**40 does not fit in 64 bits: a wrapped key would unite (0, x) with (2**24, x)
    wide = [np.array([0, 2**24, 0]), np.array([5, 5, 5]), np.array([1, 1, 1])]
    labels, _ = grouping.number_rows(wide, [2**40, 2**40, 2**40])
    assert labels.tolist() == [0, 1, 0]


def test_number_rows_of_one_value_and_of_no_rows():
    assert grouping.number_rows([np.zeros(3, dtype=np.uint8)], [1])[0].tolist() == [0, 0, 0]
    labels, first = grouping.number_rows([np.empty(0, dtype=np.uint8)], [0])
    assert len(labels) == len(first) == 0


def test_small_tables_do_not_load_numba(monkeypatch):
    monkeypatch.setattr(compiling, "_asked", {})
    monkeypatch.delitem(compiling.sys.modules, "numba", raising=False)
    assert dispatch(grouping._group_loops, grouping._group_numpy, COMPILE_FROM - 1) is grouping._group_numpy
    assert dispatch(grouping._group_loops, grouping._group_numpy, COMPILE_FROM) is not grouping._group_numpy
    chosen = dispatch(grouping._group_loops, grouping._group_numpy, compiling.TWIN_UP_TO + 1)
    assert chosen is compiled(grouping._group_loops)


def test_without_numba_large_tables_use_the_twin(monkeypatch):
    monkeypatch.delitem(compiling.sys.modules, "numba", raising=False)
    monkeypatch.setattr(compiling.importlib.util, "find_spec", lambda name: None)
    assert dispatch(grouping._group_loops, grouping._group_numpy, 10**9) is grouping._group_numpy


@pytest.mark.parametrize("n", [10, COMPILE_FROM + 1])
def test_public_histogram_agrees_on_either_side_of_the_switch(n):
    generator = np.random.default_rng(7)
    codes = generator.integers(0, 9, n).astype(np.uint8)
    starts, ends = np.array([0, n // 3]), np.array([n // 3, n])
    offsets, values, counts = grouping.histogram(np.arange(n), starts, ends, codes, NOTHING, 9)
    for g in range(2):
        expected = Counter(codes[starts[g] : ends[g]].tolist())
        part = slice(offsets[g], offsets[g + 1])
        assert dict(zip(values[part].tolist(), counts[part].tolist(), strict=True)) == expected


@given(st.lists(st.integers(-(2**40), 2**60), min_size=1, max_size=80), st.integers(1, 90))
def test_numbering_keys_by_first_occurrence_equals_its_twin(keys, room):
    key = np.array(keys, dtype=np.int64)
    seen = list(dict.fromkeys(keys))
    results = []
    for function in (grouping._number_numpy, compiled(grouping._number_loops)):
        labels, first = np.empty(len(key), dtype=np.int64), np.empty(room, dtype=np.int64)
        found = function(key, labels, first)
        if len(seen) > room:
            assert found == -1
            continue
        assert found == len(seen)
        assert [seen[i] for i in labels] == keys
        results.append((labels.tolist(), first[:found].tolist()))
    assert all(r == results[0] for r in results)


def test_numbering_grows_its_table():
    key = np.repeat(np.arange(5000) * 7919, 20)
    labels, first = grouping.number_rows([key], [int(key.max()) + 1])
    assert labels.tolist() == np.repeat(np.arange(5000), 20).tolist()
    assert first.tolist() == (np.arange(5000) * 20).tolist()


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 1), st.integers(1, 9)), max_size=60),
    st.sampled_from([4, 2**20, 2**40, 2**61]),
)
def test_counting_rows_is_counting_what_was_numbered(rows, size):
    """Spans that fit 32 bits, 62 bits, and none of them."""
    columns = [np.array([row[j] for row in rows], dtype=np.int64) for j in range(3)]
    records, sizes = np.array([row[3] for row in rows], dtype=np.int64), [size, 7, 2]
    for given_records in (None, records):
        counted = Counter()
        for row, n in zip(rows, records.tolist(), strict=True):
            counted[row[:3]] += 1 if given_records is None else n
        codes, counts = grouping.count_rows(columns, sizes, given_records)
        assert list(zip(*(c.tolist() for c in codes), strict=True)) == sorted(counted)
        assert counts.tolist() == [counted[key] for key in sorted(counted)]
    assert grouping.sum_rows(columns, sizes, records).tolist() == counts.tolist()
