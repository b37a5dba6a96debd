"""Several columns in one number, and sums over tuples that are packed so."""

from __future__ import annotations

import numpy as np
import pytest
from support_tuples import packed, random_lattice

from hushtable.kernels import packing
from hushtable.testing.repeat_checks import forced_kernels


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
            out = packing.lost_units(packed(codes, sizes, blocks), units, np.array(blocks), sizes[:, 0], lost)
        assert out.tolist() == expected


def test_blocks_stay_small_unless_a_column_is_wide():
    assert packing.blocks_of([10, 10, 10, 10, 5000, 2]).tolist() == [0, 3, 4, 5, 6]
    wide = packing.pack_tuples(np.array([[69_999], [1]]), np.array([70_000, 2]), np.array([0, 1, 2]))
    assert wide.dtype == np.uint32
    assert wide.tolist() == [[69_999, 1]]
