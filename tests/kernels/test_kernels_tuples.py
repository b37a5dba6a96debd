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


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 40), chosen=st.integers(1, 3), minimum=st.integers(1, 6))
def test_small_groups_of_projections(seed, rows, chosen, minimum):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 4, minimum)
    columns = np.sort(np.random.default_rng(seed).permutation(4)[:chosen]).astype(np.int64)
    levels = np.array([np.count_nonzero(sizes[j]) for j in columns], dtype=np.int64)
    plain = np.empty(int(levels.prod()), np.int64)
    loops = np.empty(len(plain), np.int64)
    tuples._small_numpy(codes, units, lut, starts, sizes, columns, minimum, levels, plain)
    tuples._small_loops(codes, units, lut, starts, sizes, columns, minimum, levels, loops)
    assert loops.tolist() == plain.tolist()


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 40))
def test_groups_of_a_node(seed, rows):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 3, 3)
    generator = np.random.default_rng(seed)
    node = np.array([generator.integers(0, np.count_nonzero(sizes[j])) for j in range(3)])
    at, here = starts[np.arange(3), node], sizes[np.arange(3), node]
    strides = np.array([here[1] * here[2], here[2], 1], dtype=np.int64)
    outs = []
    for function in (tuples._group_numpy, tuples._group_loops):
        group, size, first = (np.zeros(rows, np.int64) for _ in range(3))
        n = function(codes, units, lut, at, sizes[:, 0], strides, int(here.prod()), group, size, first)
        outs.append((group.tolist(), size[:n].tolist(), first[:n].tolist()))
    assert outs[0] == outs[1]


@pytest.mark.parametrize("rows", [0, 1, 30])
def test_costs_of_suppressing(rows):
    codes, units, _, starts, _ = random_lattice(rows, rows, 3, 3)
    generator = np.random.default_rng(rows)
    group = generator.integers(0, 5, rows)
    lost = generator.random(5) < 0.5
    cost = generator.random(200)
    plain, loops = np.zeros(3), np.zeros(3)
    tuples._costs_numpy(codes, units, group, lost, cost, starts[:, 0], plain)
    tuples._costs_loops(codes, units, group, lost, cost, starts[:, 0], loops)
    assert plain.tolist() == loops.tolist()


def test_more_groups_than_the_first_table_holds():
    generator = np.random.default_rng(3)
    codes = np.unique(generator.integers(0, 60, (5000, 3)), axis=0).astype(np.uint8)
    units = np.ones(len(codes), np.int64)
    lut = np.tile(np.arange(60), 3).astype(np.int32)
    at, leaves = np.array([0, 60, 120]), np.array([60, 60, 60])
    strides = np.array([10**6, 10**3, 1])
    with forced_kernels(compiled=True):
        group, sizes, first = tuples.group_tuples(codes, units, lut, at, leaves, strides, 10**9)
    assert group.tolist() == first.tolist() == list(range(len(codes)))
    assert sizes.tolist() == [1] * len(codes)
