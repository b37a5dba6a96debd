"""Kernels of share caps: how much of a group can be kept without any value's share exceeding its cap."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.compile import dispatch

ROUNDING = 1e-9
"""Tolerance for rounding in a number of units."""


def most_within_caps(
    offsets: IntArray, values: IntArray, units: IntArray, caps: FloatArray, slack: float, least: int
) -> IntArray:
    """Return the largest number of units of each group that can be chosen with shares within their caps.

    M units, h'_i <= h_i of value i, respect the caps if the sum of max(h'_i - cap_i M, 0) is at most slack M. Then (1 -
    slack) M <= sum min(h_i, cap_i M), which is below A + B M for the units A of any values and the caps B of the
    others: M <= A / (1 - slack - B), tightened by Newton's steps from above. Finding the largest whole number that
    whole h'_i allow would take longer than judging the few nodes that it rules out.

    Parameters
    ----------
    offsets, values, units : int64 arrays
        Counts of each group, as in ``Histogram``.
    caps : float64 array
        The largest share of every value.
    slack : float
        Total by which shares may exceed their caps.
    least : int
        Fewer units than this count as none.

    Returns
    -------
    int64 array
        An upper bound on the number of units.

    Examples
    --------
    >>> caps = np.array([0.5, 0.5])
    >>> most_within_caps(np.array([0, 2]), np.array([0, 1]), np.array([6, 2]), caps, 0.0, 1).tolist()
    [4]
    """
    out = np.empty(len(offsets) - 1, dtype=np.int64)
    # the same loops: plain Python for a few groups, compiled for more
    dispatch(_caps_loops, _caps_loops, 50 * len(units))(offsets, values, units, caps, float(slack), least, out)
    return out


def _caps_loops(offsets: Any, values: Any, units: Any, caps: Any, slack: Any, least: Any, out: Any) -> None:
    for g in range(len(out)):
        begin, end = offsets[g], offsets[g + 1]
        kept = _relaxed(values[begin:end], units[begin:end], caps, slack)
        out[g] = kept if kept >= least else 0


def _relaxed(values: Any, units: Any, caps: Any, slack: Any) -> Any:
    """The largest number of units, if parts of a unit could be chosen."""
    kept = 0.0
    for i in range(len(values)):
        kept += units[i]
    # a bound that is too small would be wrong
    need = 1.0 - slack - ROUNDING
    while True:
        free = ROUNDING * (1 + len(values))
        rest = need
        for i in range(len(values)):
            if units[i] > caps[values[i]] * kept:
                rest -= caps[values[i]]
            else:
                free += units[i]
        # stop at a step as small as a rounding error
        if rest <= 0 or free >= kept * rest * (1 - ROUNDING):
            break
        kept = free / rest
    return np.int64(kept * (1 + ROUNDING) + ROUNDING)


def smallest_within_caps(caps: FloatArray, slack: float, most: int) -> int:
    """Return the smallest number of records with shares within their caps; ``most`` if there is none below it.

    Examples
    --------
    >>> smallest_within_caps(np.array([0.4, 0.4, 0.4]), 0.0, 100), smallest_within_caps(np.array([0.4, 0.4]), 0.1, 9)
    (3, 9)
    """
    for size in range(1, most):
        cap = caps * size + ROUNDING
        whole = np.minimum(cap, size).astype(np.int64)
        missing = size - int(whole.sum())
        # what the next unit of each value costs, the cheapest first; one of each is enough
        partly = np.sort(1 - (cap - whole)[whole < size])[: max(missing, 0)]
        cost = float(partly.sum()) + max(missing - len(partly), 0)
        if cost <= slack * size + ROUNDING * (1 + size):
            return size
    return most
