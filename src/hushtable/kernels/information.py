"""Kernel of informative cuts: how much "left or right" says about all columns of a group, for a whole level at once.

Information is counted in integers, so that scores are the same on every machine and in every order of the rows:
logarithms are fixed-point numbers with ``FRACTION`` bits, and ``amount(n)`` stands for n log2 n.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.kernels.grouping import stable_order

FRACTION = 20
"""Fractional bits of a logarithm."""

WEIGHT = 16
"""The weight of a column that counts once."""

NO_CUT = -(2**62)
"""The score of a column without a possible cut."""

THRESHOLDS = 7
"""Places per column where a group may be cut: at its octiles."""

_STEPS = 12
_MANTISSA = np.rint(np.log2(1 + np.arange(2**_STEPS + 1) / 2**_STEPS) * 2**FRACTION).astype(np.int64)


def fixed_log2(n: IntArray) -> IntArray:
    """Return log2 of integers in fixed point: 0 for 0; capped at that of 2^31 - 1.

    Examples
    --------
    >>> (fixed_log2(np.array([0, 1, 2, 1024])) / 2**FRACTION).tolist()
    [0.0, 0.0, 1.0, 10.0]
    """
    n = np.clip(np.asarray(n, dtype=np.int64), 1, 2**31 - 1)
    exponent = np.frexp(n.astype(np.float64))[1].astype(np.int64) - 1
    rest = (n << (31 - exponent)) & (2**31 - 1)
    step, between = rest >> (31 - _STEPS), rest & (2 ** (31 - _STEPS) - 1)
    low = _MANTISSA[step]
    logs: IntArray = (exponent << FRACTION) + low + (((_MANTISSA[step + 1] - low) * between) >> (31 - _STEPS))
    return logs


def amount(n: IntArray) -> IntArray:
    """Return n log2 n in fixed point.

    Examples
    --------
    >>> (amount(np.array([0, 1, 8])) / 2**FRACTION).tolist()
    [0.0, 0.0, 24.0]
    """
    n = np.asarray(n, dtype=np.int64)
    return n * fixed_log2(n)


_AMOUNTS = amount(np.arange(2**12))


def informative_cuts(
    work: AnyArray,
    index: AnyArray,
    units: IntArray,
    starts: IntArray,
    ends: IntArray,
    bins: tuple[AnyArray, IntArray],
    weights: IntArray,
    missing: AnyArray,
    minimum: int,
    shift: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return, per group and column, the cut that is most informative about all columns.

    A cut's score is the weighted sum, over all columns, of the mutual information between "left or right" and the
    column's bin, plus the change in what more cuts could reveal: n log2 of the number of groups of ``minimum`` units
    that fit into n units. So a cut is charged for a remainder that no group can use.

    Parameters
    ----------
    work, index, units, starts, ends : arrays
        See ``hushtable.kernels.partition``; one column per quasi-identifier.
    bins : (uint8 array, int64 array)
        The bin of each code, columns one after the other, and where each column begins. A group that lies in one bin of
        every column gets its own bins: its thresholds.
    weights : int64 array
        Weights of the columns, in units of 1 / ``WEIGHT``.
    missing : bool array
        Columns where code 0 stands for a missing value; cutting between it and the others is always a candidate.
    minimum : int
        Minimum units on either side.
    shift : int
        Number of bits by which units are shifted right before information is counted, so that no sum overflows.

    Returns
    -------
    score, cut, left
        (groups x columns): the score, ``NO_CUT`` if there is none; the cut; the units at or below it. Ties go to the
        lower cut.
    """
    shape = len(starts), work.shape[1]
    score = np.full(shape, NO_CUT, dtype=np.int64)
    cut = np.zeros(shape, dtype=np.int64)
    left = np.zeros(shape, dtype=np.int64)
    table, first = bins
    dispatch(_informative_loops, _informative_numpy, len(work))(
        work, index, units, starts, ends, table, first, weights, missing, max(minimum, 1), shift, score, cut, left,
        _MANTISSA, _AMOUNTS,
    )  # fmt: skip
    return score, cut, left


def _informative_numpy(
    work: Any, index: Any, units: Any, starts: Any, ends: Any, table: Any, first: Any, weights: Any, missing: Any,
    minimum: Any, shift: Any, score: Any, cut: Any, left: Any, mantissa: Any, amounts: Any,
) -> None:  # fmt: skip
    for g in range(len(starts)):
        rows = slice(starts[g], ends[g])
        codes = work[rows].astype(np.int64)
        units_of = units[index[rows]] if len(units) else np.ones(len(codes), dtype=np.int64)
        total = int(units_of.sum())
        bins = np.stack([table[first[j] + codes[:, j]] for j in range(codes.shape[1])], axis=1).astype(np.int64)
        places = [_thresholds(codes[:, j], units_of, total, missing[j], minimum) for j in range(codes.shape[1])]
        if (bins == bins[0]).all():
            bins = np.stack([np.searchsorted(p, codes[:, j]) for j, p in enumerate(places)], axis=1)
        for j, candidates in enumerate(places):
            for threshold in candidates:
                goes_left = codes[:, j] <= threshold
                below = int(units_of[goes_left].sum())
                value = _value(bins, goes_left, units_of, weights, shift) + _room(below, total, minimum, shift)
                if value > score[g, j]:
                    score[g, j], cut[g, j], left[g, j] = value, threshold, below


def _thresholds(codes: IntArray, units: IntArray, total: int, missing: bool, minimum: int) -> list[int]:
    """The codes at octiles and the code of a missing value, if both sides are large enough."""
    found, octile, below = [], 1, 0
    present = np.unique(codes)
    for code in present[:-1]:
        below += int(units[codes == code].sum())
        reached = below * (THRESHOLDS + 1) >= octile * total
        if (reached or (code == 0 and missing)) and minimum <= below <= total - minimum:
            found.append(int(code))
        octile = max(octile, below * (THRESHOLDS + 1) // max(total, 1) + 1)
    return found


def _value(bins: IntArray, goes_left: AnyArray, units: IntArray, weights: IntArray, shift: int) -> int:
    """The weighted mutual information between a cut and the bins of all columns."""
    both = int(units.sum()) >> shift
    one = int(units[goes_left].sum()) >> shift
    bit = int(amount(np.array(both)) - amount(np.array(one)) - amount(np.array(both - one)))
    value = 0
    for c in range(bins.shape[1]):
        held = np.zeros(int(bins[:, c].max()) + 1, dtype=np.int64)
        below = held.copy()
        np.add.at(held, bins[:, c], units)
        np.add.at(below, bins[goes_left, c], units[goes_left])
        held, below = held >> shift, below >> shift
        above = held - below
        value += int(weights[c]) * int((amount(below) + amount(above) - amount(held)).sum() + bit)
    return value


def _room(left: int, total: int, minimum: int, shift: int) -> int:
    """What more cuts could reveal after this one, minus what they could reveal without it."""
    sides = np.array([left, total - left, total])
    room = (sides >> shift) * fixed_log2(sides // minimum)
    return WEIGHT * int(room[0] + room[1] - room[2])


def _log2(n: Any, mantissa: Any) -> Any:
    n = min(n, 0x7FFFFFFF)
    exponent = 0
    while n >> (exponent + 1) > 0:
        exponent += 1
    rest = (n << (31 - exponent)) & 0x7FFFFFFF
    step, between = rest >> 19, rest & 0x7FFFF
    low = mantissa[step]
    return (exponent << 20) + low + (((mantissa[step + 1] - low) * between) >> 19)


def _amount(n: Any, mantissa: Any, amounts: Any) -> Any:
    if n < 4096:
        return amounts[n]
    return n * _log2(n, mantissa)


def _spread_thresholds(
    codes: Any, weights: Any, total: Any, missing: Any, minimum: Any, found: Any, counts: Any, side: Any
) -> Any:  # fmt: skip
    """Fill in the thresholds of one column of a group, and each row's place among them; return how many there are."""
    m = len(codes)
    low, high = codes[0], codes[0]
    for i in range(m):
        low, high = min(low, codes[i]), max(high, codes[i])
    if low == high:
        for i in range(m):
            side[i] = 0
        return 0
    n, octile, below = 0, 1, np.int64(0)
    width = high - low + 1
    if width <= min(len(counts), 4 * m + 64):
        for i in range(m):
            # includes codes whose rows have no weight
            counts[codes[i] - low] += weights[i] * 2 + (counts[codes[i] - low] == 0 and weights[i] == 0)
        for v in range(width - 1):
            if counts[v] > 0:
                below += counts[v] >> 1
                wanted = below * 8 >= octile * total or (v + low == 0 and missing)
                if wanted and below >= minimum and total - below >= minimum:
                    found[n] = v + low
                    n += 1
                octile = max(octile, below * 8 // max(total, 1) + 1)
        place = 0
        for v in range(width):
            counts[v] = place
            if place < n and v + low == found[place]:
                place += 1
        for i in range(m):
            side[i] = counts[codes[i] - low]
        for v in range(width):
            counts[v] = 0
        return n
    order = _sorted_places(codes)
    place = 0
    for at in range(m):
        i = order[at]
        side[i] = place
        below += weights[i]
        if at + 1 < m and codes[order[at + 1]] != codes[i]:
            wanted = below * 8 >= octile * total or (codes[i] == 0 and missing)
            if wanted and below >= minimum and total - below >= minimum:
                found[n] = codes[i]
                n += 1
                place += 1
            octile = max(octile, below * 8 // max(total, 1) + 1)
    return n


def _sorted_places(codes: Any) -> Any:
    """Return the order of a group's codes; by insertion sort for small groups, as most are."""
    m = len(codes)
    if m > 48:
        return stable_order(codes)
    order = np.arange(m)
    for i in range(1, m):
        at, x = i, codes[i]
        while at > 0 and codes[order[at - 1]] > x:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    return order


def _informative_loops(
    work: Any, index: Any, units: Any, starts: Any, ends: Any, table: Any, first: Any, weights: Any, missing: Any,
    minimum: Any, shift: Any, score: Any, cut: Any, left: Any, mantissa: Any, amounts: Any,
) -> None:  # fmt: skip
    d = work.shape[1]
    longest = 0
    for g in range(len(starts)):
        longest = max(longest, ends[g] - starts[g])
    side = np.empty((d, longest), np.uint8)
    bins = np.empty((longest, d), np.uint8)
    codes, heavy = np.empty(longest, np.int64), np.ones(longest, np.int64)
    counts = np.zeros(min(4 * longest + 64, 1 << 16), np.int64)
    found, n_found = np.empty((d, 16), np.int64), np.empty(d, np.int64)
    held = np.zeros((16, d, 256), np.int64)
    active = np.empty(d, np.int64)
    name, n_bins = np.full((d, 256), -1, np.int64), np.zeros(d, np.int64)
    for g in range(len(starts)):
        s, m = starts[g], ends[g] - starts[g]
        total = m
        if len(units) > 0:
            total = 0
            for i in range(m):
                heavy[i] = units[index[s + i]]
                total += heavy[i]
        several = False
        for j in range(d):
            for i in range(m):
                codes[i] = work[s + i, j]
            n_found[j] = _spread_thresholds(codes[:m], heavy, total, missing[j], minimum, found[j], counts, side[j])
            n_bins[j] = _name_bins(codes[:m], table[first[j] :], name[j], bins[:, j])
            several = several or n_bins[j] > 1
        if not several:
            for j in range(d):
                n_bins[j] = n_found[j] + 1
                for i in range(m):
                    bins[i, j] = side[j, i]
        n_active = 0
        for c in range(d):
            # a column with one bin says nothing; the first one's counts are the sizes of the sides
            if n_bins[c] > 1 or c == 0:
                active[n_active] = c
                n_active += 1
        for j in range(d):
            if n_found[j] == 0:
                continue
            _count_sides(side[j], bins, active[:n_active], heavy, m, held)
            _best_cut(
                held, n_found[j], found[j], n_bins, weights, total, minimum, shift, mantissa, amounts,
                score[g], cut[g], left[g], j,
            )  # fmt: skip


def _name_bins(codes: Any, table: Any, name: Any, bins: Any) -> Any:
    """Number the bins that occur in a group from 0, so that small groups have small tables; return how many do."""
    n = 0
    for i in range(len(codes)):
        b = table[codes[i]]
        if name[b] < 0:
            name[b] = n
            n += 1
        bins[i] = name[b]
    for i in range(len(codes)):
        name[table[codes[i]]] = -1
    return n


def _count_sides(side: Any, bins: Any, active: Any, heavy: Any, m: Any, held: Any) -> None:
    for i in range(m):
        u, p = heavy[i], side[i]
        for c in active:
            held[p, c, bins[i, c]] += u


def _best_cut(
    held: Any, n: Any, found: Any, n_bins: Any, weights: Any, total: Any, minimum: Any, shift: Any,
    mantissa: Any, amounts: Any, score: Any, cut: Any, left: Any, j: Any,
) -> None:  # fmt: skip
    """Score the thresholds of column j from the counts between them, and clear the counts."""
    d = len(n_bins)
    # held[t] becomes the count at or below threshold t; held[n] that of the whole group
    for t in range(1, n + 1):
        for c in range(d):
            for b in range(n_bins[c]):
                held[t, c, b] += held[t - 1, c, b]
    both = total >> shift
    alone = both * _log2(total // minimum, mantissa)
    for t in range(n):
        below = np.int64(0)
        for b in range(n_bins[0]):
            below += held[t, 0, b]
        above = total - below
        one = below >> shift
        value = (one * _log2(below // minimum, mantissa) - alone) * 16
        value += ((above >> shift) * _log2(above // minimum, mantissa)) * 16
        bit = _amount(both, mantissa, amounts) - _amount(one, mantissa, amounts)
        bit -= _amount(both - one, mantissa, amounts)
        for c in range(d):
            if n_bins[c] > 1:
                x = bit
                for b in range(n_bins[c]):
                    h, low = held[n, c, b] >> shift, held[t, c, b] >> shift
                    x += _amount(low, mantissa, amounts) + _amount(h - low, mantissa, amounts)
                    x -= _amount(h, mantissa, amounts)
                value += weights[c] * x
        if value > score[j]:
            score[j], cut[j], left[j] = value, found[t], below
    for t in range(n + 1):
        for c in range(d):
            for b in range(n_bins[c]):
                held[t, c, b] = 0
