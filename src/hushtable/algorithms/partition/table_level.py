"""Committing a level's cuts under table-level models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hushtable.algorithms.partition.frontier import Frontier, Proposals
from hushtable.arrays import IntArray
from hushtable.models.compose import AllOf
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["CHECKS", "commit_prefix", "satisfied_prefix"]

CHECKS = 64
"""Maximum number of evaluations of the table per level."""


def commit_prefix(frontier: Frontier, accepted: Proposals, model: AllOf, reference: Reference) -> Proposals:
    """Return as many of the cuts, widest group first, as keep the table satisfied.

    Bisection finds the longest satisfied prefix; the cut after it is dropped, and the search continues with the rest
    until ``CHECKS`` is used up. The result was evaluated as a whole, so it is satisfied even if the model is not
    monotone.
    """
    if not len(accepted):
        return accepted
    standing, n_done = frontier.table_stats(model)
    everything = GroupStats.concat([standing, frontier.children_stats(accepted, model)])

    def holds(chosen: IntArray) -> bool:
        keep = np.ones(len(standing), dtype=np.bool_)
        keep[n_done + accepted.group[chosen]] = False
        groups = np.concatenate([np.flatnonzero(keep), len(standing) + accepted.children_of(chosen)])
        return bool(model.table_satisfied(everything.take(groups), reference)[0])

    chosen = satisfied_prefix(np.lexsort((accepted.group, -frontier.widths(accepted))), holds)
    return accepted.take(chosen)


def satisfied_prefix(order: IntArray, holds: Callable[[IntArray], bool]) -> IntArray:
    """Return as many of the steps, in this order, as keep the table satisfied; sorted.

    Parameters
    ----------
    order : int64 array
        The steps, the one to commit first in front.
    holds : callable
        Whether the table is satisfied after these steps; called at most about ``CHECKS`` times.

    Examples
    --------
    >>> satisfied_prefix(np.array([2, 0, 1]), lambda steps: 0 not in steps).tolist()
    [1, 2]
    """
    rest, checks = order, CHECKS
    committed = rest[:0]
    while len(rest) and checks > 0:
        low, high = 0, len(rest)
        checks -= 1
        if holds(np.concatenate([committed, rest])):
            return np.sort(np.concatenate([committed, rest]))
        high -= 1
        while low < high and checks > 0:
            middle = (low + high + 1) // 2
            checks -= 1
            if holds(np.concatenate([committed, rest[:middle]])):
                low = middle
            else:
                high = middle - 1
        committed = np.concatenate([committed, rest[:low]])
        rest = rest[low + 1 :]
    return np.sort(committed)
