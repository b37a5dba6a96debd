"""Cutting a sorted sequence into runs with the least sum of squared errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.compile import dispatch


def best_runs(values: FloatArray, needed: int, missing: float, units: IntArray | None = None) -> IntArray:
    """Return where each run of an optimal partition begins.

    Parameters
    ----------
    values : float64 array
        Ascending, missing ones (NaN) first.
    needed : int
        Minimum units of a run.
    missing : float
        Cost of a missing value in a run that has others.
    units : int64 array, optional
        Weight of each value. Defaults to 1.

    Examples
    --------
    >>> best_runs(np.array([1.0, 2.0, 9.0, 10.0, 11.0]), 2, 1.0).tolist()
    [0, 2]
    """
    n = len(values)
    weights = np.ones(n, dtype=np.int64) if units is None else units
    before = np.zeros(n + 1, dtype=np.int64)
    dispatch(_paths, _paths, n)(values, weights, needed, missing, before)
    starts = []
    at = n
    while at > 0:
        at = int(before[at])
        starts.append(at)
    return np.array(starts[::-1], dtype=np.int64)


def _paths(values: Any, weights: Any, needed: Any, missing: Any, before: Any) -> None:
    """Fill ``before[i]`` with the beginning of the last run of the best partition of the first i values."""
    n = len(values)
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    heaviest = 1
    for i in range(n):
        heaviest = max(heaviest, weights[i])
    for i in range(1, n + 1):
        mean, error, known, gaps, total = 0.0, 0.0, 0, 0, 0
        for j in range(i - 1, -1, -1):
            x = values[j]
            total += weights[j]
            if x == x:
                known += 1
                step = x - mean
                mean += step / known
                error += step * (x - mean)
            else:
                gaps += 1
            if total >= 2 * needed + heaviest - 1 and best[i] < np.inf:
                break
            if total >= needed:
                cost = best[j] + error + (gaps * missing if known > 0 else 0.0)
                if cost < best[i]:
                    best[i] = cost
                    before[i] = j
