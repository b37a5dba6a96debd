"""The changes that a refinement tries: records that move, change places, or leave a group for new and other ones."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.refining.state import DETAIL, Change, State
from hushtable.arrays import IntArray
from hushtable.kernels.companions import Lenders, found_groups
from hushtable.kernels.cover import cover

__all__ = ["dissolve", "found", "move", "swap"]


def move(state: State) -> list[Change]:
    """Return the records that their group can spare and that are better off in their cheapest other group."""
    gain = state.saving - state.price
    group = state.labels
    able = (state.best >= 0) & (gain > 0) & (state.group_units[group] - state.units >= state.minimum)
    return [Change(int(gain[r]), np.array([r]), state.best[[r]]) for r in np.flatnonzero(able)]


def dissolve(state: State) -> list[Change]:
    """Return the groups whose records all have a cheaper place elsewhere, taken together."""
    homeless = np.zeros(state.n, dtype=np.bool_)
    homeless[state.labels[state.best < 0]] = True
    gain = state.cost * state.sizes - np.add.reduceat(state.price[state.rows], state.offsets[:-1])
    out = []
    for g in np.flatnonzero((gain > 0) & ~homeless & (state.sizes <= DETAIL)):
        rows = state.members(int(g))
        out.append(Change(int(gain[g]), rows, state.best[rows]))
    return out


def swap(state: State) -> list[Change]:
    """Return pairs of records that had better change places: each record with the best one of its cheapest group."""
    sizes, labels, best = state.sizes, state.labels, state.best
    seek = (best >= 0) & (state.cost[labels] > 0) & (sizes[labels] <= DETAIL)
    seek[seek] &= sizes[best[seek]] <= DETAIL
    # a record that could leave does so by moving
    one = np.flatnonzero(seek & (state.group_units[labels] - state.units < state.minimum))
    if not len(one):
        return []
    choices = sizes[best[one]]
    pair = np.repeat(np.arange(len(one)), choices)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(choices) - choices, choices)
    other = state.rows[state.offsets[best[one]][pair] + place]
    then = _loss_with(state, one[pair], other) + _loss_with(state, other, one[pair])
    here, there = labels[one[pair]], labels[other]
    gain = state.cost[here] * sizes[here] + state.cost[there] * sizes[there] - then
    order = np.lexsort((other, -gain, pair))
    chosen = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
    return [
        Change(int(gain[i]), np.array([one[pair[i]], other[i]]), np.array([there[i], here[i]]))
        for i in chosen[gain[chosen] > 0]
    ]


def _loss_with(state: State, out: IntArray, into: IntArray) -> IntArray:
    """Return the loss of each record's group with another record in its place."""
    group = state.labels[out]
    size = state.sizes[group]
    owner = np.repeat(np.arange(len(out)), size)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    rows = state.rows[state.offsets[group][owner] + place]
    rows = np.where(rows == out[owner], into[owner], rows)
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return cover(state.codes, rows, offsets, state.tables, keep=False)[3] * size


def found(state: State) -> list[Change]:
    """Return groups that dissolve into new ones with companions that larger groups can spare."""
    want = max(-(-state.minimum // state.problem.table.unit), 2)
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
            out.append(Change(int(got.gain[i]), rows, to))
    return out
