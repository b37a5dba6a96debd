"""Kernels of published cells: the cost of a group of records, and the cheapest group for a record to join.

A column is of one of three kinds: a hierarchy node (state: a leaf below it and its height), a range (state: its ends)
or a set (state: bits). All costs are integers, so sums do not depend on their order. ``tables`` is what a column's
costs are looked up in; see ``hushtable.algorithms.refining.cells``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch

NODE, RANGE, SET = 0, 1, 2


class Tables(NamedTuple):
    """How the columns are published, and the cost of that.

    Attributes
    ----------
    kind : (d,) int64 array
        ``NODE``, ``RANGE`` or ``SET``.
    at : (d,) int64 array
        Where a node column's look-up tables begin: height h, code c is entry ``at + h * size + c``.
    size : (d,) int64 array
        Codes of each column.
    weight : (d,) int64 array
        Cost of one more leaf.
    gap : (d,) int64 array
        Cost of a range that contains code 0 and others; -1 if code 0 is an ordinary value.
    word : (d,) int64 array
        Where a set column's bits begin.
    words : int
        Total number of words of bits.
    node, leaf : int64 arrays
        The node above a code, and the cost of publishing it.
    """

    kind: IntArray
    at: IntArray
    size: IntArray
    weight: IntArray
    gap: IntArray
    word: IntArray
    words: int
    node: IntArray
    leaf: IntArray


def cover(
    codes: AnyArray, rows: IntArray, offsets: IntArray, tables: Tables, *, keep: bool = True
) -> tuple[IntArray, IntArray, AnyArray, IntArray]:
    """Return the cells of the groups ``rows[offsets[g]:offsets[g + 1]]``.

    Returns
    -------
    first, second, bits, cost
        The two numbers of each node or range, the bits of the sets, and the cost of every cell, group by column. With
        ``keep=False``, only the cost is returned, summed over the columns. An empty group costs nothing.

    Examples
    --------
    >>> one = np.array([1])
    >>> ranges = Tables(one * RANGE, one * 0, one * 9, one * 5, -one, one * 0, 0, one, one)
    >>> cover(np.array([[3], [7], [4]]), np.arange(3), np.array([0, 2, 3]), ranges)[3].tolist()
    [[20], [0]]
    """
    n, d = len(offsets) - 1, codes.shape[1]
    stored = n if keep else 1
    first, second = np.zeros((stored, d), dtype=np.int64), np.zeros((stored, d), dtype=np.int64)
    bits = np.zeros((stored, max(tables.words, 1)), dtype=np.uint64)
    cost = np.zeros((n, d if keep else 1), dtype=np.int64)
    if n:
        dispatch(_cover_loops, _cover_numpy, len(rows))(
            codes, rows, offsets, *_plain(tables), first, second, bits, cost, keep
        )
    return first, second, bits, cost if keep else cost[:, 0]


def _plain(t: Tables) -> tuple[Any, ...]:
    return t.kind, t.at, t.size, t.weight, t.gap, t.word, t.node, t.leaf


def _cover_numpy(
    codes: Any, rows: Any, offsets: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, word: Any, node: Any,
    leaf: Any, first: Any, second: Any, bits: Any, cost: Any, keep: Any,
) -> None:  # fmt: skip
    filled = np.flatnonzero(np.diff(offsets) > 0)
    if not len(filled):
        return
    starts = offsets[:-1][filled]
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for j in range(codes.shape[1]):
        own = codes[rows, j].astype(np.int64)
        low, high = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
        if kind[j] == NODE:
            low, high = own[starts], np.full(len(filled), -1)
            for h in range((len(node) - at[j]) // size[j]):
                above = node[at[j] + h * size[j] + own]
                alike = np.minimum.reduceat(above, starts) == np.maximum.reduceat(above, starts)
                high[(high < 0) & alike] = h
                if (high >= 0).all():
                    break
            each = leaf[at[j] + high * size[j] + low]
        elif kind[j] == RANGE:
            each = np.where((low == 0) & (high > 0) & (gap[j] >= 0), gap[j], (high - low) * weight[j])
        else:
            pairs = np.unique(np.column_stack([owner, own]), axis=0)
            each = (np.bincount(pairs[:, 0], minlength=len(offsets) - 1)[filled] - 1) * weight[j]
            if keep:
                place = word[j] + (pairs[:, 1] >> 6)
                np.bitwise_or.at(bits, (pairs[:, 0], place), np.uint64(1) << (pairs[:, 1] & 63).astype(np.uint64))
        if keep:
            first[filled, j], second[filled, j], cost[filled, j] = low, high, each
        else:
            cost[filled, 0] += each


def _cover_loops(
    codes: Any, rows: Any, offsets: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, word: Any, node: Any,
    leaf: Any, first: Any, second: Any, bits: Any, cost: Any, keep: Any,
) -> None:  # fmt: skip
    d = codes.shape[1]
    for g in range(len(offsets) - 1):
        start, end = offsets[g], offsets[g + 1]
        if start == end:
            continue
        put = g if keep else 0
        for j in range(d):
            low = np.int64(codes[rows[start], j])
            if kind[j] == NODE:
                base, step, h = at[j], size[j], np.int64(0)
                for i in range(start + 1, end):
                    c = codes[rows[i], j]
                    while node[base + h * step + low] != node[base + h * step + c]:
                        h += 1
                first[put, j], second[put, j] = low, h
                each = leaf[base + h * step + low]
            elif kind[j] == RANGE:
                high = low
                for i in range(start + 1, end):
                    c = np.int64(codes[rows[i], j])
                    low, high = min(low, c), max(high, c)
                first[put, j], second[put, j] = low, high
                each = (high - low) * weight[j]
                if gap[j] >= 0 and low == 0 and high > 0:
                    each = gap[j]
            else:
                count, lowest, highest = np.int64(0), low, low
                if not keep:
                    for i in range(start, end):
                        bits[0, word[j] + (np.int64(codes[rows[i], j]) >> 6)] = np.uint64(0)
                for i in range(start, end):
                    c = np.int64(codes[rows[i], j])
                    lowest, highest = min(lowest, c), max(highest, c)
                    q, bit = word[j] + (c >> 6), np.uint64(1) << np.uint64(c & 63)
                    if bits[put, q] & bit == np.uint64(0):
                        bits[put, q] |= bit
                        count += 1
                first[put, j], second[put, j] = lowest, highest
                each = (count - 1) * weight[j]
            if keep:
                cost[g, j] = each
            else:
                cost[g, 0] += each


def cheapest_groups(
    codes: AnyArray, rows: IntArray, own: IntArray, groups: IntArray, sizes: IntArray,
    cells: tuple[IntArray, IntArray, AnyArray, IntArray], tables: Tables, best: IntArray, price: IntArray,
) -> None:  # fmt: skip
    """Find, for each of these rows, the group whose loss grows least if the row joins it; in place.

    The loss of a group is its size times its cost.

    Parameters
    ----------
    rows : int64 array
        The rows that need a group.
    own : int64 array
        The group of every row, which is not offered to it.
    groups : int64 array
        Groups to offer, by ascending cost.
    sizes : int64 array
        Rows of each group.
    cells : tuple
        As ``cover`` returns them, for all groups.
    best, price : int64 arrays
        Per row, the best group so far and the growth of its loss; replaced if a cheaper one is found.
    """
    total = cells[3].sum(axis=1)
    dispatch(_cheapest_loops, _cheapest_numpy, len(rows) * max(len(groups), 1) // 8)(
        codes, rows, own, groups, sizes, total, *cells, *_plain(tables), best, price
    )


def _cheapest_numpy(
    codes: Any, rows: Any, own: Any, groups: Any, sizes: Any, total: Any, first: Any, second: Any, bits: Any,
    cost: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, word: Any, node: Any, leaf: Any, best: Any,
    price: Any,
) -> None:  # fmt: skip
    for r in rows:
        offered = groups[groups != own[r]]
        if not len(offered):
            continue
        then = np.zeros(len(offered), dtype=np.int64)
        for j in range(codes.shape[1]):
            c, a, b = int(codes[r, j]), first[offered, j], second[offered, j]
            if kind[j] == NODE:
                h = b.copy()
                while True:
                    apart = node[at[j] + h * size[j] + a] != node[at[j] + h * size[j] + c]
                    if not apart.any():
                        break
                    h += apart
                then += leaf[at[j] + h * size[j] + a]
            elif kind[j] == RANGE:
                low, high = np.minimum(a, c), np.maximum(b, c)
                then += np.where((gap[j] >= 0) & (low == 0) & (high > 0), gap[j], (high - low) * weight[j])
            else:
                there = (bits[offered, word[j] + (c >> 6)] >> np.uint64(c & 63)) & np.uint64(1)
                then += cost[offered, j] + np.where(there == 0, weight[j], 0)
        grown = (sizes[offered] + 1) * then - sizes[offered] * total[offered]
        least = int(np.argmin(grown))
        if grown[least] < price[r]:
            best[r], price[r] = offered[least], grown[least]


def _cheapest_loops(
    codes: Any, rows: Any, own: Any, groups: Any, sizes: Any, total: Any, first: Any, second: Any, bits: Any,
    cost: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, word: Any, node: Any, leaf: Any, best: Any,
    price: Any,
) -> None:  # fmt: skip
    d = codes.shape[1]
    for i in range(len(rows)):
        r = rows[i]
        least = price[r]
        for o in range(len(groups)):
            g = groups[o]
            before = total[g]
            if before >= least:
                break  # joining costs at least what the group's records already cost
            if g == own[r]:
                continue
            m = sizes[g]
            then, most = before, (least + m * before) // (m + 1)
            for j in range(d):
                c = np.int64(codes[r, j])
                if kind[j] == NODE:
                    base, step = at[j], size[j]
                    a, h = first[g, j], second[g, j]
                    if node[base + h * step + a] == node[base + h * step + c]:
                        continue
                    h += 1
                    while node[base + h * step + a] != node[base + h * step + c]:
                        h += 1
                    then += leaf[base + h * step + a] - cost[g, j]
                elif kind[j] == RANGE:
                    a, b = first[g, j], second[g, j]
                    if a <= c <= b:
                        continue
                    a, b = min(a, c), max(b, c)
                    x = (b - a) * weight[j]
                    if gap[j] >= 0 and a == 0 and b > 0:
                        x = gap[j]
                    then += x - cost[g, j]
                else:
                    if (bits[g, word[j] + (c >> 6)] >> np.uint64(c & 63)) & np.uint64(1):
                        continue
                    then += weight[j]
                if then > most:
                    break
            if then > most:
                continue
            grown = (m + 1) * then - m * before
            if grown < least:
                least = grown
                best[r] = g
        price[r] = least
