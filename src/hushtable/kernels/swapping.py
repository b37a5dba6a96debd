"""Kernel of swapping records between groups, so that the groups preserve the table's counts of pairs of values.

If the values of each group are redrawn, column by column, the expected count of a pair of values in two columns is the
sum over the groups of (people with the one) x (people with the other) / (people). ``surplus`` is the excess of that
over the table's count, for each pair of values, times the weights of both columns, in units of 1 / ``ONE``. It is
counted in integers, so that adding a group and removing it again changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch

ONE = 2**20
"""One person, in units of the surplus."""

_LEAST = 2**22
"""Minimum gain of a swap: a 64th of a person at plain weights, well above rounding errors."""

LARGEST = 4096
"""Larger groups stay unchanged: their counts would overflow, and they say little anyway."""


def pair_places(sizes: IntArray) -> tuple[IntArray, int]:
    """Return where the counts of each pair of columns begin, and the total number of counts.

    Examples
    --------
    >>> places, total = pair_places(np.array([2, 3, 4]))
    >>> places.tolist(), total
    ([[0, 0, 6], [0, 0, 14], [0, 0, 0]], 26)
    """
    d = len(sizes)
    places, total = np.zeros((d, d), dtype=np.int64), 0
    for a in range(d):
        for b in range(a + 1, d):
            places[a, b] = total
            total += int(sizes[a] * sizes[b])
    return places, total


def add_expected(
    surplus: IntArray, bins: AnyArray, sizes: IntArray, weights: IntArray, rows: IntArray, offsets: IntArray,
    groups: IntArray, sign: int,
) -> None:  # fmt: skip
    """Add the expected counts of some groups to the surplus, or subtract them with sign -1.

    Parameters
    ----------
    surplus : int64 array
        For all pairs of values, at ``pair_places(sizes)``; changed in place.
    bins : (rows, d) uint8 array
    sizes : int64 array
        How many bins each column has.
    weights : int64 array
        The weight of each column.
    rows, offsets : int64 arrays
        Group g has the rows ``rows[offsets[g]:offsets[g + 1]]``.
    groups : int64 array
    sign : int
    """
    kernel = dispatch(_expected_loops, _expected_numpy, 64 * len(bins))
    kernel(surplus, bins, sizes, weights, rows, offsets, groups, sign, pair_places(sizes)[0])


def swap_between(
    surplus: IntArray, bins: AnyArray, sizes: IntArray, weights: IntArray, rows: IntArray, offsets: IntArray,
    first: IntArray, second: IntArray, turn: int, tries: int,
) -> AnyArray:  # fmt: skip
    """Swap records between pairs of groups if that lowers the total deviation from the table's counts; in place.

    The gain of a swap is the sum of three decreases: of the absolute surplus; of three quarters of the groups' mixture,
    which is the number of people who would draw another value in both columns, summed over pairs of columns; and of the
    number of original records that would reappear by chance when values are redrawn, each at a price (``_price``). Each
    record of the first group tries ``tries`` of the second, different ones in each ``turn``, and takes the best.

    Parameters
    ----------
    surplus, bins, sizes, weights, rows, offsets : arrays
        See ``add_expected``; ``rows`` and ``surplus`` are changed.
    first, second : int64 arrays
        The pairs of groups; none occurs twice.
    turn, tries : int

    Returns
    -------
    bool array
        Which pairs have swapped records.
    """
    swapped = np.zeros(len(first), dtype=np.bool_)
    kernel = dispatch(_swap_loops, _swap_numpy, 64 * len(bins))
    kernel(surplus, bins, sizes, weights, rows, offsets, first, second, turn, tries, pair_places(sizes)[0], swapped)
    return swapped


def _expected_numpy(
    surplus: Any, bins: Any, sizes: Any, weights: Any, rows: Any, offsets: Any, groups: Any, sign: Any, places: Any
) -> None:
    for g in groups:
        members = bins[rows[offsets[g] : offsets[g + 1]]]
        surplus += sign * _expected(members, sizes, weights, places, len(surplus))


def _expected(members: AnyArray, sizes: IntArray, weights: IntArray, places: IntArray, total: int) -> IntArray:
    out = np.zeros(total, dtype=np.int64)
    if not len(members):
        return out
    share = (ONE + len(members) // 2) // len(members)
    counts = [np.bincount(members[:, a], minlength=sizes[a]).astype(np.int64) for a in range(len(sizes))]
    for a in range(len(sizes)):
        for b in range(a + 1, len(sizes)):
            block = slice(places[a, b], places[a, b] + sizes[a] * sizes[b])
            out[block] = np.outer(counts[a], counts[b]).ravel() * (share * weights[a] * weights[b])
    return out


def _mixture(members: AnyArray, sizes: IntArray, weights: IntArray) -> int:
    n = len(members)
    total, squares = 0, 0.0
    for a in range(len(sizes)):
        counts = np.bincount(members[:, a]).astype(np.int64)
        mixed = int(weights[a]) * (n * n - int((counts**2).sum()))
        total += mixed
        squares += float(mixed) * float(mixed)
    mixture: int = _mixed(total, squares, n)
    return mixture


def _mixed(total: Any, squares: Any, n: Any) -> Any:
    """Three quarters of the mixture: the sum over pairs of columns of the product of their mixtures."""
    return int((float(total) * float(total) - squares) / float(n * n * n) * 393216.0)


def _price(weights: Any) -> Any:
    """The price of a record that reappears, which grows with the cube of the number of pairs of columns.

    With few columns, many people share all their values, so some rows must reappear, which says little. With 10 columns
    the price is a 16th of a person missing in one pair, with 20 columns 5 people, with 24 columns 15.
    """
    total, squares = 0, 0
    for w in weights:
        total += w
        squares += w * w
    pairs = float(total * total - squares) / 512.0
    return pairs * pairs * pairs * 192.0


def _reappearing(counts: Any, bins: Any, members: Any, i: Any, out: Any, into: Any, price: Any) -> Any:
    """The cost of reappearing records of a group after ``into`` has replaced member i, which is ``out``."""
    n, d = len(members), len(into)
    total = 0.0
    for s in range(n):
        mine = into if s == i else bins[members[s]]
        chance = float(n)
        for a in range(d):
            x = mine[a]
            chance *= (counts[a, x] - (x == out[a]) + (x == into[a])) / n
        total += chance
    return int(total * price)


def _swap_numpy(
    surplus: Any, bins: Any, sizes: Any, weights: Any, rows: Any, offsets: Any, first: Any, second: Any, turn: Any,
    tries: Any, places: Any, swapped: Any,
) -> None:  # fmt: skip
    def worth(a: Any, b: Any, rest: Any) -> int:
        mixture = _mixture(bins[a], sizes, weights) + _mixture(bins[b], sizes, weights)
        return int(np.abs(rest + expected(a) + expected(b)).sum()) + mixture + reappearing(a) + reappearing(b)

    def reappearing(members: Any) -> int:
        total = 0.0
        for mine in bins[members]:
            chance = float(len(members))
            for alike in (bins[members] == mine).sum(axis=0).tolist():
                chance *= alike / len(members)
            total += chance
        return int(total * _price(weights))

    def expected(members: Any) -> IntArray:
        return _expected(bins[members], sizes, weights, places, len(surplus))

    for p in range(len(first)):
        one = rows[offsets[first[p]] : offsets[first[p] + 1]]
        two = rows[offsets[second[p]] : offsets[second[p] + 1]]
        if not len(one) or not len(two):
            continue
        rest = surplus - expected(one) - expected(two)
        for i in range(len(one)):
            before, best, at = worth(one, two, rest), _LEAST, -1
            for q in range(min(tries, len(two))):
                j = _other(i, q, turn, tries, len(two))
                one[i], two[j] = two[j], one[i]
                gain = before - worth(one, two, rest)
                one[i], two[j] = two[j], one[i]
                if gain > best:
                    best, at = gain, j
            if at >= 0:
                one[i], two[at] = two[at], one[i]
                swapped[p] = True
        surplus[:] = rest + expected(one) + expected(two)


def _other(i: Any, q: Any, turn: Any, tries: Any, n: Any) -> Any:
    """The q-th record that record i tries: spread over the group, different in each turn."""
    if n <= tries:
        return q
    return (i + turn + q * (n // tries)) % n


def _expected_loops(
    surplus: Any, bins: Any, sizes: Any, weights: Any, rows: Any, offsets: Any, groups: Any, sign: Any, places: Any
) -> None:
    d = len(sizes)
    counts = np.zeros((d, 256), np.int64)
    values, n_values, mixed = np.empty((d, 256), np.int64), np.zeros(d, np.int64), np.zeros(d, np.int64)
    for g in groups:
        n = offsets[g + 1] - offsets[g]
        if n == 0:
            continue
        _count_group(bins, rows[offsets[g] : offsets[g + 1]], sizes, counts, values, n_values, mixed)
        share = (1048576 + n // 2) // n * sign
        for a in range(d):
            for b in range(a + 1, d):
                weighed = share * weights[a] * weights[b]
                for s in range(n_values[a]):
                    x = values[a, s]
                    for t in range(n_values[b]):
                        y = values[b, t]
                        surplus[places[a, b] + x * sizes[b] + y] += counts[a, x] * counts[b, y] * weighed


def _count_group(bins: Any, members: Any, sizes: Any, counts: Any, values: Any, n_values: Any, mixed: Any) -> None:
    """Count the bins of a group's members, list those that occur, and measure how mixed they are."""
    d, n = len(sizes), len(members)
    for a in range(d):
        for x in range(sizes[a]):
            counts[a, x] = 0
    for r in members:
        for a in range(d):
            counts[a, bins[r, a]] += 1
    for a in range(d):
        n_values[a] = 0
        mixed[a] = n * n
        for x in range(sizes[a]):
            if counts[a, x] > 0:
                mixed[a] -= counts[a, x] * counts[a, x]
                values[a, n_values[a]] = x
                n_values[a] += 1


def _swap_loops(
    surplus: Any, bins: Any, sizes: Any, weights: Any, rows: Any, offsets: Any, first: Any, second: Any, turn: Any,
    tries: Any, places: Any, swapped: Any,
) -> None:  # fmt: skip
    d = len(sizes)
    counts = np.zeros((2, d, 256), np.int64)
    values, n_values = np.empty((2, d, 256), np.int64), np.zeros((2, d), np.int64)
    mixed, shares = np.zeros((2, d), np.int64), np.zeros(2, np.int64)
    change = np.zeros(len(surplus), np.int64)
    touched = np.empty(d * d * 8 * 256 + 64, np.int64)
    price = _price(weights)
    for p in range(len(first)):
        one = rows[offsets[first[p]] : offsets[first[p] + 1]]
        two = rows[offsets[second[p]] : offsets[second[p] + 1]]
        n, m = len(one), len(two)
        if n == 0 or m == 0:
            continue
        shares[0], shares[1] = (1048576 + n // 2) // n, (1048576 + m // 2) // m
        _count_group(bins, one, sizes, counts[0], values[0], n_values[0], mixed[0])
        _count_group(bins, two, sizes, counts[1], values[1], n_values[1], mixed[1])
        for i in range(n):
            best, at = np.int64(4194304), -1
            out = bins[one[i]]
            reappear = _reappearing(counts[0], bins, one, i, out, out, price)
            reappear += _reappearing(counts[1], bins, two, 0, bins[two[0]], bins[two[0]], price)
            for q in range(min(tries, m)):
                j = _other(i, q, turn, tries, m)
                into = bins[two[j]]
                gain = reappear - _reappearing(counts[0], bins, one, i, out, into, price)
                gain -= _reappearing(counts[1], bins, two, j, into, out, price)
                gain += _mixture_fall(counts[0], mixed[0], weights, out, into, n, d)
                gain += _mixture_fall(counts[1], mixed[1], weights, into, out, m, d)
                k = _exchange(counts, values, n_values, out, into, shares, sizes, weights, places, change, touched)
                for t in range(k):
                    at_pair = touched[t]
                    if change[at_pair] != 0:
                        gain += abs(surplus[at_pair]) - abs(surplus[at_pair] + change[at_pair])
                        change[at_pair] = 0
                if gain > best:
                    best, at = gain, j
            if at < 0:
                continue
            into = bins[two[at]]
            k = _exchange(counts, values, n_values, out, into, shares, sizes, weights, places, change, touched)
            for t in range(k):
                surplus[touched[t]] += change[touched[t]]
                change[touched[t]] = 0
            one[i], two[at] = two[at], one[i]
            swapped[p] = True
            _count_group(bins, one, sizes, counts[0], values[0], n_values[0], mixed[0])
            _count_group(bins, two, sizes, counts[1], values[1], n_values[1], mixed[1])


def _mixture_fall(counts: Any, mixed: Any, weights: Any, out: Any, into: Any, n: Any, d: Any) -> Any:
    """The decrease of a group's mixture if one record is replaced by another."""
    total, squares, new_total, new_squares = np.int64(0), 0.0, np.int64(0), 0.0
    for a in range(d):
        old = mixed[a]
        new = old
        if out[a] != into[a]:
            new += 2 * (counts[a, out[a]] - counts[a, into[a]] - 1)
        old *= weights[a]
        new *= weights[a]
        total += old
        squares += float(old) * float(old)
        new_total += new
        new_squares += float(new) * float(new)
    return _mixed(total, squares, n) - _mixed(new_total, new_squares, n)


def _exchange(
    counts: Any, values: Any, n_values: Any, out: Any, into: Any, shares: Any, sizes: Any, weights: Any, places: Any,
    change: Any, touched: Any,
) -> Any:  # fmt: skip
    """Store the changes of the expected counts if two groups swap a record; return their number."""
    k = _replace(counts[0], values[0], n_values[0], out, into, shares[0], sizes, weights, places, change, touched, 0)
    return _replace(counts[1], values[1], n_values[1], into, out, shares[1], sizes, weights, places, change, touched, k)


def _replace(
    counts: Any, values: Any, n_values: Any, out: Any, into: Any, full: Any, sizes: Any, weights: Any,
    places: Any, change: Any, touched: Any, k: Any,
) -> Any:  # fmt: skip
    """Store the changes of the expected counts if a group replaces a record; return their number."""
    d = len(sizes)
    for a in range(d):
        for b in range(a + 1, d):
            if out[a] == into[a] and out[b] == into[b]:
                continue
            base, width, share = places[a, b], sizes[b], full * weights[a] * weights[b]
            if out[a] != into[a]:
                plus, minus = base + into[a] * width, base + out[a] * width
                for t in range(n_values[b]):
                    y = values[b, t]
                    f = counts[b, y] * share
                    change[plus + y] += f
                    change[minus + y] -= f
                    touched[k], touched[k + 1] = plus + y, minus + y
                    k += 2
            if out[b] != into[b]:
                for t in range(n_values[a]):
                    x = values[a, t]
                    f = counts[a, x] * share
                    plus = base + x * width
                    change[plus + into[b]] += f
                    change[plus + out[b]] -= f
                    touched[k], touched[k + 1] = plus + into[b], plus + out[b]
                    k += 2
                if out[a] != into[a]:
                    plus, minus = base + into[a] * width, base + out[a] * width
                    change[plus + into[b]] += share
                    change[minus + out[b]] += share
                    change[plus + out[b]] -= share
                    change[minus + into[b]] -= share
                    touched[k], touched[k + 1] = plus + into[b], minus + out[b]
                    touched[k + 2], touched[k + 3] = plus + out[b], minus + into[b]
                    k += 4
    return k
