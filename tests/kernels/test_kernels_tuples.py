"""The lattice's kernels against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import tuples
from hushtable.testing.repeat_checks import forced_kernels


def random_lattice(seed: int, rows: int, columns: int, minimum: int):
    """Codes with nested look-up tables in the layout that the kernels take."""
    generator = np.random.default_rng(seed)
    parts, at = [], 0
    width = 4
    starts, sizes = np.zeros((columns, width), np.int64), np.zeros((columns, width), np.int64)
    codes = np.empty((rows, columns), np.uint8)
    for j in range(columns):
        leaves = int(generator.integers(1, 9))
        codes[:, j] = generator.integers(0, leaves, rows)
        nodes = np.arange(leaves)
        for level in range(int(generator.integers(1, width + 1))):
            if level:
                nodes = nodes // 2 if generator.random() < 0.7 else nodes * 0
            starts[j, level], sizes[j, level] = at, int(nodes.max()) + 1
            parts.append(nodes)
            at += leaves
    codes = codes[np.lexsort(codes.T[::-1])]
    units = generator.integers(0, 2 * minimum, rows)
    return codes, units.astype(np.int64), np.concatenate(parts).astype(np.int32), starts, sizes


def packed(codes, sizes, blocks):
    return tuples.pack_tuples(codes.T, sizes[:, 0], np.array(blocks))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 40), chosen=st.integers(1, 3), minimum=st.integers(1, 6))
def test_small_groups_of_projections(seed, rows, chosen, minimum):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 4, minimum)
    columns = np.sort(np.random.default_rng(seed).permutation(4)[:chosen]).astype(np.int64)
    levels = np.array([np.count_nonzero(sizes[j]) for j in columns], dtype=np.int64)
    leaf = tuples.leaf_cube([codes[:, j] for j in columns], units, [int(sizes[j, 0]) for j in columns])
    expected = []
    for combination in np.ndindex(*levels):
        groups: dict[tuple[int, ...], int] = {}
        for row, weight in zip(codes.tolist(), units.tolist(), strict=True):
            key = tuple(int(lut[starts[j, level] + row[j]]) for j, level in zip(columns, combination, strict=True))
            groups[key] = groups.get(key, 0) + weight
        expected.append(sum(size for size in groups.values() if size < minimum))
    for function in (tuples._small_numpy, tuples._small_loops):
        out = np.empty(len(expected), np.int64)
        function(leaf, lut, starts, sizes, columns, minimum, levels, out)
        assert out.tolist() == expected


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 30), columns=st.integers(1, 3))
def test_leaves_counted_together(seed, rows, columns):
    codes, units, _, _, sizes = random_lattice(seed, rows, columns, 3)
    expected = np.zeros([*sizes[:, 0], 1, 1][:3], np.int64)
    for row, weight in zip(codes.tolist(), units.tolist(), strict=True):
        expected[tuple([*row, 0, 0][:3])] += weight
    for compiled in (False, True):
        with forced_kernels(compiled=compiled):
            cube = tuples.leaf_cube(list(codes.T), units, sizes[:, 0].tolist())
        assert cube.tolist() == expected.tolist()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 40),
    blocks=st.sampled_from([[0, 3], [0, 1, 3], [0, 2, 3], [0, 1, 2, 3]]),
)
def test_groups_of_a_node(seed, rows, blocks):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 3, 3)
    generator = np.random.default_rng(seed)
    node = np.array([generator.integers(0, np.count_nonzero(sizes[j])) for j in range(3)])
    at, here = starts[np.arange(3), node], sizes[np.arange(3), node]
    strides = np.array([here[1] * here[2], here[2], 1], dtype=np.int64)
    keys = [tuple(int(lut[at[j] + row[j]]) for j in range(3)) for row in codes.tolist()]
    seen = list(dict.fromkeys(keys))
    expected = (
        [seen.index(key) for key in keys],
        [sum(int(u) for u, k in zip(units, keys, strict=True) if k == key) for key in seen],
        [keys.index(key) for key in seen],
    )
    numbers = packed(codes, sizes, blocks)
    for function in (tuples._group_numpy, tuples._group_loops):
        # the second is more than can be looked up in one array
        for space in (int(here.prod()), 10**9):
            group, size, first = (np.zeros(rows, np.int64) for _ in range(3))
            # hashing wraps around on purpose, and NumPy's scalars warn where compiled ones do not
            with np.errstate(over="ignore"):
                n = function(numbers, units, np.array(blocks), lut, at, sizes[:, 0], strides, space, group, size, first)
            assert (group.tolist(), size[:n].tolist(), first[:n].tolist()) == expected


@pytest.mark.parametrize("rows", [0, 1, 30])
@pytest.mark.parametrize("blocks", [[0, 3], [0, 2, 3], [0, 1, 2, 3]])
def test_what_is_lost_leaf_by_leaf(rows, blocks):
    codes, units, _, _, sizes = random_lattice(rows, rows, 3, 3)
    lost = np.random.default_rng(rows).random(rows) < 0.5
    expected = [
        sum(int(u) for row, u, gone in zip(codes, units, lost, strict=True) if gone and row[j] == leaf)
        for j in range(3)
        for leaf in range(sizes[j, 0])
    ]
    for compiled in (False, True):
        with forced_kernels(compiled=compiled):
            out = tuples.lost_units(packed(codes, sizes, blocks), units, np.array(blocks), sizes[:, 0], lost)
        assert out.tolist() == expected


def test_blocks_stay_small_unless_a_column_is_wide():
    assert tuples.blocks_of([10, 10, 10, 10, 5000, 2]).tolist() == [0, 3, 4, 5, 6]
    wide = tuples.pack_tuples(np.array([[69_999], [1]]), np.array([70_000, 2]), np.array([0, 1, 2]))
    assert wide.dtype == np.uint32
    assert wide.tolist() == [[69_999, 1]]


def test_more_groups_than_the_first_table_holds():
    generator = np.random.default_rng(3)
    codes = np.unique(generator.integers(0, 60, (5000, 3)), axis=0).astype(np.uint8)
    units = np.ones(len(codes), np.int64)
    lut = np.tile(np.arange(60), 3).astype(np.int32)
    at, leaves, blocks = np.array([0, 60, 120]), np.array([60, 60, 60]), np.array([0, 1, 3])
    strides = np.array([10**6, 10**3, 1])
    numbers = tuples.pack_tuples(codes.T, leaves, blocks)
    with forced_kernels(compiled=True):
        group, sizes, first = tuples.group_tuples(numbers, units, blocks, lut, at, leaves, strides, 10**9)
    assert group.tolist() == first.tolist() == list(range(len(codes)))
    assert sizes.tolist() == [1] * len(codes)
