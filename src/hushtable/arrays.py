"""Array types, and small operations on arrays, that every folder may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]


def inverted(order: AnyArray | Sequence[int]) -> IntArray:
    """Return the place of each number in a permutation.

    Examples
    --------
    >>> inverted([2, 0, 1]).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def first_places(labels: AnyArray, n: int) -> IntArray:
    """Return the first place of each of ``n`` labels, -1 for those that do not occur.

    Examples
    --------
    >>> first_places(np.array([2, 0, 2]), 4).tolist()
    [1, -1, 0, -1]
    """
    first = np.full(n, -1, dtype=np.int64)
    # of several writes to one place the last one stays
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
    return first


def run_starts(*columns: AnyArray) -> BoolArray:
    """Return which rows differ from the row before; the first one does.

    Examples
    --------
    >>> run_starts(np.array([1, 1, 1, 2]), np.array([5, 5, 6, 6])).tolist()
    [True, False, True, True]
    """
    new = np.ones(len(columns[0]), dtype=np.bool_)
    new[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return new


def run_places(*columns: AnyArray) -> IntArray:
    """Return how many rows that are equal to each row come directly before it.

    Examples
    --------
    >>> run_places(np.array([7, 7, 7, 3, 3])).tolist()
    [0, 1, 2, 0, 1]
    """
    place = np.arange(len(columns[0]), dtype=np.int64)
    return place - np.maximum.accumulate(np.where(run_starts(*columns), place, 0))


def joined_ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the numbers of ranges, one range after the other.

    Examples
    --------
    >>> joined_ranges(np.array([10, 5]), np.array([2, 3])).tolist()
    [10, 11, 5, 6, 7]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.repeat(starts - ends + lengths, lengths) + np.arange(total), dtype=np.int64)


def summed(values: AnyArray | int, labels: AnyArray, n: int) -> IntArray:
    """Return the sum of the whole numbers with each of ``n`` labels, exactly.

    Examples
    --------
    >>> summed(np.array([1, 2, 4]), np.array([0, 2, 0]), 3).tolist()
    [5, 0, 2]
    """
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, labels, values)
    return total


def scattered(values: AnyArray | Sequence[int] | int, at: Any, n: int) -> IntArray:
    """Return ``n`` numbers: these values at some places, -1 elsewhere.

    Examples
    --------
    >>> scattered([7, 8], [2, 0], 4).tolist()
    [8, -1, 7, -1]
    """
    out = np.full(n, -1, dtype=np.int64)
    out[at] = values
    return out


def places_among(some: Any, n: int) -> IntArray:
    """Return the place of each of ``n`` numbers among some of them, -1 for the others.

    Examples
    --------
    >>> places_among([2, 0], 4).tolist()
    [1, -1, 0, -1]
    """
    return scattered(np.arange(len(some)), some, n)


def mask_of(at: Any, n: int) -> BoolArray:
    """Return which of ``n`` places are among these.

    Examples
    --------
    >>> mask_of([2, 0], 4).tolist()
    [True, False, True, False]
    """
    out = np.zeros(n, dtype=np.bool_)
    out[at] = True
    return out
