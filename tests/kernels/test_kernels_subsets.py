"""Combinations of events against itertools, compiled and as plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hushtable.kernels.subsets import EventRows, count_subsets, fill_subsets, judge_crowds
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


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("size", [1, 2])
def test_crowds_are_those_of_itertools(compiled, size):
    """Two classes, events that hang on others, and more failing combinations than were expected."""
    generator = np.random.default_rng(size)
    lengths = np.array([14, 3, 0, 5, 12, 6])
    starts, classes = np.append(0, np.cumsum(lengths)), np.array([0, 0, 0, 3, 3, 3])
    of_each = [np.sort(generator.integers(0, 20, n)) for n in lengths]
    item = np.concatenate(of_each) + np.repeat(20 * (classes > 0), lengths)
    rows, owner = len(item), np.sort(generator.integers(0, 9, len(item)))
    table, touched = (item % 2).astype(np.int8), generator.random(40)[item] < 0.8
    given = EventRows(starts, item, np.zeros(rows, np.int64), table, np.array([2, 1]), touched)
    crowds = {}
    for p in range(6):
        for some in combinations(range(starts[p], starts[p + 1]), size):
            if touched[list(some)].any() and [table[r] for r in some].count(1) < 2:
                alike = size == 2 and owner[some[0]] == owner[some[1]]
                key = (classes[p], tuple(item[list(some)].tolist()), alike)
                crowds.setdefault(key, []).append((p, some))
    enough = np.arange(7) >= 2
    with forced_kernels(compiled=compiled):
        failing, kinds = judge_crowds(given, classes, (0, 6), owner[None], enough, size, 20 * 20 * 2)
    sizes = {key: len({p for p, _ in found}) for key, found in crowds.items()}
    assert sorted(map(tuple, failing.tolist())) == sorted(s for k, f in crowds.items() if sizes[k] < 2 for _, s in f)
    assert kinds[:, 0].sum() == len(crowds)
    assert kinds[:, 1].sum() == sum(n < 2 for n in sizes.values())
    assert kinds[:, 2].min() == min(sizes.values())
