"""Classes of a table if an adversary knows only some of its quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.kernels.grouping import number_rows, sum_rows


def coarser_units(codes: Sequence[AnyArray], sizes: Sequence[int], units: IntArray) -> IntArray:
    """Return the units of each class that the given columns alone distinguish.

    Examples
    --------
    >>> coarser_units([np.array([0, 0, 2])], [3], np.array([1, 2, 4])).tolist()
    [3, 4]
    """
    if not codes:
        return np.array([units.sum()], dtype=np.int64)
    return sum_rows(codes, sizes, units)


def unique_on(codes: Sequence[AnyArray], sizes: Sequence[int], units: FloatArray | None, unit: int) -> BoolArray:
    """Return which classes contain at most one person, together with all classes that agree in the given columns.

    Without ``units``, every class has one. Floats are exact enough: a sum that they cannot represent is far
    larger than one person.

    Examples
    --------
    >>> unique_on([np.array([0, 0, 2])], [3], None, 1).tolist()
    [False, False, True]
    >>> unique_on([np.array([0, 1, 2])], [3], np.array([1.0, 2.0, 1.0]), 1).tolist()
    [True, False, True]
    """
    span = math.prod(max(int(size), 1) for size in sizes)
    if span > 16 * len(codes[0]) + 4096:
        labels, first = number_rows(codes, sizes)
        span = len(first)
    else:
        # small enough to count in place: no need to number what occurs
        labels = codes[0].astype(np.int64)
        for column, size in zip(codes[1:], sizes[1:], strict=True):
            labels *= max(int(size), 1)
            labels += column
    alone = np.bincount(labels, weights=units, minlength=span) <= unit
    found: BoolArray = alone[labels]
    return found
