"""Lowering the loss of groups under any model: moves, swaps, and two groups pooled and cut anew.

Each round proposes one change for every record (to the group of one of its neighbours, alone or in exchange) or for
every group (with the nearest one), takes those that save most and touch no group twice, asks the model about all
touched groups in one call, and keeps those that leave them satisfied. Rounds go through neighbours and partners in
turn, so that what was refused does not keep others from their chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.algorithms.cluster.groups import stats_of
from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.grouping import group_rows

__all__ = ["descend"]

ROUNDS, WORK = 720, 12_000_000
"""So many rounds, fewer for tables of more than WORK / ROUNDS records."""

POOLING = 12
"""Every so many rounds groups are pooled and cut anew, and large ones cut in two."""

Change = tuple[float, tuple[int, ...], IntArray, IntArray]
"""What is saved, the touched groups, the records, and their new groups."""


def descend(
    problem: Problem, space: Space, points: FloatArray, near: IntArray, labels: IntArray, n: int, needed: int
) -> IntArray:
    """Return labels of groups that are satisfied as those given are, with at most their sum of squared errors."""
    units = np.ones(len(labels), dtype=np.int64) if space.units is None else space.units
    labels = labels.copy()
    rounds = max(POOLING, min(ROUNDS, WORK // len(labels)))
    idle = 0
    for turn in range(rounds):
        problem.progress(turn / rounds, "refining")
        if turn % POOLING == POOLING - 1:
            proposed = _pooled(points, labels, n, units, needed, turn // POOLING)
        else:
            proposed = _exchanged(points, near, labels, n, units, needed, turn)
        labels, n, kept = _keep(problem, space, labels, n, proposed)
        idle = 0 if kept else idle + 1
        if idle > 2 * max(near.shape[1], POOLING):
            break
    return labels


def _sums(points: FloatArray, labels: IntArray, n: int) -> tuple[FloatArray, IntArray]:
    # bincount adds in the order of the points, which is canonical
    columns = [np.bincount(labels, weights=points[:, j], minlength=n) for j in range(points.shape[1])]
    return np.column_stack(columns), np.bincount(labels, minlength=n)


def _exchanged(
    points: FloatArray, near: IntArray, labels: IntArray, n: int, units: IntArray, needed: int, turn: int
) -> list[Change]:
    """Each record to the group of one neighbour: alone, or for one of its members."""
    total, count = _sums(points, labels, n)
    weight = np.bincount(labels, weights=units, minlength=n).astype(np.int64)
    members, offsets = group_rows(labels, n)
    i = np.arange(len(labels))
    a, b = labels, labels[near[:, turn % near.shape[1]]]
    r = members[offsets[b] + (turn // 2 + i) % count[b]]
    term = np.einsum("gd,gd->g", total, total) / np.maximum(count, 1)
    own, other = total[a] - points, total[b] + points
    alone = count[a] > 1
    after = np.einsum("gd,gd->g", own, own) / np.maximum(count[a] - 1, 1)
    after += np.einsum("gd,gd->g", other, other) / (count[b] + 1)
    move = np.where(alone & (weight[a] - units >= needed) & (a != b), after - term[a] - term[b], 0.0)
    own, other = own + points[r], other - points[r]
    after = np.einsum("gd,gd->g", own, own) / count[a] + np.einsum("gd,gd->g", other, other) / count[b]
    shift = units[r] - units
    fits = (a != b) & (weight[a] + shift >= needed) & (weight[b] - shift >= needed)
    swap = np.where(fits, after - term[a] - term[b], 0.0)
    saved = np.maximum(move, swap)
    least = 1e-9 * float(np.einsum("nd,nd->", points, points)) / len(points)
    out: list[Change] = []
    for x in np.flatnonzero(saved > least).tolist():
        if move[x] >= swap[x]:
            out.append((float(saved[x]), (int(a[x]), int(b[x])), np.array([x]), np.array([b[x]])))
        else:
            out.append((float(saved[x]), (int(a[x]), int(b[x])), np.array([x, r[x]]), np.array([b[x], a[x]])))
    return out


def _pooled(points: FloatArray, labels: IntArray, n: int, units: IntArray, needed: int, turn: int) -> list[Change]:
    """Large groups cut in two, and each group pooled with one of its nearest and cut anew."""
    total, count = _sums(points, labels, n)
    middle = total / np.maximum(count, 1)[:, None]
    members, offsets = group_rows(labels, n)
    out: list[Change] = []
    # at most so many groups in turn: each looks at all others
    for g in range(turn % max(1, n // 2048), n, max(1, n // 2048)):
        own = members[offsets[g] : offsets[g + 1]]
        if not len(own):
            continue
        if int(units[own].sum()) >= 2 * needed:
            change = _cut(points, own, units, needed, 0.0, (g,), (g, n + g))
            out += [change] if change else []
        far = np.einsum("gd,gd->g", middle - middle[g], middle - middle[g])
        far[g], far[count == 0] = np.inf, np.inf
        partner = int(np.argsort(far, kind="stable")[turn % min(3, n)])
        if far[partner] < np.inf:
            both = np.sort(np.concatenate([own, members[offsets[partner] : offsets[partner + 1]]]))
            before = float((total[g] @ total[g]) / count[g] + (total[partner] @ total[partner]) / count[partner])
            joint = total[g] + total[partner]
            gap = before - float(joint @ joint) / len(both)
            change = _cut(points, both, units, needed, gap, (g, partner), (g, partner))
            out += [change] if change else []
    return out


def _cut(
    points: FloatArray, rows: IntArray, units: IntArray, needed: int, gap: float, touched: tuple[int, ...],
    names: tuple[int, int],
) -> Change | None:  # fmt: skip
    """Cut records in two where their error falls most, along the line between two that are far apart."""
    x = points[rows]
    x = x - x.mean(axis=0)
    first = int(np.argmax(np.einsum("nd,nd->n", x, x)))
    second = int(np.argmax(np.einsum("nd,nd->n", x - x[first], x - x[first])))
    order = np.argsort(np.einsum("nd,d->n", x, x[second] - x[first]), kind="stable")
    left = np.cumsum(x[order], axis=0)[:-1]
    weight = np.cumsum(units[rows][order])
    n = np.arange(1, len(rows))
    square = np.einsum("nd,nd->n", left, left)
    saved = np.where((weight[:-1] >= needed) & (weight[-1] - weight[:-1] >= needed), square / n + square / n[::-1], 0.0)
    if not len(saved):
        return None
    best = int(np.argmax(saved))
    scale = float(np.einsum("nd,nd->", x, x))
    if not saved[best] - gap > 1e-9 * scale:
        return None
    label = np.where(np.arange(len(rows)) <= best, names[0], names[1])
    return float(saved[best] - gap), touched, rows[order], label


def _keep(
    problem: Problem, space: Space, labels: IntArray, n: int, proposed: Sequence[Change]
) -> tuple[IntArray, int, bool]:
    """Make the changes that save most, touch no group twice and leave the model satisfied."""
    used: set[int] = set()
    chosen: list[Change] = []
    for change in sorted(proposed, key=lambda c: (-c[0], int(c[2][0]))):
        if used.isdisjoint(change[1]):
            used.update(change[1])
            chosen.append(change)
    groupwise, together = problem.model.part(table_level=False), problem.model.part(table_level=True)
    if chosen:
        trial, owner, m = _applied(labels, n, chosen)
        bad = owner[~groupwise.satisfied(stats_of(problem, space, trial, m), problem.reference)]
        failed = set(bad.tolist())
        chosen = [c for at, c in enumerate(chosen) if at not in failed]
    while chosen:
        trial, _, m = _applied(labels, n, chosen)
        if bool(together.table_satisfied(stats_of(problem, space, trial, m), problem.reference)[0]):
            return trial, m, True
        chosen = chosen[: len(chosen) // 2]
    return labels, n, False


def _applied(labels: IntArray, n: int, chosen: Sequence[Change]) -> tuple[IntArray, IntArray, int]:
    """Return the new labels without gaps, which change each group comes from (-1: none), and how many groups."""
    trial = labels.copy()
    source = np.full(2 * n, -1, dtype=np.int64)
    for at, (_, touched, rows, names) in enumerate(chosen):
        trial[rows] = names
        source[list(touched)] = at
        source[names] = at
    present, trial = np.unique(trial, return_inverse=True)
    return trial.reshape(-1).astype(np.int64), source[present], len(present)
