"""Cells, cheapest groups, borrowed companions and first crowds: loops, NumPy twins and the definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import cover, founding, sweep
from hushtable.kernels.compile import compiled
from hushtable.kernels.cover import NODE, RANGE, SET, Tables

LEVELS = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1], [0] * 6])
WEIGHTS = {NODE: 7, RANGE: 5, SET: 11}


def tables(kinds, gap):
    d = len(kinds)
    leaves = np.array([[int((row == row[c]).sum()) - 1 for c in range(6)] for row in LEVELS])
    return Tables(
        kind=np.array(kinds),
        at=np.zeros(d, dtype=np.int64),
        size=np.full(d, 6),
        weight=np.array([WEIGHTS[k] for k in kinds]),
        gap=np.array([25 if gap and k == RANGE else -1 for k in kinds]),
        word=np.arange(d),
        words=d,
        node=LEVELS.ravel(),
        leaf=leaves.ravel() * WEIGHTS[NODE],
    )


def price(values, kind, gap):
    """What a cell costs, from the definition."""
    if kind == NODE:
        level = next(row for row in LEVELS if len({row[v] for v in values}) == 1)
        return 7 * (int((level == level[values[0]]).sum()) - 1)
    if kind == SET:
        return 11 * (len(set(values)) - 1)
    if gap and 0 in values and max(values) > 0:
        return 25
    return 5 * (max(values) - min(values))


CASES = st.tuples(
    st.lists(st.sampled_from([NODE, RANGE, SET]), min_size=1, max_size=3),
    st.booleans(),
    st.integers(1, 14),
    st.integers(1, 4),
    st.integers(0, 2**20),
)


def build(case):
    kinds, gap, n, n_groups, seed = case
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, 6, (n, len(kinds))).astype(np.int32)
    labels = draw.integers(0, n_groups, n)
    rows = np.argsort(labels, kind="stable")
    offsets = np.searchsorted(labels[rows], np.arange(n_groups + 1))
    return codes, labels, rows, offsets, tables(kinds, gap), draw


def loss(codes, rows, case):
    return sum(price([int(codes[r, j]) for r in rows], k, case[1]) for j, k in enumerate(case[0])) if len(rows) else 0


def both(module, name, run):
    """Run with the twin, then with the compiled loops, in place of dispatching."""
    twin, loops = getattr(module, f"_{name}_numpy"), compiled(getattr(module, f"_{name}_loops"))
    out, before = [], module.dispatch
    try:
        for function in (twin, loops):
            module.dispatch = lambda *_, function=function: function
            out.append(run())
    finally:
        module.dispatch = before
    return out


@given(CASES)
def test_cells_cost_what_the_definition_says(case):
    codes, labels, rows, offsets, lookup, _ = build(case)
    expected = [loss(codes, np.flatnonzero(labels == g), case) for g in range(case[3])]
    for keep in (True, False):
        found = both(cover, "cover", lambda keep=keep: cover.cover(codes, rows, offsets, lookup, keep=keep))
        for *_, cost in found:
            assert (cost.sum(axis=1) if keep else cost).tolist() == expected
        if keep:
            assert np.array_equal(found[0][2], found[1][2])


@given(CASES)
def test_the_cheapest_group(case):
    codes, labels, rows, offsets, lookup, draw = build(case)
    cells = cover.cover(codes, rows, offsets, lookup)
    sizes = np.diff(offsets)
    groups = np.flatnonzero(sizes)
    groups = groups[np.argsort(cells[3].sum(axis=1)[groups], kind="stable")]
    limit = draw.integers(0, 200, len(codes))

    def run():
        best, cost = np.full(len(codes), -1), limit.copy()
        cover.cheapest_groups(codes, np.arange(len(codes)), labels, groups, sizes, cells, lookup, best, cost)
        return best, cost

    (best, cost), again = both(cover, "cheapest", run)
    assert np.array_equal(best, again[0])
    assert np.array_equal(cost, again[1])
    for r in range(len(codes)):
        growth = {}
        for g in groups:
            if g != labels[r]:
                mine = np.flatnonzero(labels == g)
                growth[int(g)] = (len(mine) + 1) * loss(codes, [*mine, r], case) - len(mine) * loss(codes, mine, case)
        least = min([*growth.values(), int(limit[r])])
        assert cost[r] == least
        assert best[r] == -1 if least == limit[r] else growth[int(best[r])] == least


@settings(max_examples=60)
@given(CASES, st.integers(2, 4))
def test_borrowed_companions(case, want):
    codes, labels, rows, offsets, lookup, draw = build(case)
    sizes = np.diff(offsets)
    entries = np.flatnonzero(sizes[labels] > want)
    lenders = founding.Lenders(
        entries, labels[entries], np.ones(len(entries), dtype=np.int64), draw.integers(0, 9, len(entries)),
        np.maximum(sizes - want, 0),
    )  # fmt: skip
    cost = cover.cover(codes, rows, offsets, lookup)[3].sum(axis=1)
    exits = draw.integers(0, 120, len(codes))
    seeds = np.flatnonzero(sizes)
    first, second = both(
        founding, "found",
        lambda: founding.found_groups(codes, seeds, rows, offsets, want, lenders, exits, cost, lookup),
    )  # fmt: skip
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a, b)
    for i, g in enumerate(seeds):
        mine = slice(first.offsets[i], first.offsets[i + 1])
        who, where = first.who[mine], first.where[mine]
        if not len(who):
            continue
        # everybody of the group goes somewhere, nobody twice, and new groups have the size that is wanted
        assert sorted(who[who >= 0].tolist()) == sorted(np.flatnonzero(labels == g).tolist())
        lent = -1 - who[who < 0]
        assert len(set(lent.tolist())) == len(lent)
        assert (np.bincount(lenders.group[lent], minlength=len(sizes)) <= lenders.room).all()
        assert (lenders.group[lent] != g).all()
        saved = int(sizes[g] * cost[g]) - int(exits[who[where < 0]].sum()) + int(lenders.credit[lent].sum())
        for new in range(int(where.max()) + 1):
            members = [int(w) if w >= 0 else int(entries[-1 - w]) for w in who[where == new]]
            assert len(members) == want
            saved -= want * loss(codes, members, case)
        assert saved == first.gain[i] > 0


@given(CASES, st.integers(1, 4), st.integers(0, 100))
def test_the_first_crowd(case, minimum, ceiling):
    codes, _, _, _, _, draw = build(case)
    codes = np.unique(codes, axis=0)
    units = draw.integers(0, 3, len(codes))
    d = codes.shape[1]
    at = 6 * draw.integers(0, 4, (9, d))
    lut = np.tile(LEVELS.ravel(), 1)
    cost = draw.integers(0, 30, len(lut))
    marks = sweep.marks_of(len(codes))
    # some tuples alone, and all together, are passed over
    refused = [{0}, {len(codes) - 1}, set(range(len(codes)))]
    sums = np.array([marks[sorted(g)].sum() for g in refused], dtype=np.uint64)
    known = sweep.remember(np.zeros(2, dtype=np.uint64), sums, 0)
    first, second = both(
        sweep,
        "crowd",
        lambda: sweep.first_crowd(codes, units, marks, known, lut, cost, at, 1, minimum, ceiling),
    )
    assert first[0] == second[0] and first[2] == second[2] and np.array_equal(first[1], second[1])
    for m in range(1, first[0] + 1):
        groups: dict[tuple[int, ...], list[int]] = {}
        for i in range(len(codes)) if m < len(at) else ():
            entry = at[m] + codes[i]
            if cost[entry].sum() <= ceiling:
                groups.setdefault(tuple(lut[entry]), []).append(i)
        large = [g for g in groups.values() if units[g].sum() >= minimum and set(g) not in refused]
        expected = np.full(len(codes), -1)
        for number, g in enumerate(sorted(large)):
            expected[g] = number
        if m < first[0]:
            assert not large
        elif m < len(at):
            assert first[2] == len(large) and first[1].tolist() == expected.tolist()
