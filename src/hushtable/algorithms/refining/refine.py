"""Refining: lowering the loss of any valid partition while every group stays satisfied.

This is a local search. Records move to the group whose loss grows least; records of groups that cannot spare any swap
places; groups split in two, or dissolve if their records are better off elsewhere; and records that lack a few
companions form new groups with records that larger groups can spare. Each round proposes such changes for all groups
at once, takes the ones that save most and affect no group twice, computes their exact savings, evaluates the model on
all affected groups in one call, and keeps the changes that save something and keep every group satisfied. So the loss
never rises, for any model.

The loss is the NCP of the cells in each column's published style, weighted by the columns' weights, in integers.
Ties go by the order of the records (``Problem.order``). The budget is a number of rounds, not of seconds.

Refined groups overlap: the cells of several groups may cover a record. That is sound for models that survive merging.
For others, and if a population or an adversary's background is counted by the cells that cover it, the partition is
returned unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.refining.cells import cost_tables
from hushtable.arrays import BoolArray, IntArray, inverted, joined_ranges, mask_of, places_among, run_places
from hushtable.kernels.cover import cheapest_groups, cover
from hushtable.kernels.founding import Lenders, found_groups
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Monotone, Stat
from hushtable.table.stats import GroupStats


def move(state: State) -> list[Regrouping]:
    """Return the records that their group can spare and that are better off in their cheapest other group."""
    gain = state.saving - state.price
    group = state.labels
    able = (state.best >= 0) & (gain > 0) & (state.group_units[group] - state.units >= state.minimum)
    return [Regrouping(int(gain[r]), np.array([r]), state.best[[r]]) for r in np.flatnonzero(able)]


def dissolve(state: State) -> list[Regrouping]:
    """Return the groups whose records together would be cheaper in other groups."""
    homeless = mask_of(state.labels[state.best < 0], state.n)
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
    pole = state.rows[mask_of(groups, state.n)[state.labels[state.rows]]]
    size = state.sizes[state.labels[pole]]
    owner, other = _members_of(state, state.labels[pole])
    pairs = np.column_stack([pole[owner], other]).ravel()
    apart = cover(state.codes, pairs, 2 * np.arange(len(owner) + 1), state.tables, keep=False)[3]
    apart[pole[owner] == other] = -1
    order = np.lexsort((other, apart, owner))
    rank = run_places(owner)
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
    return np.repeat(np.arange(len(groups)), size), state.rows[joined_ranges(state.offsets[groups], size)]


def _loss_with(state: State, out: IntArray, into: IntArray) -> IntArray:
    """Return the loss of each record's group with another record in its place."""
    size = state.sizes[state.labels[out]]
    owner, rows = _members_of(state, state.labels[out])
    rows = np.where(rows == out[owner], into[owner], rows)
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return np.asarray(cover(state.codes, rows, offsets, state.tables, keep=False)[3] * size)


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


ROUNDS = 60
"""Maximum number of rounds of a refinement."""

BLOCK = 2**16
"""Approximate number of rows in a block of neighboring groups, for larger tables: the work is quadratic in it."""

ENOUGH = 2000
"""After a round that saves less than this share of the loss, the next kind of change is tried."""


def refine(problem: Problem, partition: Partition, *, rounds: int = ROUNDS, seconds: float | None = None) -> Partition:
    """Return a partition of the same records with at most the loss of the given one.

    Parameters
    ----------
    problem : Problem
    partition : Partition
        Valid for the problem's model, from an algorithm with local recoding.
    rounds : int
        The budget.
    seconds : float, optional
        Stop after this time; the result then depends on the machine. Defaults to no limit.

    Returns
    -------
    Partition
        Without regions: groups are no longer regions of space. In the notes, ``refine_rounds`` is the number of
        rounds, and ``stopped_by_time``, with a time limit, says whether it was reached.

    Examples
    --------
    >>> from hushtable.algorithms.partition.mondrian import Mondrian
    >>> Mondrian(refine=True).values()
    {'refine': True}
    """
    table = problem.table
    if Monotone.MERGE not in problem.model.flags or table.n_rows > table.n_sample or not partition.n_groups:
        return partition
    deadline = None if seconds is None else time.monotonic() + seconds
    order = problem.order
    rows = order[partition.labels[order] >= 0]
    labels = partition.labels.copy()
    done, used, late = 0, 0, False
    for block in _blocks(problem, rows, partition.labels[rows]):
        refined, took, cut = _refine_block(problem, block, labels[block], rounds, deadline)
        labels[block] = partition.n_groups + done + refined
        done += int(refined.max()) + 1
        used, late = max(used, took), late or cut
    labels[rows] -= partition.n_groups
    notes = {**partition.notes, "refine_rounds": used}
    if seconds is not None:
        notes["stopped_by_time"] = late
    return replace(partition, labels=labels, n_groups=done, levels=None, regions=None, notes=notes)


def _refine_block(
    problem: Problem, rows: IntArray, labels: IntArray, rounds: int, deadline: float | None
) -> tuple[IntArray, int, bool]:
    """Return the new labels, the number of rounds, and whether the time limit was reached."""
    state = State(problem, rows, labels)
    kinds = (
        lambda: move(state) + dissolve(state) + split(state),
        lambda: swap(state),
        lambda: found(state),
    )
    turn, idle, used, late = 0, 0, 0, False
    loss, before, start = state.loss, state.exact_loss, state.labels
    while used < rounds and idle < len(kinds) and loss > 0:
        if deadline is not None and time.monotonic() > deadline:
            late = True
            break
        problem.progress(used / rounds, "refining")
        gain = state.try_all(kinds[turn]())
        used += 1
        if gain * ENOUGH > loss:
            turn, idle = 0, 0  # a gain allows new moves, the cheapest change to find
        else:
            turn, idle = (turn + 1) % len(kinds), idle + 1
        loss -= gain
    return (state.labels if state.exact_loss <= before else start), used, late


def _blocks(problem: Problem, rows: IntArray, labels: IntArray) -> Iterator[IntArray]:
    """Yield the rows in blocks of whole groups that are neighbors, in canonical order."""
    if len(rows) <= BLOCK or problem.model.part(table_level=True).members:
        yield rows
        return
    _, first, inverse, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    place = np.column_stack([c.positions[c.codes[rows[first]]] for c in problem.table.quasi])
    waiting = [np.argsort(first, kind="stable")]
    number, count = np.empty(len(first), dtype=np.int64), 0
    while waiting:
        groups = waiting.pop()
        spans = place[groups].max(axis=0) - place[groups].min(axis=0)
        if int(size[groups].sum()) <= BLOCK or len(groups) == 1:
            number[groups] = count
            count += 1
            continue
        by_place = groups[np.lexsort((first[groups], place[groups, int(np.argmax(spans))]))]
        middle = int(np.searchsorted(np.cumsum(size[by_place]), size[groups].sum() // 2))
        middle = min(max(middle, 1), len(groups) - 1)
        waiting += [by_place[middle:], by_place[:middle]]
    owner = number[inverse.reshape(-1)]
    for block in range(count):
        yield rows[owner == block]


DETAIL = 32
"""In groups with more records, removing one record is assumed not to narrow the cells."""

PATIENCE = 4
"""A record ignores groups that cost more than this many times its own."""


@dataclass(frozen=True)
class Regrouping:
    """Some records that move to other groups; group numbers from ``State.n`` on are new.

    Attributes
    ----------
    gain : int
        Decrease of the loss, as estimated before trying.
    rows, to : int64 arrays
    """

    gain: int
    rows: IntArray
    to: IntArray


class State:
    """The groups of some records, and the cost of publishing them.

    Rows are numbered in canonical order and groups by their first row, so that nothing depends on the input's order.

    Parameters
    ----------
    problem : Problem
    rows : int64 array
        The table's rows that take part, in canonical order.
    labels : int64 array
        Their groups.
    """

    def __init__(self, problem: Problem, rows: IntArray, labels: IntArray) -> None:
        self.problem = problem
        self.origin = rows
        self.codes, self.tables, self._exact_weight = cost_tables(problem.table, rows)
        table = problem.table
        self.units = table.units_of(rows)
        self.minimum = problem.model.min_group_size() * table.unit
        self._refused: set[tuple[int, ...]] = set()
        self.version = np.empty(0, dtype=np.int64)
        self._clock = 0
        self._take(labels, np.ones(int(labels.max()) + 1, dtype=np.bool_))

    def _take(self, labels: IntArray, touched: BoolArray) -> None:
        """Renumber groups by their first row; look up the cells of changed ones, and the new targets of rows."""
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        old = labels[np.sort(first)]
        rank = inverted(np.argsort(first, kind="stable"))
        fresh = not len(self.version)
        was = places_among(old, int(labels.max()) + 1)
        self._clock += 1
        self.labels = rank[inverse.reshape(-1)]
        self.n = len(old)
        self.rows, self.offsets = group_rows(self.labels, self.n)
        self.sizes = np.diff(self.offsets)
        self.cells = cover(self.codes, self.rows, self.offsets, self.tables)
        self.cost = self.cells[3].sum(axis=1)
        self.group_units = np.add.reduceat(self.units[self.rows], self.offsets[:-1])
        changed = touched[old]
        version = np.full(self.n, self._clock, dtype=np.int64)
        if not fresh:
            version[~changed] = self.version[old[~changed]]
        self.version = version
        self._spare()
        if fresh:
            self.best = np.full(len(labels), -1, dtype=np.int64)
            self.price = np.zeros(len(labels), dtype=np.int64)
            self._look(np.ones(len(labels), dtype=np.bool_), changed)
        else:
            lost = self.best >= 0
            lost[lost] = touched[self.best[lost]]
            self.best[lost] = -1
            kept = self.best >= 0
            self.best[kept] = was[self.best[kept]]
            self._look(changed[self.labels] | lost, changed)

    def _spare(self) -> None:
        """Compute what each group saves when one of its records leaves."""
        own = self.cost[self.labels]
        self.saving = own.copy()
        small = np.flatnonzero((self.sizes[self.labels] <= DETAIL) & (self.sizes[self.labels] > 1) & (own > 0))
        if not len(small):
            return
        group = self.labels[small]
        size = self.sizes[group]
        owner, others = _members_of(self, group)
        others = others[others != small[owner]]
        offsets = np.concatenate([[0], np.cumsum(size - 1)]).astype(np.int64)
        without = cover(self.codes, others, offsets, self.tables, keep=False)[3]
        self.saving[small] = size * own[small] - (size - 1) * without

    def _look(self, anew: BoolArray, changed: BoolArray) -> None:
        """Find each row's cheapest other group: among all groups for rows in ``anew``, otherwise among changed ones."""
        by_cost = np.argsort(self.cost, kind="stable")
        rows = np.flatnonzero(anew)
        own = self.cost[self.labels[rows]]
        self.price[rows] = PATIENCE * np.maximum(own, self.saving[rows] // PATIENCE) + 1
        arguments = (self.sizes, self.cells, self.tables, self.best, self.price)
        cheapest_groups(self.codes, rows, self.labels, by_cost, *arguments)
        rest = np.flatnonzero(~anew)
        cheapest_groups(self.codes, rest, self.labels, by_cost[changed[by_cost]], *arguments)

    @property
    def loss(self) -> int:
        """The total cost of all records' cells."""
        return sum(int(c) * int(s) for c, s in zip(self.cost.tolist(), self.sizes.tolist(), strict=True))

    @property
    def exact_loss(self) -> float:
        """The same without the rounding of the scale, which matters in columns with millions of leaves."""
        weight = np.maximum(self.tables.weight, 1)
        leaves = (self.cells[3] // weight * self.sizes[:, None]).sum(axis=0)
        return float((leaves * self._exact_weight).sum())

    def members(self, group: int) -> IntArray:
        """Return the rows of one group."""
        return self.rows[self.offsets[group] : self.offsets[group + 1]]

    def try_all(self, changes: Sequence[Regrouping]) -> int:
        """Make the changes that lower the loss and keep every group satisfied; return the decrease.

        Changes are taken by their gain; a change that affects the same group as an earlier one has to wait.
        """
        chosen, groups = self._compatible(changes)
        if not chosen:
            return 0
        tried = self.labels.copy()
        for change in chosen:
            tried[change.rows] = change.to
        everything = np.unique(np.concatenate(groups))
        rows, offsets = self._rows_of(tried, everything)
        loss = cover(self.codes, rows, offsets, self.tables, keep=False)[3] * np.diff(offsets)
        fell = np.zeros(int(everything.max()) + 1, dtype=np.int64)
        fell[everything] = -loss
        standing = everything[everything < self.n]
        fell[standing] += self.cost[standing] * self.sizes[standing]
        gain = np.array([int(fell[g].sum()) for g in groups])
        good = np.zeros(len(fell), dtype=np.bool_)
        good[everything] = self._satisfied(rows, offsets)
        accepted = [i for i in range(len(chosen)) if gain[i] > 0 and bool(good[groups[i]].all())]
        for i in sorted(set(range(len(chosen))) - set(accepted)):
            self._refused.add(self._key(chosen[i], groups[i]))
        accepted = self._whole_table(chosen, accepted)
        if not accepted:
            return 0
        labels = self.labels.copy()
        touched = np.zeros(int(max(labels.max(), everything.max())) + 1, dtype=np.bool_)
        for i in accepted:
            labels[chosen[i].rows] = chosen[i].to
            touched[groups[i]] = True
        self._take(labels, touched)
        return int(gain[accepted].sum())

    def _compatible(self, changes: Sequence[Regrouping]) -> tuple[list[Regrouping], list[IntArray]]:
        """Return the changes, largest gain first, that affect no group twice, and the groups that they affect."""
        taken = np.zeros(self.n, dtype=np.bool_)
        chosen, groups, new = [], [], self.n
        for i in sorted(range(len(changes)), key=lambda i: (-changes[i].gain, i)):
            change = changes[i]
            there = change.to[change.to < self.n]
            touched = np.unique(np.concatenate([self.labels[change.rows], there]))
            if taken[touched].any() or self._key(change, touched) in self._refused:
                continue
            taken[touched] = True
            founded = int(change.to.max()) + 1 - self.n
            if founded > 0:
                to = np.where(change.to >= self.n, change.to - self.n + new, change.to)
                touched = np.concatenate([touched, np.arange(new, new + founded)])
                new += founded
                change = Regrouping(change.gain, change.rows, to)
            chosen.append(change)
            groups.append(touched)
        return chosen, groups

    def _key(self, change: Regrouping, groups: IntArray) -> tuple[int, ...]:
        """Identify a change for as long as the groups that it affects do not change."""
        standing = groups[groups < self.n]
        to = np.where(change.to < self.n, change.to, -1)
        here = self.labels[change.rows]
        return (*change.rows.tolist(), -2, *here.tolist(), *to.tolist(), *self.version[standing].tolist())

    def _rows_of(self, labels: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
        return group_rows(places_among(groups, int(max(labels.max(), groups.max())) + 1)[labels], len(groups))

    def _satisfied(self, rows: IntArray, offsets: IntArray) -> BoolArray:
        """Whether each group satisfies the groupwise models; an empty one does."""
        good: BoolArray = np.diff(offsets) == 0
        filled = np.flatnonzero(~good)
        stats = self._stats(rows, offsets[:-1][filled], offsets[1:][filled])
        model = self.problem.model.part(table_level=False)
        good[filled] = model.satisfied(stats, self.problem.reference)
        return good

    def _stats(self, rows: IntArray, starts: IntArray, ends: IntArray) -> GroupStats:
        table, model = self.problem.table, self.problem.model
        if model.stats_needed() == frozenset({Stat.SIZE}):
            total = np.concatenate([[0], np.cumsum(self.units[rows])]).astype(np.int64)
            return GroupStats(total[ends] - total[starts], table.unit)
        return table.stats(self.origin[rows], starts, ends, model.histogram_keys())

    def _whole_table(self, chosen: Sequence[Regrouping], accepted: list[int]) -> list[int]:
        """Return as many of the accepted changes as keep the table satisfied: all, or the first half, or ..."""
        model = self.problem.model.part(table_level=True)
        while model.members and accepted:
            labels = self.labels.copy()
            for i in accepted:
                labels[chosen[i].rows] = chosen[i].to
            rows, offsets = self._rows_of(labels, np.unique(labels))
            stats = self._stats(rows, offsets[:-1], offsets[1:])
            if bool(model.table_satisfied(stats, self.problem.reference)[0]):
                break
            accepted = accepted[: len(accepted) // 2]
        return accepted
