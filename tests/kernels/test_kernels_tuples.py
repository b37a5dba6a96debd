"""The lattice's kernels against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_tuples import packed, random_lattice

from hushtable.kernels import tuples
from hushtable.kernels.packing import pack_tuples
from hushtable.testing.repeat_checks import forced_kernels


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 40),
    blocks=st.sampled_from([[0, 3], [0, 1, 3], [0, 2, 3], [0, 1, 2, 3]]),
    shuffled=st.booleans(),
)
def test_groups_of_a_node(seed, rows, blocks, shuffled):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 3, 3)
    generator = np.random.default_rng(seed)
    if shuffled:
        # no prefix ascends then
        codes = generator.permutation(codes)
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


def test_more_groups_than_the_first_table_holds():
    generator = np.random.default_rng(3)
    codes = np.unique(generator.integers(0, 60, (5000, 3)), axis=0).astype(np.uint8)
    units = np.ones(len(codes), np.int64)
    lut = np.tile(np.arange(60), 3).astype(np.int32)
    at, leaves, blocks = np.array([0, 60, 120]), np.array([60, 60, 60]), np.array([0, 1, 3])
    strides = np.array([10**6, 10**3, 1])
    numbers = pack_tuples(codes.T, leaves, blocks)
    with forced_kernels(compiled=True):
        group, sizes, first = tuples.group_tuples(numbers, units, blocks, lut, at, leaves, strides, 10**9)
    assert group.tolist() == first.tolist() == list(range(len(codes)))
    assert sizes.tolist() == [1] * len(codes)


@pytest.mark.parametrize("at_once", [1, 3, 4096])
@pytest.mark.parametrize("levels", [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
@pytest.mark.parametrize("wide", [False, True])
def test_stretches_and_pieces_change_nothing(monkeypatch, at_once, levels, wide):
    """Sorted tuples are numbered stretch by stretch, and keys looked up piece by piece."""
    monkeypatch.setattr(tuples, "AT_ONCE", at_once)
    generator = np.random.default_rng(7)
    codes = np.unique(generator.integers(0, 12, (300, 3)), axis=0).astype(np.uint8)
    units = generator.integers(1, 9, len(codes))
    lut = np.tile(np.concatenate([np.arange(12), np.arange(12) // 3]), 3).astype(np.int32)
    at = np.array([24 * j + 12 * level for j, level in enumerate(levels)])
    leaves, blocks = np.array([12, 12, 12]), np.array([0, 2, 3])
    # digits far apart are hashed, near ones looked up
    strides = np.array([10**8, 10**4, 1]) if wide else np.array([144, 12, 1])
    arguments = (pack_tuples(codes.T, leaves, blocks), units, blocks, lut, at, leaves, strides, 12 * int(strides[0]))
    results = []
    for function in (tuples._group_numpy, tuples._group_loops):
        out = [np.zeros(len(codes), np.int64) for _ in range(3)]
        with np.errstate(over="ignore"):
            n = function(*arguments, *out)
        results.append([out[0].tolist(), out[1][:n].tolist(), out[2][:n].tolist()])
    assert results[0] == results[1]


@pytest.mark.parametrize("compiled", [False, True])
def test_spreading(compiled):
    values = np.array([5, -1, 7], dtype=np.int16)
    with forced_kernels(compiled=compiled):
        out = tuples.spread(values, np.array([2, 0, 1, 2], dtype=np.int32))
    assert (out.dtype, out.tolist()) == (np.int32, [7, 5, -1, 7])


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 40), minimum=st.integers(1, 6))
def test_what_the_sizes_of_a_node_say(seed, rows, minimum):
    codes, units, lut, starts, sizes = random_lattice(seed, rows, 3, 3)
    generator = np.random.default_rng(seed)
    node = np.array([generator.integers(0, np.count_nonzero(sizes[j])) for j in range(3)])
    groups: dict[tuple[int, ...], int] = {}
    for row, weight in zip(codes.tolist(), units.tolist(), strict=True):
        key = tuple(int(lut[starts[j, node[j]] + row[j]]) for j in range(3))
        groups[key] = groups.get(key, 0) + weight
    large = [size for size in groups.values() if size >= minimum]
    small = sum(size for size in groups.values() if size < minimum)
    blocks = [0, 2, 3]
    numbers = packed(codes, sizes, blocks)
    for compiled in (False, True):
        with forced_kernels(compiled=compiled):
            found = tuples.size_facts(
                numbers, units, np.array(blocks), lut, starts, sizes, sizes[:, 0].copy(), node, minimum
            )
        assert found == (len(groups), small, sum(size * size for size in large), len(large))
