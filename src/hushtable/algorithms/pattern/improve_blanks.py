"""Fewer blanks by rearranging groups: records change to cheaper patterns, groups are dissolved, new ones are formed.

Changes are proposed from the quasi-identifiers alone. All worthwhile changes that do not conflict are made at once;
if the models refuse a resulting group, the changes that affect it are undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from hushtable.algorithms.pattern.anti_unify import INDIFFERENT
from hushtable.algorithms.pattern.groups import PatternGroups
from hushtable.arrays import BoolArray, FloatArray, IntArray, mask_of, scattered
from hushtable.kernels.grouping import group_rows, number_rows

MOST_ROUNDS = 40
MOST_SETS = 512
"""Number of sets of blank columns to try for records."""


class BlankMove(NamedTuple):
    """Rows that move together, or not at all. ``targets`` are groups, or -1 for a new group of all of them."""

    saves: float
    rows: IntArray
    targets: IntArray


def improve_blanks(groups: PatternGroups, weights: FloatArray) -> None:
    """Rearrange the groups as long as that saves blanks, counted by weight."""
    if not groups.n_groups:
        return
    for round_ in range(MOST_ROUNDS):
        groups.problem.progress(round_ / MOST_ROUNDS, "improving")
        state = _State(groups, weights)
        before = state.total
        changes = sorted(
            [*_moves(state), *_dissolved(state), *_formed(state)],
            # ties go by the secret order, never by the input's
            key=lambda c: (-c.saves, len(c.rows), state.place[c.rows].tolist()),
        )
        chosen = state.compatible(changes)
        labels, n_groups = groups.labels.copy(), groups.n_groups
        if not chosen or not _apply(groups, chosen):
            return
        if _State(groups, weights).total >= before - 1e-9:
            groups.labels, groups.n_groups = labels, n_groups
            return


class _State:
    """The current groups, their blanks, and which groups each kind of record could join."""

    def __init__(self, groups: PatternGroups, weights: FloatArray) -> None:
        self.groups, self.weights = groups, weights
        table = groups.problem.table
        grouped, self.offsets = group_rows(groups.labels, groups.n_groups)
        self.place = np.empty(table.n_rows, dtype=np.int64)
        self.place[groups.problem.secret_order] = np.arange(table.n_rows)
        # rows of a group in secret order, so that nobody can guess which of several equal ones moves
        group = np.repeat(np.arange(groups.n_groups), np.diff(self.offsets))
        self.rows = grouped[np.lexsort((self.place[grouped], group))]
        self.labels = groups.labels[self.rows]
        shared = groups.records.describe(self.rows, self.offsets)[1]
        self.patterns: IntArray = shared
        self.cost: FloatArray = (shared == INDIFFERENT) @ weights
        self.units = table.units_of(self.rows)
        self.size = np.bincount(self.labels, self.units, minlength=groups.n_groups).astype(np.int64)
        self.codes = [column[self.rows].astype(np.int64) for column in groups.records.columns]
        self.kind, self.first = number_rows(self.codes, groups.records.sizes)

    @property
    def total(self) -> float:
        """The weight of all blanks."""
        return float(self.cost[self.labels].sum())

    @property
    def spare(self) -> IntArray:
        """Units that each group can lose, based on its size."""
        return np.maximum(self.size - self.groups.smallest, 0)

    def keys(self, shown: list[int], patterns: bool = False) -> IntArray:
        """Number the kinds of records, and the groups' patterns after them, by some columns."""
        columns = [self.codes[j][self.first] for j in shown]
        if patterns:
            columns = [
                np.concatenate([c, np.maximum(self.patterns[:, j], 0)]) for c, j in zip(columns, shown, strict=True)
            ]
        if not shown:
            return np.zeros(len(self.first) + patterns * len(self.patterns), dtype=np.int64)
        return number_rows(columns, [self.groups.records.sizes[j] for j in shown])[0]

    def nearest(self) -> tuple[IntArray, IntArray]:
        """The two cheapest groups whose patterns match each kind of record; -1 for none."""
        best, second = (np.full(len(self.first), -1, dtype=np.int64) for _ in range(2))
        blank = self.patterns == INDIFFERENT
        sets, of_group = np.unique(blank, axis=0, return_inverse=True)
        of_group = of_group.reshape(-1)
        order = np.lexsort((np.arange(len(sets)), sets @ self.weights))[:MOST_SETS]
        for s in order.tolist():
            mine = np.flatnonzero(of_group == s)
            key = self.keys(np.flatnonzero(~sets[s]).tolist(), patterns=True)
            group_at = scattered(mine[::-1], key[len(self.first) + mine[::-1]], int(key.max()) + 1)
            found = group_at[key[: len(self.first)]]
            next_ = (found >= 0) & (best >= 0) & (second < 0)
            second[next_] = found[next_]
            new = (found >= 0) & (best < 0)
            best[new] = found[new]
        return best, second

    def compatible(self, changes: list[BlankMove]) -> list[BlankMove]:
        """The changes that can be made together, the most worthwhile first: a group gives only what it can spare."""
        at = np.empty(len(self.groups.labels), dtype=np.int64)
        at[self.rows] = np.arange(len(self.rows))
        taken = np.zeros(len(self.rows), dtype=np.bool_)
        left, frozen = self.spare.copy(), np.zeros(len(self.size), dtype=np.bool_)
        gone = np.zeros(len(self.size), dtype=np.bool_)
        chosen = []
        for change in changes:
            own = at[change.rows]
            source, many = np.unique(self.labels[own], return_inverse=True)
            units = np.bincount(many.reshape(-1), self.units[own]).astype(np.int64)
            targets = change.targets[change.targets >= 0]
            whole = units == self.size[source]
            if taken[own].any() or gone[targets].any() or (whole & frozen[source]).any():
                continue
            if (~whole & (units > left[source])).any():
                continue
            taken[own] = True
            left[source] -= np.where(whole, left[source], units)
            gone[source[whole]] = True
            # a group that receives records stays, and one that gave some is not dissolved
            frozen[targets] = True
            frozen[source[~whole]] = True
            chosen.append(change)
        return chosen


def _moves(state: _State) -> Iterator[BlankMove]:
    """Individual records that a cheaper group matches."""
    best, _ = state.nearest()
    target = best[state.kind]
    saves = np.where(target >= 0, state.cost[state.labels] - state.cost[target], 0.0)
    for i in np.flatnonzero((saves > 0) & (state.spare[state.labels] >= state.units)).tolist():
        yield BlankMove(float(saves[i]), state.rows[[i]], target[[i]])


def _dissolved(state: _State) -> Iterator[BlankMove]:
    """Groups whose records all fit elsewhere, at less cost."""
    best, second = state.nearest()
    other = np.where(best[state.kind] == state.labels, second[state.kind], best[state.kind])
    dear = np.where(other >= 0, state.cost[other], np.inf)
    then = np.add.reduceat(dear, state.offsets[:-1])
    saves = state.cost * np.diff(state.offsets) - then
    for g in np.flatnonzero(saves > 0).tolist():
        here = slice(state.offsets[g], state.offsets[g + 1])
        yield BlankMove(float(saves[g]), state.rows[here], other[here])


def _formed(state: _State) -> Iterator[BlankMove]:
    """New groups: records that would save by blanking only these columns, and others to reach the required size."""
    d = len(state.codes)
    tried = 0
    for n in range(d):
        for blank in combinations(range(d), n):
            tried += 1
            if tried > MOST_SETS:
                return
            yield from _formed_with(state, list(blank))


def _formed_with(state: _State, blank: list[int]) -> Iterator[BlankMove]:
    key = state.keys([j for j in range(len(state.codes)) if j not in blank])[state.kind]
    saves = state.cost[state.labels] - float(state.weights[blank].sum())
    at = np.flatnonzero(mask_of(key[saves > 0], int(key.max()) + 1)[key])
    if not len(at):
        return
    at = at[_can_leave(state, key[at], at)]
    # the most worthwhile first; of those that lose, only as many as needed
    at = at[np.lexsort((at, -saves[at], key[at]))]
    starts = np.flatnonzero(np.diff(key[at], prepend=-1))
    ends = np.append(starts, len(at))[1:]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        mine = at[start:end]
        units = np.cumsum(state.units[mine])
        gain = np.cumsum(saves[mine])
        enough = int(np.searchsorted(units, state.groups.smallest))
        if enough >= len(mine):
            continue
        stop = max(enough, int(np.count_nonzero(saves[mine] > 0)) - 1)
        if gain[stop] > 1e-9:
            yield BlankMove(float(gain[stop]), state.rows[mine[: stop + 1]], np.full(stop + 1, -1, dtype=np.int64))


def _can_leave(state: _State, key: IntArray, at: IntArray) -> BoolArray:
    """Which records their groups can spare for one new group; a group may also move there as a whole."""
    pair, _ = number_rows([key, state.labels[at]], [int(key.max()) + 1, len(state.size)])
    order = np.lexsort((at, pair))
    running = np.cumsum(state.units[at][order])
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    base = np.repeat(running[starts] - state.units[at][order][starts], np.diff([*starts, len(order)]))
    used = np.empty(len(at), dtype=np.int64)
    used[order] = running - base
    all_units = np.bincount(pair, state.units[at])[pair]
    source = state.labels[at]
    return np.asarray((used <= state.spare[source]) | (all_units == state.size[source]))


def _apply(groups: PatternGroups, changes: list[BlankMove]) -> bool:
    """Make the changes that the models accept together; False if there are none."""
    before, n_before = groups.labels.copy(), groups.n_groups
    while changes:
        labels = before.copy()
        touched = []
        for i, change in enumerate(changes):
            targets = np.where(change.targets < 0, n_before + i, change.targets)
            touched.append(np.unique(np.concatenate([before[change.rows], targets])))
            labels[change.rows] = targets
        n = n_before + len(changes)
        rows, offsets = group_rows(labels, n)
        held = np.diff(offsets) > 0
        good = ~held
        starts = offsets[:-1][held]
        good[held] = groups.judge(rows, np.append(starts, len(rows)))[0]
        if good.all():
            number = np.append(np.cumsum(held) - 1, -1)
            groups.labels, groups.n_groups = number[labels], int(held.sum())
            return True
        changes = [c for c, t in zip(changes, touched, strict=True) if good[t].all()]
    return False
