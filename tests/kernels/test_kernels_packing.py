"""Several columns in one number, and sums over the leaves of tuples."""

from __future__ import annotations

import numpy as np
import pytest
from support_tuples import random_lattice

from hushtable.kernels import packing
from hushtable.testing.repeat_checks import forced_kernels


@pytest.mark.parametrize("rows", [0, 1, 30])
def test_units_leaf_by_leaf(rows):
    codes, units, _, _, sizes = random_lattice(rows, rows, 3, 3)
    some = np.flatnonzero(np.random.default_rng(rows).random(rows) < 0.5)
    expected = [
        sum(int(units[i]) for i in some if codes[i, j] == leaf) for j in range(3) for leaf in range(sizes[j, 0])
    ]
    for compiled in (False, True):
        with forced_kernels(compiled=compiled):
            out = packing.leaf_units(codes.T, some, units[some], sizes[:, 0])
        assert out.tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_a_record_is_charged_what_its_node_costs(seed):
    generator = np.random.default_rng(seed)
    leaves = generator.integers(1, 9, 3)
    nodes = [generator.integers(0, 4, n) for n in leaves]
    cost = [generator.random(4)[own] for own in nodes]
    gone = [generator.integers(0, 50, n) for n in leaves]
    at = np.cumsum(leaves) - leaves
    for compiled in (False, True):
        with forced_kernels(compiled=compiled):
            out = packing.charge(*map(np.concatenate, (gone, nodes)), at, leaves, np.concatenate(cost))
        assert out.tolist() == pytest.approx([float(units @ own) for units, own in zip(gone, cost, strict=True)])


def test_blocks_stay_small_unless_a_column_is_wide():
    assert packing.blocks_of([10, 10, 10, 10, 5000, 2]).tolist() == [0, 3, 4, 5, 6]
    wide = packing.pack_tuples(np.array([[69_999], [1]]), np.array([70_000, 2]), np.array([0, 1, 2]))
    assert wide.dtype == np.uint32
    assert wide.tolist() == [[69_999, 1]]
