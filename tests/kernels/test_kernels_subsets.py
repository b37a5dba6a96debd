"""Combinations of events against itertools, compiled and as plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hushtable.kernels.subsets import count_subsets, fill_subsets
from hushtable.testing.repeat_checks import forced_kernels


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_subsets_once(compiled, size):
    generator = np.random.default_rng(size)
    starts = np.array([0, 4, 4, 9, 11])
    item = np.concatenate([np.sort(generator.integers(0, 4, n)) for n in np.diff(starts)])
    person = np.repeat(np.arange(4), np.diff(starts))
    place = np.arange(11)
    new = np.append(True, (np.diff(person) != 0) | (np.diff(item) != 0))
    copy = place - np.maximum.accumulate(np.where(new, place, 0))
    table, caps = (item % 2).astype(np.int8), np.array([2, 1])
    touched = generator.random(11) < 0.7
    expected = [set() for _ in range(4)]
    for p in range(4):
        for rows in combinations(range(starts[p], starts[p + 1]), size):
            kinds = tuple(item[list(rows)].tolist())
            within = all(sum(table[r] == t for r in rows) <= caps[t] for t in (0, 1))
            # of equal events the first ones stand for any
            first = [r for k in sorted(set(kinds)) for r in [x for x in range(starts[p], starts[p + 1]) if item[x] == k]
                     [: kinds.count(k)]]  # fmt: skip
            if within and touched[first].any():
                expected[p].add(kinds)
    with forced_kernels(compiled=compiled):
        counts = count_subsets(starts, item, copy, table, caps, size, touched)
        found = fill_subsets(starts, (0, 4), item, copy, table, caps, touched, (0, 9), int(counts.sum()), size)
        low = fill_subsets(starts, (0, 4), item, copy, table, caps, touched, (0, 2), int(counts.sum()), size)
    assert counts.tolist() == [len(kinds) for kinds in expected]
    assert [set(map(tuple, item[found[person[found[:, 0]] == p]].tolist())) for p in range(4)] == expected
    assert {tuple(row) for row in low.tolist()} == {tuple(row) for row in found.tolist() if item[row[0]] < 2}
