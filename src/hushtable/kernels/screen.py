"""Kernel of screening: which groups cannot satisfy limits on the shares of their values, and what parts of them can.

It asks less than the models do, and all of it in one pass: a group that it lets through may still violate a model,
one that it rules out cannot satisfy them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.kernels.caps import ROUNDING
from hushtable.kernels.compile import dispatch


@dataclass(frozen=True)
class ShareLimits:
    """What several models demand of the values of a group, one model per row.

    Attributes
    ----------
    caps, floors : (models, values) float64 arrays
        The largest and the smallest share of every value.
    slack : float64 array
        Total by which shares may exceed their caps.
    needed : int64 array
        Number of distinct values.
    minimum : int
        Units.
    complete : bool
        Whether nothing else is known about what parts of a group can keep.
    """

    caps: FloatArray
    floors: FloatArray
    slack: FloatArray
    needed: IntArray
    minimum: int
    complete: bool = True


@dataclass(frozen=True)
class Screened:
    """What is known about groups after screening.

    Attributes
    ----------
    lost : bool array
        Groups that cannot satisfy the limits.
    forced : int64 array
        Units of each lost group that no part of it can keep.
    facts : int64 array
        Of the other groups, the units, the sum of the squared sizes, and the number; and the sum of ``forced``.
    """

    lost: BoolArray
    forced: IntArray
    facts: IntArray


def screen_groups(
    group: AnyArray, sizes: IntArray, codes: IntArray, units: IntArray, limits: ShareLimits, *, parts: bool = True
) -> Screened:
    """Screen groups of tuples.

    Parameters
    ----------
    group : integer array
        The group of each tuple.
    sizes : int64 array
        Units of each group; their squares must fit into 63 bits together.
    codes, units : int64 arrays
        Sensitive value and weight of each tuple.
    limits : ShareLimits
    parts : bool
        Whether to find out what parts of a lost group can keep. If not, only groups below the minimum are forced.

    Examples
    --------
    >>> limits = ShareLimits(np.array([[0.5, 0.5]]), np.zeros((1, 2)), np.zeros(1), np.ones(1, np.int64), 2)
    >>> found = screen_groups(np.array([0, 0, 1, 1]), np.array([8, 2]), np.array([0, 1, 0, 1]), np.array([6, 2, 1, 1]),
    ...     limits)
    >>> found.lost.tolist(), found.forced.tolist(), found.facts.tolist()
    ([True, False], [4, 0], [2, 4, 1, 4])
    """
    lost, forced = np.empty(len(sizes), dtype=np.bool_), np.empty(len(sizes), dtype=np.int64)
    facts = np.empty(4, dtype=np.int64)
    # the same loops: plain Python for a few groups, compiled for more
    dispatch(_screen_loops, _screen_loops, 50 * len(group))(
        group, sizes, codes, units, limits.caps, limits.floors, limits.slack, limits.needed, limits.minimum, parts,
        lost, forced, facts,
    )  # fmt: skip
    return Screened(lost, forced, facts)


def _screen_loops(
    group: Any, sizes: Any, codes: Any, units: Any, caps: Any, floors: Any, slack: Any, needed: Any, minimum: Any,
    parts: Any, lost: Any, forced: Any, facts: Any,
) -> None:  # fmt: skip
    n_values = caps.shape[1]
    row = np.empty(len(sizes), np.int64)
    n = 0
    for g in range(len(sizes)):
        row[g] = -1
        if sizes[g] >= minimum:
            row[g] = n * n_values
            n += 1
    counts = np.zeros(n * n_values, np.int64)
    for i in range(len(group)):
        begin = row[np.uint64(group[i])]
        if begin >= 0:
            counts[np.uint64(begin + codes[i])] += units[i]
    facts[:] = 0
    for g in range(len(sizes)):
        size, begin = sizes[g], row[g]
        kept = np.int64(0)
        if begin >= 0:
            kept = _most(counts[begin : begin + n_values], size, caps, floors, slack, needed, minimum, parts)
        lost[g] = kept < size
        forced[g] = size - kept if lost[g] and (parts or begin < 0) else 0
        facts[3] += forced[g]
        if kept >= size and size > 0:
            facts[0] += size
            facts[1] += size * size
            facts[2] += 1


def _most(
    counts: Any, size: Any, caps: Any, floors: Any, slack: Any, needed: Any, minimum: Any, parts: Any
) -> Any:  # fmt: skip
    """The largest number of units of a group that parts of it can keep; without ``parts``, 0 if that is not all."""
    n_values = len(counts)
    distinct = 0
    for v in range(n_values):
        distinct += counts[v] > 0
    most = np.int64(size)
    for m in range(len(slack)):
        if distinct < needed[m]:
            return np.int64(0)
        # the caps: Newton's steps from above, as in ``most_within_caps``
        kept = float(size)
        need = 1.0 - slack[m] - ROUNDING
        while True:
            free = ROUNDING * (1 + n_values)
            rest = need
            for v in range(n_values):
                if counts[v] > caps[m, v] * kept:
                    rest -= caps[m, v]
                else:
                    free += counts[v]
            if rest <= 0 or free >= kept * rest * (1 - ROUNDING):
                break
            if not parts:
                return np.int64(0)
            kept = free / rest
        most = min(most, np.int64(kept * (1 + ROUNDING) + ROUNDING))
        for v in range(n_values):
            # of a part with M units at least floor * M have the value
            if floors[m, v] * most * (1 - ROUNDING) > counts[v]:
                most = np.int64(counts[v] / floors[m, v] * (1 + ROUNDING) + ROUNDING)
    if most < size and (most < minimum or not parts):
        return np.int64(0)
    return most
