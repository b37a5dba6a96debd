"""Columns counted together, and what is too small there, in plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support_tuples import random_lattice

from hushtable.kernels import cubes
from hushtable.testing.repeat_checks import forced_kernels


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 40), chosen=st.integers(1, 3), minimum=st.integers(1, 6))
def test_small_groups_of_projections(seed, rows, chosen, minimum):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 4, minimum)
    columns = np.sort(np.random.default_rng(seed).permutation(4)[:chosen]).astype(np.int64)
    levels = np.array([np.count_nonzero(sizes[j]) for j in columns], dtype=np.int64)
    leaf = cubes.leaf_cube([codes[:, j] for j in columns], units, [int(sizes[j, 0]) for j in columns])
    expected = []
    for combination in np.ndindex(*levels):
        groups: dict[tuple[int, ...], int] = {}
        for row, weight in zip(codes.tolist(), units.tolist(), strict=True):
            key = tuple(int(lut[starts[j, level] + row[j]]) for j, level in zip(columns, combination, strict=True))
            groups[key] = groups.get(key, 0) + weight
        expected.append(sum(size for size in groups.values() if size < minimum))
    for function in (cubes._small_numpy, cubes._small_loops):
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
            cube = cubes.leaf_cube(list(codes.T), units, sizes[:, 0].tolist())
        assert cube.tolist() == expected.tolist()


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 40), finer=st.booleans())
def test_finer_and_coarser_nodes(seed, n, finer):
    generator = np.random.default_rng(seed)
    nodes = generator.integers(0, 3, (n, 3)).astype(np.int16)
    open_, node = generator.random(n) < 0.7, generator.integers(0, 3, 3)
    begin = int(generator.integers(0, n + 1))
    sign = 1 if finer else -1
    inside = [all(sign * a <= sign * b for a, b in zip(other, node, strict=True)) for other in nodes]
    expected = [i for i in range(begin, n) if open_[i] and inside[i]]
    for compiled in (False, True):
        with forced_kernels(compiled=compiled):
            assert cubes.related(nodes, open_, node, begin, n, finer=finer).tolist() == expected
