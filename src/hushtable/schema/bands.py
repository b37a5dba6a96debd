"""Bands of round numbers for skewed columns.

Most people have no capital gain, a few have a hundred thousand. Quantiles of such a column are one value and a rest.
Therefore, zero is a band of its own, and the amounts are cut at round numbers near their quantiles. Cut points appear
in the policy, which is published with a release. So each has at least twenty records on either side, and is rounded: it
is no person's value.
"""

from __future__ import annotations

import math

import numpy as np

from hushtable.arrays import AnyArray, IntArray

__all__ = ["round_cuts"]

_FEW = 16
"""With so few values, quantiles are the values."""
_BANDS = 16
_LEAST = 20
"""Minimum number of records in a band."""
_HEAVY = 1 / 8
"""A value with a larger share of the records spoils quantiles."""
_TAIL = 4
"""Minimum ratio of the 90th percentile to the median of a long tail."""

_Number = int | float


def round_cuts(numbers: AnyArray, counts: IntArray) -> list[list[_Number]]:
    """Return the cut points of every level, the finest first, for a skewed column; none for any other.

    Parameters
    ----------
    numbers : array
        Distinct values, ascending.
    counts : int64 array
        How often each occurs.

    Examples
    --------
    >>> gains = np.array([0, *range(520, 6000, 280)])
    >>> round_cuts(gains, np.array([9000, *np.full(20, 30)]))[2:]
    [[1, 2000, 4000], [1, 4000], [1]]
    >>> round_cuts(np.arange(1, 100), np.full(99, 9))
    []
    """
    above = numbers > 0
    amounts, people = numbers[above], counts[above]
    n, total = int(people.sum()), int(counts.sum())
    zeros = int(counts[numbers == 0].sum())
    if len(numbers) <= _FEW or n < 2 * _LEAST or not np.isfinite(numbers).all():
        return []
    reached = np.cumsum(people)
    middle, tenth = (amounts[np.searchsorted(reached, share * n)] for share in (0.5, 0.9))
    if zeros <= _HEAVY * total and not (tenth >= _TAIL * middle and n > total / 2):
        return []
    whole = numbers.dtype.kind in "iu"
    # the twentieth amount, not the least, says where amounts begin
    begin = 1 if whole else 10.0 ** math.floor(math.log10(amounts[np.searchsorted(reached, _LEAST)]))
    ends: list[_Number] = [0] if int(counts[numbers < 0].sum()) >= _LEAST else []
    ends += [_plain(begin)] if zeros >= _LEAST else []
    bands = min(_BANDS, n // _LEAST)
    wanted = (amounts[np.searchsorted(reached, n * i / bands)] for i in range(1, bands))
    cuts = _supported([_rounded(float(amount), whole) for amount in wanted], amounts, people, ends)
    levels = [ends + cuts[step - 1 :: step] for step in (1, 2, 4, 8, 16)]
    return [level for i, level in enumerate(levels) if level and level not in levels[:i]]


def _rounded(amount: float, whole: bool) -> _Number:
    """Return a number near the amount with one digit, or two of which the second is 5."""
    step = 10.0 ** math.floor(math.log10(amount)) / 2
    step = max(step, 1.0) if whole else step
    return _plain(round(amount / step) * step)


def _plain(number: float) -> _Number:
    text = float(f"{number:.6g}")
    return int(text) if text.is_integer() else text


def _supported(cuts: list[_Number], amounts: AnyArray, people: IntArray, ends: list[_Number]) -> list[_Number]:
    """Return the ascending cuts that leave enough records in every band."""
    kept: list[_Number] = []
    last = max(ends, default=0)
    for cut in sorted(set(cuts)):
        inside = int(people[(amounts >= last) & (amounts < cut)].sum())
        if cut > last and inside >= _LEAST and int(people[amounts >= cut].sum()) >= _LEAST:
            kept.append(cut)
            last = cut
    return kept
