"""The changes that a refinement tries: records that move, swap places, or leave a group for new and other ones."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.refining.state import DETAIL, Regrouping, State
from hushtable.arrays import IntArray
from hushtable.kernels.cover import cover
from hushtable.kernels.founding import Lenders, found_groups

__all__ = ["dissolve", "found", "move", "split", "swap"]


def move(state: State) -> list[Regrouping]:
    """Return the records that their group can spare and that are better off in their cheapest other group."""
    gain = state.saving - state.price
    group = state.labels
    able = (state.best >= 0) & (gain > 0) & (state.group_units[group] - state.units >= state.minimum)
    return [Regrouping(int(gain[r]), np.array([r]), state.best[[r]]) for r in np.flatnonzero(able)]


def dissolve(state: State) -> list[Regrouping]:
    """Return the groups whose records together would be cheaper in other groups."""
    homeless = np.zeros(state.n, dtype=np.bool_)
    homeless[state.labels[state.best < 0]] = True
    gain = state.cost * state.sizes - np.add.reduceat(state.price[state.rows], state.offsets[:-1])
    out = []
    for g in np.flatnonzero((gain > 0) & ~homeless & (state.sizes <= DETAIL)):
        rows = state.members(int(g))
        out.append(Regrouping(int(gain[g]), rows, state.best[rows]))
    return out


def swap(state: State) -> list[Regrouping]:
    """Return pairs of records worth swapping: each record with the best one of its cheapest group."""
    sizes, labels, best = state.sizes, state.labels, state.best
    seek = (best >= 0) & (state.cost[labels] > 0) & (sizes[labels] <= DETAIL)
    seek[seek] &= sizes[best[seek]] <= DETAIL
    # a record that its group can spare moves instead
    one = np.flatnonzero(seek & (state.group_units[labels] - state.units < state.minimum))
    if not len(one):
        return []
    pair, other = _members_of(state, best[one])
    then = _loss_with(state, one[pair], other) + _loss_with(state, other, one[pair])
    here, there = labels[one[pair]], labels[other]
    gain = state.cost[here] * sizes[here] + state.cost[there] * sizes[there] - then
    order = np.lexsort((other, -gain, pair))
    chosen = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
    return [
        Regrouping(int(gain[i]), np.array([one[pair[i]], other[i]]), np.array([there[i], here[i]]))
        for i in chosen[gain[chosen] > 0]
    ]


def split(state: State) -> list[Regrouping]:
    """Return the groups worth splitting in two.

    In a small group, each record is tried with its nearest records, as many as a group needs; a large group is cut in
    half along its costliest column.
    """
    able = (state.group_units >= 2 * state.minimum) & (state.cost > 0) & (state.sizes > _want(state))
    small, large = np.flatnonzero(able & (state.sizes <= DETAIL)), np.flatnonzero(able & (state.sizes > DETAIL))
    return _split_small(state, small) + [c for g in large for c in _halve(state, int(g))]


def _want(state: State) -> int:
    """Number of records that a group needs."""
    return max(-(-state.minimum // state.problem.table.unit), 1)


def _split_small(state: State, groups: IntArray) -> list[Regrouping]:
    if not len(groups):
        return []
    want = _want(state)
    chosen = np.zeros(state.n, dtype=np.bool_)
    chosen[groups] = True
    pole = state.rows[chosen[state.labels[state.rows]]]
    size = state.sizes[state.labels[pole]]
    owner, other = _members_of(state, state.labels[pole])
    pairs = np.column_stack([pole[owner], other]).ravel()
    apart = cover(state.codes, pairs, 2 * np.arange(len(owner) + 1), state.tables, keep=False)[3]
    apart[pole[owner] == other] = -1
    order = np.lexsort((other, apart, owner))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    near, far = other[order[rank < want]], other[order[rank >= want]]
    at_near = want * np.arange(len(pole) + 1)
    at_far = np.concatenate([[0], np.cumsum(size - want)]).astype(np.int64)
    then = want * cover(state.codes, near, at_near, state.tables, keep=False)[3]
    then += (size - want) * cover(state.codes, far, at_far, state.tables, keep=False)[3]
    gain = size * state.cost[state.labels[pole]] - then
    first = np.lexsort((pole, -gain, state.labels[pole]))
    first = first[np.flatnonzero(np.diff(state.labels[pole][first], prepend=-1))]
    return [
        Regrouping(int(gain[i]), near[want * i : want * (i + 1)], np.full(want, state.n))
        for i in first[gain[first] > 0]
    ]


def _halve(state: State, group: int) -> list[Regrouping]:
    rows = state.members(group)
    codes = state.codes[rows, int(np.argmax(state.cells[3][group]))]
    rows, codes = rows[np.lexsort((rows, codes))], np.sort(codes)
    edges = np.flatnonzero(np.diff(codes)) + 1
    upper = rows[edges[int(np.argmin(np.abs(2 * edges - len(rows))))] :]
    # savings are known only after trying; large groups go first, as they may save most
    return [Regrouping(int(state.cost[group] * len(rows)), upper, np.full(len(upper), state.n))]


def _members_of(state: State, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return all rows of each of these groups, and which of the groups each belongs to."""
    size = state.sizes[groups]
    owner = np.repeat(np.arange(len(groups)), size)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    return owner, state.rows[state.offsets[groups][owner] + place]


def _loss_with(state: State, out: IntArray, into: IntArray) -> IntArray:
    """Return the loss of each record's group with another record in its place."""
    size = state.sizes[state.labels[out]]
    owner, rows = _members_of(state, state.labels[out])
    rows = np.where(rows == out[owner], into[owner], rows)
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return cover(state.codes, rows, offsets, state.tables, keep=False)[3] * size


def found(state: State) -> list[Regrouping]:
    """Return groups that dissolve into new ones, with companions that larger groups can spare."""
    want = max(_want(state), 2)
    room = np.maximum(state.sizes - want, 0)
    able = np.flatnonzero((room[state.labels] > 0) & (state.group_units[state.labels] - state.units >= state.minimum))
    keys = np.column_stack([state.labels[able], state.codes[able]])
    _, first, inverse, count = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    entry = able[first]
    lenders = Lenders(entry, state.labels[entry], count.astype(np.int64), state.saving[entry], room)
    equal = able[np.argsort(inverse, kind="stable")]
    begin = np.cumsum(count) - count
    seeds = np.flatnonzero((state.cost > 0) & (state.sizes <= DETAIL))
    got = found_groups(
        state.codes, seeds, state.rows, state.offsets, want, lenders, state.price, state.cost, state.tables
    )
    out = []
    for i in np.flatnonzero(np.diff(got.offsets) > 0):
        who, where = (x[got.offsets[i] : got.offsets[i + 1]] for x in (got.who, got.where))
        rows, used = who.copy(), dict[int, int]()
        for z in np.flatnonzero(who < 0):
            e = int(-1 - who[z])
            rows[z] = equal[begin[e] + used.get(e, 0)]
            used[e] = used.get(e, 0) + 1
        to = np.where(where < 0, state.best[rows], state.n + where)
        if (to >= 0).all():
            out.append(Regrouping(int(got.gain[i]), rows, to))
    return out
