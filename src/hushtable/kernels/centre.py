"""The centroid of a shrinking set: means of numbers, modes of labels.

Each sum has a second float for the rounding errors, so that the mean is right to the last digit or two even after a
million removals. Records are processed one after the other, so that compiled loops and plain Python give the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.metric import Metric


class Sums(NamedTuple):
    """What a centroid is computed from.

    Attributes
    ----------
    total, rest : float64 arrays
        Per column, the sum of known numbers and its accumulated rounding error.
    known : int64 array
        How many numbers are known.
    counts : int64 array
        ``counts[metric.start[j] + code]``: records with that label.
    mode : int64 array
        The most frequent label of each column; ties go to the lowest code.
    """

    total: FloatArray
    rest: FloatArray
    known: IntArray
    counts: IntArray
    mode: IntArray

    def copy(self) -> Sums:
        """Return an independent copy."""
        return Sums(self.total.copy(), self.rest.copy(), self.known.copy(), self.counts.copy(), self.mode.copy())


def no_sums(metric: Metric) -> Sums:
    """Return the sums over no records."""
    d = len(metric.labels)
    return Sums(
        np.zeros(d),
        np.zeros(d),
        np.zeros(d, dtype=np.int64),
        np.zeros(len(metric.above), dtype=np.int64),
        np.zeros(d, dtype=np.int64),
    )


def shift(points: Any, rows: Any, sign: Any, sums: Any, metric: Any) -> None:
    """Add (sign 1) or remove (sign -1) these rows; call ``modes`` after adding."""
    for i in range(len(rows)):
        for j in range(points.shape[1]):
            x = points[rows[i], j]
            if metric.labels[j]:
                code = np.int64(x)
                sums.counts[metric.start[j] + code] += sign
                # counts only fall, so the mode changes only if its own count falls
                if sign < 0 and code == sums.mode[j]:
                    _mode(j, sums, metric)
            elif x == x:
                y = sign * x
                before = sums.total[j]
                after = before + y
                part = after - before
                sums.rest[j] += (before - (after - part)) + (y - part)
                sums.total[j] = after
                sums.known[j] += sign


def modes(sums: Any, metric: Any) -> None:
    """Find the mode of every column of labels."""
    for j in range(len(metric.labels)):
        if metric.labels[j]:
            _mode(j, sums, metric)


def _mode(j: Any, sums: Any, metric: Any) -> None:
    best = 0
    for code in range(metric.size[j]):
        if sums.counts[metric.start[j] + code] > sums.counts[metric.start[j] + best]:
            best = code
    sums.mode[j] = best


def centre(sums: Any, metric: Any, out: Any) -> None:
    """Write the centroid into ``out``; NaN if no number is known."""
    for j in range(len(out)):
        if metric.labels[j]:
            out[j] = sums.mode[j]
        elif sums.known[j] > 0:
            out[j] = (sums.total[j] + sums.rest[j]) / sums.known[j]
        else:
            out[j] = np.nan
