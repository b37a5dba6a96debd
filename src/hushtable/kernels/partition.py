"""Kernels of top-down partitioning: balanced cuts and moving rows, for a whole level at once.

``work`` is the row-major matrix of codes that is being partitioned, ``index`` the original row of each of its rows;
a group is a contiguous range ``starts[g]:ends[g]``. Rows are moved, not pointed at: at ten million rows indirection
costs three times the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.kernels.grouping import stable_order
from hushtable.parallel import over_groups


def balanced_cuts(
    work: AnyArray,
    index: AnyArray,
    units: IntArray,
    starts: IntArray,
    ends: IntArray,
    dims: IntArray,
    lo: IntArray,
    hi: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return, per group, the cut of one column that divides its people most evenly.

    ``units`` holds each original row's weight, or is empty if every row weighs 1. Rows whose code is at most the cut go
    left; neither side is empty. Ties go to the lower cut.

    Returns
    -------
    cut, left, right
        The cut, and the units on either side of it.
    """
    cut = np.empty(len(starts), dtype=np.int64)
    left = np.empty(len(starts), dtype=np.int64)
    right = np.empty(len(starts), dtype=np.int64)
    kernel = dispatch(_cuts_loops, _cuts_numpy, len(work))
    over_groups(
        starts, ends,
        lambda g: kernel(work, index, units, starts[g], ends[g], dims[g], lo[g], hi[g], cut[g], left[g], right[g]),
    )  # fmt: skip
    return cut, left, right


def _cuts_numpy(
    work: Any,
    index: Any,
    units: Any,
    starts: Any,
    ends: Any,
    dims: Any,
    lo: Any,
    hi: Any,
    cut: Any,
    left: Any,
    right: Any,
) -> None:
    for g in range(len(starts)):
        rows = slice(starts[g], ends[g])
        codes = work[rows, dims[g]].astype(np.int64)
        weights = units[index[rows]] if len(units) else np.ones(len(codes), dtype=np.int64)
        present, inverse = np.unique(codes, return_inverse=True)
        below = np.cumsum(np.bincount(inverse, weights=weights).astype(np.int64))
        total = below[-1]
        best = int(np.argmax(np.minimum(below[:-1], total - below[:-1])))
        cut[g], left[g], right[g] = present[best], below[best], total - below[best]


def _cuts_loops(
    work: Any,
    index: Any,
    units: Any,
    starts: Any,
    ends: Any,
    dims: Any,
    lo: Any,
    hi: Any,
    cut: Any,
    left: Any,
    right: Any,
) -> None:
    weighted = len(units) > 0
    counts = np.zeros(1024, np.int64)
    for g in range(len(starts)):
        dim, base = dims[g], lo[g]
        width = hi[g] - base + 1
        m = ends[g] - starts[g]
        total = 0
        if width <= 4 * m + 64:
            if width > len(counts):
                counts = np.zeros(2 * width, np.int64)
            if weighted:
                for i in range(starts[g], ends[g]):
                    u = units[index[i]]
                    counts[np.int64(work[i, dim]) - base] += u
                    total += u
            else:
                for i in range(starts[g], ends[g]):
                    counts[np.int64(work[i, dim]) - base] += 1
                total = m
            below, best = np.int64(0), np.int64(-1)
            for v in range(width - 1):
                # a code without units is a possible cut only if it has rows; the first code always has
                below += counts[v]
                if (counts[v] > 0 or v == 0) and min(below, total - below) > best:
                    best = min(below, total - below)
                    cut[g] = v + base
                    left[g] = below
            for v in range(width):
                counts[v] = 0
        else:
            codes = np.empty(m, np.int64)
            for i in range(m):
                codes[i] = work[starts[g] + i, dim]
            order = stable_order(codes)
            for i in range(m):
                total += units[index[starts[g] + i]] if weighted else 1
            below, best = np.int64(0), np.int64(-1)
            for k in range(m - 1):
                i = order[k]
                below += units[index[starts[g] + i]] if weighted else 1
                if codes[order[k + 1]] != codes[i] and min(below, total - below) > best:
                    best = min(below, total - below)
                    cut[g] = codes[i]
                    left[g] = below
        right[g] = total - left[g]


def split_rows(
    work: AnyArray, index: AnyArray, starts: IntArray, ends: IntArray, dims: IntArray, cuts: IntArray
) -> IntArray:
    """Move the rows of each group with code <= cut to its front, in place; return where the others begin.

    The order within either side is unspecified (nothing may depend on it).
    """
    middle = np.empty(len(starts), dtype=np.int64)
    kernel = dispatch(_split_loops, _split_numpy, len(work))
    over_groups(starts, ends, lambda g: kernel(work, index, starts[g], ends[g], dims[g], cuts[g], middle[g]))
    return middle


def _split_numpy(work: Any, index: Any, starts: Any, ends: Any, dims: Any, cuts: Any, middle: Any) -> None:
    for g in range(len(starts)):
        rows = slice(starts[g], ends[g])
        goes_left = work[rows, dims[g]] <= cuts[g]
        order = np.argsort(~goes_left, kind="stable")
        work[rows] = work[rows][order]
        index[rows] = index[rows][order]
        middle[g] = starts[g] + int(goes_left.sum())


def _split_loops(work: Any, index: Any, starts: Any, ends: Any, dims: Any, cuts: Any, middle: Any) -> None:
    d = work.shape[1]
    for g in range(len(starts)):
        i, j, dim, cut = starts[g], ends[g] - 1, dims[g], cuts[g]
        while True:
            while i <= j and work[i, dim] <= cut:
                i += 1
            while i <= j and work[j, dim] > cut:
                j -= 1
            if i >= j:
                break
            for c in range(d):
                x = work[i, c]
                work[i, c] = work[j, c]
                work[j, c] = x
            r = index[i]
            index[i] = index[j]
            index[j] = r
            i += 1
            j -= 1
        middle[g] = i


def split_ties(
    work: AnyArray,
    index: AnyArray,
    units: IntArray,
    starts: IntArray,
    ends: IntArray,
    dims: IntArray,
) -> tuple[IntArray, IntArray]:
    """Halve each group by (code, original row), so that equal codes may be divided: relaxed partitioning.

    Rows are moved. The original row number breaks ties, so ``index`` must number rows in a canonical order.

    Returns
    -------
    middle, left
        Where the right half begins, and the units of the left half.
    """
    middle = np.empty(len(starts), dtype=np.int64)
    left = np.empty(len(starts), dtype=np.int64)
    for g in range(len(starts)):
        rows = slice(starts[g], ends[g])
        order = np.lexsort((index[rows], work[rows, dims[g]]))
        work[rows] = work[rows][order]
        index[rows] = index[rows][order]
        weights = units[index[rows]] if len(units) else np.ones(len(order), dtype=np.int64)
        below = np.cumsum(weights)[:-1]
        total = below[-1] + weights[-1] if len(below) else weights[-1]
        best = int(np.argmax(np.minimum(below, total - below)))
        middle[g], left[g] = starts[g] + best + 1, below[best]
    return middle, left


def split_children(work: AnyArray, index: AnyArray, start: int, end: int, dim: int, child: IntArray) -> IntArray:
    """Order one group's rows by the child node of their code; return where each child's rows begin, and the end."""
    owner = child[work[start:end, dim]]
    order = np.argsort(owner, kind="stable")
    work[start:end] = work[start:end][order]
    index[start:end] = index[start:end][order]
    sorted_owner = owner[order]
    edges = np.flatnonzero(np.diff(sorted_owner)) + 1
    return np.concatenate([[start], edges + start, [end]]).astype(np.int64)


def spread_labels(rows: AnyArray, starts: IntArray, ends: IntArray, number: IntArray, n_rows: int) -> AnyArray:
    """Give each row of group g (``rows[starts[g]:ends[g]]``) the label ``number[g]``; rows in no group get -1.

    Examples
    --------
    >>> spread_labels(np.array([2, 0]), np.array([0, 1]), np.array([1, 2]), np.array([5, 6]), 3).tolist()
    [6, -1, 5]
    """
    labels = np.full(n_rows, -1, dtype=np.int32 if len(starts) < 2**31 else np.int64)
    kernel = dispatch(_spread_loops, _spread_numpy, len(rows))
    over_groups(starts, ends, lambda g: kernel(rows, starts[g], ends[g], number[g], labels))
    return labels


def _spread_numpy(rows: Any, starts: Any, ends: Any, number: Any, labels: Any) -> None:
    for g in range(len(starts)):
        labels[rows[starts[g] : ends[g]]] = number[g]


def _spread_loops(rows: Any, starts: Any, ends: Any, number: Any, labels: Any) -> None:
    for g in range(len(starts)):
        for i in range(starts[g], ends[g]):
            labels[rows[i]] = number[g]
