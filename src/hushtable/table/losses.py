"""The formulas of losses, each written once: measures, objectives, refinement and clusters all use these.

NCP, Prec, Wang's loss and the bits of non-uniform entropy charge individual cells by what they cover of their column's
hierarchy. The geometric loss combines the NCP of columns. Discernibility and the average class size depend on the sizes
of classes only.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray, IntArray, summed
from hushtable.hierarchy.base import Coded


def ncp(coded: Coded, leaves: IntArray, weight: float | FloatArray = 1.0) -> FloatArray:
    """Return the NCP of cells, (leaves - 1) / (D - 1), times a weight; 0 in a domain with one leaf.

    Parameters
    ----------
    coded : Coded
        The column's hierarchy; D is the number of its leaves, whether they occur or not.
    leaves : integer array
        Number of leaves that each cell covers.
    weight : float or float array

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().cells[0]
    >>> age.leaves.tolist(), ncp(age.column.coded, age.leaves).tolist()
    ([2, 2], [0.25, 0.25])
    """
    return np.asarray(weight * (leaves - 1) / max(coded.size - 1, 1))


def ncp_of_leaf(coded: Coded, weight: float = 1.0) -> float:
    """Return the increase of a cell's NCP for each additional leaf that it covers."""
    return float(ncp(coded, np.array(2), weight))


def to_log_ncp(columns: FloatArray) -> FloatArray:
    """Return the logarithm of 1 + NCP, whose weighted mean over columns gives the geometric loss.

    Examples
    --------
    >>> of_log_ncp(to_log_ncp(np.array([0.2, 0.8])).mean()).round(6).tolist()  # sqrt(1.2 x 1.8) - 1
    0.469694
    """
    return np.log1p(columns)


def of_log_ncp(mean: FloatArray) -> FloatArray:
    """Return the geometric loss, the weighted geometric mean of 1 + NCP minus 1, from the mean of logarithms."""
    return np.asarray(np.exp(mean) - 1)


def lost_precision(coded: Coded, heights: IntArray) -> FloatArray:
    """Return how much precision cells lose: the share of the hierarchy's height below them."""
    return np.asarray(heights / max(coded.height, 1))


def wang_loss(coded: Coded, leaves: IntArray, records: IntArray, weight: float = 1.0) -> float:
    """Return the sum of (leaves - 1) / D over cells with their numbers of records: integers, divided once."""
    return weight * int(((leaves - 1) * records).sum()) / coded.size


def lost_bits(covered: FloatArray | IntArray, counts: FloatArray | IntArray) -> FloatArray:
    """Return the bits that a value loses in a cell: log2 of records covered by the cell per record with the value.

    Examples
    --------
    >>> lost_bits(np.array([8, 4, 3]), np.array([2, 4, 0])).tolist()  # a value that does not occur loses nothing
    [2.0, 0.0, 0.0]
    """
    bits = np.log2(np.maximum(covered, 1)) - np.log2(np.maximum(counts, 1))
    return np.asarray(np.where(counts > 0, bits, 0.0))


def squared_sizes(sizes: IntArray, times: IntArray) -> int:
    """Return the sum of squared sizes, where ``times[i]`` classes have ``sizes[i]`` records: exact, however large.

    Examples
    --------
    >>> squared_sizes(np.array([2, 5]), np.array([3, 1])), squared_sizes(np.array([2**40]), np.array([3]))
    (37, 3626777458843887524118528)
    """
    units = sizes * times
    if int(units.sum()) < 2**31:
        return int(units @ sizes)
    distinct, place = np.unique(sizes, return_inverse=True)
    total = summed(times, place, len(distinct))
    return sum(t * s * s for s, t in zip(distinct.tolist(), total.tolist(), strict=True))


def discernibility(squares: int, suppressed: int, n: int) -> int:
    """Return the sum of squared class sizes, plus N for each suppressed record."""
    return squares + suppressed * n


def average_class_size(n: float, classes: int, suppressed: int) -> float:
    """Return the number of records per class; the suppressed ones are one class."""
    return n / max(classes + (suppressed > 0), 1)
