"""Leftover records, when no other cluster can be completed: they join clusters, and clusters merge.

A record joins the cluster in its block whose total cost rises least, among those that stay satisfied. Records that
fit no cluster form one group per block, and every group that is not satisfied is merged with the one that raises the
cost least, until all are. For a model that survives merging, this ends with the whole table at the latest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.cluster.blocks import cut_blocks
from hushtable.algorithms.cluster.costs import CellCosts
from hushtable.algorithms.cluster.groups import worst_groups
from hushtable.algorithms.kinds import Kinds, add_groups
from hushtable.arrays import BoolArray, IntArray, places_among
from hushtable.kernels.bounds import bounds
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.table.stats import GroupStats

BLOCK = 8192
"""Number of records whose groups a leftover record considers when a group is dissolved."""

COSTLY = 20
"""A group is worth dissolving if its share of the total cost exceeds one over this number."""


class Clusters:
    """Groups with their boxes and statistics, as arrays that grow together.

    Parameters
    ----------
    costs : CellCosts
        Of the rows.
    labels : int64 array
        The group of every row; -1 for none.
    n : int
    stats : GroupStats
        Of the groups.
    """

    def __init__(self, costs: CellCosts, labels: IntArray, n: int, stats: GroupStats) -> None:
        self.costs, self.labels = costs, labels
        rows, offsets = group_rows(labels, n)
        self.low, self.high = bounds(costs.codes[rows], offsets[:-1], offsets[1:])
        self.rows = np.diff(offsets)
        self.stats = stats
        self.cost = costs.boxes(self.low, self.high)

    def __len__(self) -> int:
        return len(self.rows)

    def rise(self, low: IntArray, high: IntArray, rows: int, cost: int, among: IntArray) -> IntArray:
        """Return the increase of the total cost if a box of ``rows`` rows joins each of these groups."""
        joint = self.costs.boxes(np.minimum(self.low[among], low), np.maximum(self.high[among], high))
        rise: IntArray = joint * (self.rows[among] + rows) - self.cost[among] * self.rows[among] - cost * rows
        return rise

    def absorb(self, group: int, low: IntArray, high: IntArray, rows: int) -> None:
        """Widen a group's box by another box."""
        self.low[group] = np.minimum(self.low[group], low)
        self.high[group] = np.maximum(self.high[group], high)
        self.rows[group] += rows
        self.cost[group] = self.costs.boxes(self.low[[group]], self.high[[group]])[0]


def join_rows(
    problem: Problem, model: AllOf, kinds: Kinds, kind: IntArray, block: IntArray, groups: Clusters
) -> tuple[IntArray, int]:
    """Return the labels after every leftover row joins a cluster of its block, or a new group."""
    labels, n = groups.labels.copy(), len(groups)
    left = np.flatnonzero(labels < 0)
    if not len(left):
        return labels, n
    any_record = Monotone.ADD in model.flags
    by_block, starts = _clusters_of(labels, block, n)
    refused = []
    for step, row in enumerate(left.tolist()):
        if step % 256 == 0:
            problem.progress(step / len(left), "joining")
        among = by_block[starts[block[row]] : starts[block[row] + 1]]
        if len(among) and not any_record:
            one = kinds.stats.take(np.full(len(among), kind[row]))
            among = among[model.satisfied(add_groups(groups.stats.take(among), one), problem.reference)]
        if not len(among):
            refused.append(row)
            continue
        box = groups.costs.codes[row].astype(np.int64)
        best = int(among[np.argmin(groups.rise(box, box, 1, 0, among))])
        groups.absorb(best, box, box, 1)
        labels[row] = best
        if not any_record:
            owner = np.append(np.arange(n, dtype=np.int64), best)
            record = kinds.stats.take(np.array([kind[row]]))
            groups.stats = GroupStats.concat([groups.stats, record]).merge(owner, n)
    if refused:
        where, number = np.unique(block[refused], return_inverse=True)
        labels[refused] = n + number
        n += len(where)
    return labels, n


def without_costly(problem: Problem, partition: Partition) -> Partition:
    """Let the records of costly groups join others, one group after the other, as long as that lowers the cost.

    The model must be satisfied by any satisfied group with more records. For example, a group may consist of records
    that lacked a value which every group needs, because small groups took it.
    """
    table = problem.table
    order = problem.order
    rows = order[partition.labels[order] >= 0]
    block = cut_blocks(table, rows, BLOCK)
    costs, kinds = CellCosts.of(table, rows), Kinds.of(problem)
    kind, model = kinds.of_row[rows], problem.model.part(table_level=False)
    labels, n = partition.labels[rows].astype(np.int64), partition.n_groups
    stats = table.stats_of(partition.labels, n, ())
    while n > 1:
        groups = Clusters(costs, labels, n, stats)
        total = groups.cost * groups.rows
        worst = int(np.argmax(total))
        if COSTLY * int(total[worst]) < int(total.sum()):
            break
        others = np.delete(np.arange(n), worst)
        kept = stats.take(others)
        rest = Clusters(costs, places_among(others, n)[labels], n - 1, kept)
        joined, count = join_rows(problem, model, kinds, kind, block, rest)
        after = Clusters(costs, joined, count, kept)
        # a block without a group keeps its records together, which need not satisfy the model
        if count > n - 1 or int((after.cost * after.rows).sum()) >= int(total.sum()):
            break
        labels, n, stats = joined, n - 1, kept
    out = partition.labels.copy()
    out[rows] = labels
    return replace(partition, labels=out, n_groups=n)


def _clusters_of(labels: IntArray, block: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return the clusters of each block, ascending, in compressed rows."""
    own = np.zeros(n, dtype=np.int64)
    inside = labels >= 0
    own[labels[inside]] = block[inside]
    return group_rows(own, int(block.max()) + 1)


def merge_until_satisfied(
    problem: Problem, costs: CellCosts, labels: IntArray, n: int, rows: IntArray
) -> tuple[IntArray, int] | None:
    """Merge groups until every one, and the table, satisfies the model; None if a single group still fails.

    Groups that fail are merged first, starting with the smallest. If only the table as a whole fails, the
    worst-scoring groups are merged, a few at a time.
    """
    table, model = problem.table, problem.model
    everything = np.full(table.n_rows, -1, dtype=np.int64)
    one_by_one, together = model.part(table_level=False), model.part(table_level=True)
    while True:
        problem.progress(1.0, "merging")
        everything[rows] = labels
        stats = table.stats_of(everything, n, model.histogram_keys())
        bad = stats.units == 0
        some = np.flatnonzero(~bad)
        bad[some] = ~one_by_one.satisfied(stats.take(some), problem.reference)
        if bad.any():
            worst = np.flatnonzero(bad)
            worst = worst[np.lexsort((worst, stats.units[worst]))]
        elif together.members and not bool(together.table_satisfied(stats, problem.reference)[0]):
            worst = worst_groups(problem, together, stats)
        else:
            return labels, n
        if n == 1:
            return None
        labels, n = _merge(costs, labels, n, stats, worst)


def _merge(costs: CellCosts, labels: IntArray, n: int, stats: GroupStats, worst: IntArray) -> tuple[IntArray, int]:
    """Merge each of these groups, in this order, with the group that raises the cost least; none merges twice."""
    groups = Clusters(costs, labels, n, stats)
    target = np.arange(n, dtype=np.int64)
    able: BoolArray = np.ones(n, dtype=np.bool_)
    for group in worst.tolist():
        if not able[group]:
            continue
        able[group] = False
        among = np.flatnonzero(able)
        if not len(among):
            break
        rise = groups.rise(
            groups.low[group], groups.high[group], int(groups.rows[group]), int(groups.cost[group]), among
        )
        partner = int(among[np.argmin(rise)])
        target[group] = partner
        able[partner] = False
    _, target = np.unique(target, return_inverse=True)
    return target[labels].astype(np.int64), int(target.max()) + 1
