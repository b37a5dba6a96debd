"""Kernels of spans: the smallest and largest code of every group, which is a contiguous range of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.parallel import over_groups


def bounds(work: AnyArray, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return the smallest and largest code of each group in each column.

    Examples
    --------
    >>> lo, hi = bounds(np.array([[3, 1], [5, 0], [4, 4]], dtype=np.uint8), np.array([0]), np.array([3]))
    >>> lo.tolist(), hi.tolist()
    ([[3, 0]], [[5, 4]])
    """
    lo = np.empty((len(starts), work.shape[1]), dtype=np.int64)
    hi = np.empty_like(lo)
    dispatch(_bounds_loops, _bounds_numpy, len(work))(work, starts, ends, lo, hi)
    return lo, hi


def _bounds_numpy(work: Any, starts: Any, ends: Any, lo: Any, hi: Any) -> None:
    for g in range(len(starts)):
        rows = work[starts[g] : ends[g]]
        lo[g] = rows.min(axis=0)
        hi[g] = rows.max(axis=0)


def _bounds_loops(work: Any, starts: Any, ends: Any, lo: Any, hi: Any) -> None:
    d = work.shape[1]
    small = np.empty(d, work.dtype)
    large = np.empty(d, work.dtype)
    for g in range(len(starts)):
        first = starts[g]
        for j in range(d):
            small[j] = work[first, j]
            large[j] = work[first, j]
        for i in range(first + 1, ends[g]):
            for j in range(d):
                x = work[i, j]
                small[j] = min(small[j], x)
                large[j] = max(large[j], x)
        for j in range(d):
            lo[g, j] = small[j]
            hi[g, j] = large[j]


def column_bounds(work: AnyArray, starts: IntArray, ends: IntArray, dims: IntArray) -> tuple[IntArray, IntArray]:
    """Return the smallest and largest code of each group in one column, which may differ between groups."""
    lo = np.empty(len(starts), dtype=np.int64)
    hi = np.empty(len(starts), dtype=np.int64)
    kernel = dispatch(_column_bounds_loops, _column_bounds_numpy, len(work))
    over_groups(starts, ends, lambda g: kernel(work, starts[g], ends[g], dims[g], lo[g], hi[g]))
    return lo, hi


def _column_bounds_numpy(work: Any, starts: Any, ends: Any, dims: Any, lo: Any, hi: Any) -> None:
    for g in range(len(starts)):
        codes = work[starts[g] : ends[g], dims[g]]
        lo[g], hi[g] = codes.min(), codes.max()


def _column_bounds_loops(work: Any, starts: Any, ends: Any, dims: Any, lo: Any, hi: Any) -> None:
    for g in range(len(starts)):
        dim = dims[g]
        small = work[starts[g], dim]
        large = small
        for i in range(starts[g] + 1, ends[g]):
            x = work[i, dim]
            small = min(small, x)
            large = max(large, x)
        lo[g] = small
        hi[g] = large
