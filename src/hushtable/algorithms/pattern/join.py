"""Records without a pattern join the group that loses least."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.pattern.anti_unify import INDIFFERENT
from hushtable.algorithms.pattern.groups import PatternGroups
from hushtable.algorithms.pattern.search import Records
from hushtable.arrays import IntArray, inverted, mask_of
from hushtable.kernels.grouping import group_rows

_CELLS = 4_000_000
"""Maximum number of comparisons in memory."""


def join_rest(groups: PatternGroups, budget: int) -> bool:
    """Put the rest into groups and suppress the farthest records, within the budget; False if that fails.

    The cost of adding a record to a group is the number of common values that it does not share, times the people who
    lose them. If a model would no longer accept a group, its new records are removed again; they form a separate
    group, with as many of their nearest groups as necessary.
    """
    rest = groups.rest
    if not len(rest):
        return True
    if groups.n_groups:
        patterns, units = _patterns(groups)
        nearest, cost = _nearest(groups, rest, patterns, units)
        rest, nearest = _without_farthest(groups, rest, nearest, cost, budget)
        _join(groups, rest, nearest)
    return _pool(groups)


def merge_worst(problem: Problem, records: Records, labels: IntArray, n_groups: int) -> tuple[IntArray, int] | None:
    """Merge the groups that fail, or the worst ones if the table as a whole fails, until every model holds.

    None if that ends in a single group that still fails.
    """
    table, model, reference = problem.table, problem.model, problem.reference
    while True:
        rows, offsets = group_rows(labels, n_groups)
        stats = table.stats(rows, offsets[:-1], offsets[1:], model.histogram_keys())
        groupwise = model.part(table_level=False).satisfied(stats, reference)
        failing = [m for m in model.members if m.table_level and not bool(m.table_satisfied(stats, reference)[0])]
        if groupwise.all() and not failing:
            return labels, n_groups
        if n_groups == 1:
            return None
        worst = np.flatnonzero(~groupwise)
        if failing:
            score = failing[0].score(stats, reference) * (1 if failing[0].sense == ">=" else -1)
            order = np.lexsort((np.arange(n_groups), score))
            worst = np.union1d(worst, order[: max(1, n_groups // 16)])
        values = records.patterns(records.describe(rows, offsets)[1])
        parent = np.arange(n_groups, dtype=np.int64)
        for g in worst.tolist():
            lost = _lost(values[[g]], values)[0] + _lost(values, values[[g]])[:, 0]
            lost[parent == parent[g]] = np.iinfo(np.int64).max
            if lost.min() < np.iinfo(np.int64).max:
                parent[parent == parent[g]] = parent[int(np.argmin(lost))]
        _, owner = np.unique(parent, return_inverse=True)
        labels = np.where(labels >= 0, owner[labels], -1).astype(np.int64)
        n_groups = int(owner.max()) + 1


def _patterns(groups: PatternGroups) -> tuple[IntArray, IntArray]:
    """The values that each group's rows share (known or not; last, the number in ``apart``), and its units."""
    rows, offsets = group_rows(groups.labels, groups.n_groups)
    _, shared = groups.records.describe(rows, offsets)
    apart = groups.apart[rows[offsets[:-1]]]
    return np.column_stack([shared, apart]), np.add.reduceat(groups.problem.table.units_of(rows), offsets[:-1])


def _lost(patterns: IntArray, others: IntArray) -> IntArray:
    """Number of values of each pattern that each of the others does not share: (patterns, others)."""
    kept = patterns[:, None, :] != INDIFFERENT
    return np.asarray((kept & (patterns[:, None, :] != others[None, :, :])).sum(axis=2))


def _nearest(groups: PatternGroups, rest: IntArray, patterns: IntArray, units: IntArray) -> tuple[IntArray, IntArray]:
    """The group with the lowest cost for each row, and that cost."""
    records = np.column_stack([*(c[rest].astype(np.int64) for c in groups.records.columns), groups.apart[rest]])
    tuples, inverse = np.unique(records, axis=0, return_inverse=True)
    nearest = np.empty(len(tuples), dtype=np.int64)
    cost = np.empty(len(tuples), dtype=np.int64)
    step = max(1, _CELLS // patterns.size)
    # leaving the record's own set is worse than any loss of detail
    alien = len(groups.records.columns) + 1
    for i in range(0, len(tuples), step):
        part = tuples[i : i + step]
        lost = _lost(patterns[:, :-1], part[:, :-1]) + alien * _lost(patterns[:, -1:], part[:, -1:])
        price = lost * (units[:, None] + 1)
        nearest[i : i + step] = np.argmin(price, axis=0)
        cost[i : i + step] = np.min(price, axis=0)
    inverse = inverse.reshape(-1)
    return nearest[inverse], cost[inverse]


def _without_farthest(
    groups: PatternGroups, rest: IntArray, nearest: IntArray, cost: IntArray, budget: int
) -> tuple[IntArray, IntArray]:
    table = groups.problem.table
    order = np.lexsort((inverted(groups.problem.order)[rest], -cost))
    gone = order[np.cumsum(table.units_of(rest[order])) <= budget]
    out = mask_of(rest[gone], table.n_rows)
    groups.leave_out(out)
    stays = ~out[rest]
    return rest[stays], nearest[stays]


def _join(groups: PatternGroups, rest: IntArray, nearest: IntArray) -> None:
    groups.labels[rest] = nearest
    rows, offsets = group_rows(groups.labels, groups.n_groups)
    good, _ = groups.judge(rows, offsets)
    groups.labels[rest[~good[nearest]]] = -1


def _pool(groups: PatternGroups) -> bool:
    """Make one group of the rest and as many of its nearest groups as the models require."""
    rest = groups.rest
    if not len(rest):
        return True
    taken = 0
    order = np.empty(0, dtype=np.int64)
    if groups.n_groups:
        patterns, units = _patterns(groups)
        own = groups.records.describe(rest, np.array([0, len(rest)]))[1]
        order = np.lexsort((np.arange(groups.n_groups), units, _lost(patterns[:, :-1], own)[:, 0]))
    while True:
        chosen = mask_of(order[:taken], groups.n_groups + 1)
        rows = np.concatenate([rest, np.flatnonzero(chosen[groups.labels])])
        good, _ = groups.judge(rows, np.array([0, len(rows)]))
        if good[0]:
            break
        if taken >= groups.n_groups:
            return False
        taken = min(max(2 * taken, 1), groups.n_groups)
    renumber = np.append(np.cumsum(~chosen[:-1]) - 1, -1)
    groups.labels = renumber[groups.labels]
    groups.n_groups += 1 - taken
    groups.labels[rows] = groups.n_groups - 1
    return True
