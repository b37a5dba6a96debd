"""Refining: lowering the loss of any valid partition while every group stays satisfied.

This is a local search. Records move to the group whose loss grows least; records of groups that cannot spare any swap
places; groups split in two, or dissolve if their records are better off elsewhere; and records that lack a few
companions form new groups with records that larger groups can spare. Each round proposes such changes for all groups
at once, takes the ones that save most and affect no group twice, computes their exact savings, evaluates the model on
all affected groups in one call, and keeps the changes that save something and keep every group satisfied. So the loss
never rises, for any model.

The loss is the NCP of the cells in each column's published style, weighted by the columns' weights, in integers.
Nothing is random; ties go by canonical order, so the result depends only on the table's content. The budget is a
number of rounds, not of seconds.

Refined groups overlap: the cells of several groups may cover a record. That is sound for models that survive merging.
For others, and if a population or an adversary's background is counted by the cells that cover it, the partition is
returned unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.refining import changes
from hushtable.algorithms.refining.state import State
from hushtable.arrays import IntArray
from hushtable.models.base import Monotone

__all__ = ["ROUNDS", "refine"]

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
    order = table.canonical_order
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
        lambda: changes.move(state) + changes.dissolve(state) + changes.split(state),
        lambda: changes.swap(state),
        lambda: changes.found(state),
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
