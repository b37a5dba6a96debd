"""Spending the suppression budget where it gains most: on the outliers that stretch a group.

In each round, every group offers its best shave (all its records at the lowest or at the highest code of one column),
if the remaining records still satisfy the model and the loss falls: the remaining records gain a narrower cell, the
suppressed ones lose all detail. Offers are taken by gain per suppressed person, until the budget is used up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, mask_of
from hushtable.kernels.grouping import group_rows
from hushtable.table.coded_columns import SCALE
from hushtable.table.encoded import EncodedTable

ROUNDS = 8


def shave(problem: Problem, partition: Partition) -> Partition:
    """Return the partition with some outliers suppressed, within the problem's budget."""
    table = problem.table
    labels = partition.labels.copy()
    left = problem.budget - int(table.units_of(np.flatnonzero(labels[: table.n_sample] < 0)).sum())
    for _ in range(ROUNDS):
        gain, cost, column, high = _offers(table, labels, partition.n_groups)
        offered = np.flatnonzero(gain > 0)
        if not len(offered) or left <= 0:
            break
        outlying = _outlying(table, labels, column, high, gain > 0)
        tried = np.where(outlying, -1, labels)
        stats = table.stats_of(tried, partition.n_groups, problem.model.histogram_keys())
        fit = problem.model.satisfied(stats, problem.reference) & (gain > 0)
        order = np.lexsort((np.arange(len(gain)), -gain / np.maximum(cost, 1)))
        order = order[fit[order]]
        chosen = order[np.cumsum(cost[order]) <= left]
        if not len(chosen):
            break
        labels[outlying & mask_of(chosen, partition.n_groups)[np.maximum(labels, 0)]] = -1
        left -= int(cost[chosen].sum())
    return replace(partition, labels=labels)


def _offers(table: EncodedTable, labels: IntArray, n_groups: int) -> tuple[FloatArray, IntArray, IntArray, BoolArray]:
    """Each group's best shave: gain, units lost, column, and whether at the high end."""
    rows, offsets = group_rows(labels, n_groups)
    lengths = np.diff(offsets)
    weights = table.units_of(rows)
    total = np.add.reduceat(np.append(weights, 0), offsets[:-1]) * (lengths > 0)
    spans = np.zeros((n_groups, len(table.quasi)), dtype=np.int64)
    options = []
    for j, column in enumerate(table.quasi):
        ends = _ends(column.codes, rows, offsets, weights)
        position = column.positions
        spans[:, j] = position[ends[0]] - position[ends[3]]
        options.append((position[ends[4]] - position[ends[3]], ends[5], j, False))
        options.append((position[ends[0]] - position[ends[1]], ends[2], j, True))
    full = sum(round(SCALE * c.weight) for c in table.quasi)
    detail = (full - spans.sum(axis=1)).astype(np.float64)
    best = np.full(n_groups, -np.inf)
    cost = np.zeros(n_groups, dtype=np.int64)
    which = np.zeros(n_groups, dtype=np.int64)
    high = np.zeros(n_groups, dtype=np.bool_)
    for narrower, lost, j, at_high in options:
        gain = narrower.astype(np.float64) * (total - lost) - lost * detail
        better = (gain > best) & (lost > 0) & (lost < total)
        best[better], cost[better] = gain[better], lost[better]
        which[better], high[better] = j, at_high
    return best, cost, which, high


def _ends(codes: AnyArray, rows: IntArray, offsets: IntArray, weights: IntArray) -> tuple[IntArray, ...]:
    """Per group: highest code, next lower code, units at the highest; lowest, next higher, units at the lowest."""
    starts = np.minimum(offsets[:-1], max(len(rows) - 1, 0))
    own = codes[rows].astype(np.int64)
    lengths = np.diff(offsets)
    group = np.repeat(np.arange(len(lengths)), lengths)
    high, low = np.maximum.reduceat(own, starts), np.minimum.reduceat(own, starts)
    at_high, at_low = own == high[group], own == low[group]
    below = np.maximum.reduceat(np.where(at_high, low[group], own), starts)
    above = np.minimum.reduceat(np.where(at_low, high[group], own), starts)
    # rows of the population stay and keep the cell wide, so an end with such rows offers nothing
    stays = weights == 0
    units_high = np.add.reduceat(np.where(at_high, weights, 0), starts)
    units_high[np.logical_or.reduceat(at_high & stays, starts)] = 0
    units_low = np.add.reduceat(np.where(at_low, weights, 0), starts)
    units_low[np.logical_or.reduceat(at_low & stays, starts)] = 0
    return high, below, units_high, low, above, units_low


def _outlying(
    table: EncodedTable, labels: IntArray, column: IntArray, high: BoolArray, offered: BoolArray
) -> BoolArray:
    """Return the sample rows at the end that their group offers to suppress."""
    out = np.zeros(table.n_rows, dtype=np.bool_)
    rows = np.flatnonzero(labels >= 0)
    group = labels[rows]
    for j, c in enumerate(table.quasi):
        mine = rows[offered[group] & (column[group] == j)]
        if not len(mine):
            continue
        g = labels[mine]
        codes = c.codes[mine].astype(np.int64)
        top = np.full(len(column), -1, dtype=np.int64)
        np.maximum.at(top, g, codes)
        bottom = np.full(len(column), c.coded.size, dtype=np.int64)
        np.minimum.at(bottom, g, codes)
        out[mine] = np.where(high[g], codes == top[g], codes == bottom[g])
    out[table.n_sample :] = False
    return out
