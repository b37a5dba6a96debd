"""How many people share a combination of some columns with each row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray, summed
from hushtable.kernels.compile import dispatch
from hushtable.kernels.grouping import number_rows


def shared_units(codes: AnyArray, chosen: Sequence[int], sizes: Sequence[int], units: IntArray) -> IntArray:
    """Return how many units have the same codes as each row in the chosen columns.

    Parameters
    ----------
    codes : (columns, rows) integer array
    chosen : sequence of int
        Which columns.
    sizes : sequence of int
        Number of codes of each column.
    units : int64 array
        The weight of each row.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0]])
    >>> shared_units(codes, [0, 1], [2, 2, 2], np.array([1, 2, 4])).tolist()
    [3, 3, 4]
    """
    spans = [max(int(sizes[j]), 1) for j in chosen]
    if math.prod(spans) > 4 * len(units) + 1024:
        key = number_rows([codes[j] for j in chosen], spans)[0]
        total = summed(units, key, int(key.max(initial=-1)) + 1)
        return total[key]
    strides = np.ones(len(spans), dtype=np.int64)
    strides[:-1] = np.cumprod(spans[:0:-1])[::-1]
    out = np.empty(len(units), dtype=np.int64)
    total = np.zeros(math.prod(spans), dtype=np.int64)
    kernel = dispatch(_shared_loops, _shared_numpy, len(units))
    kernel(codes, np.asarray(chosen, dtype=np.int64), strides, units, total, out)
    return out


def _shared_numpy(codes: Any, chosen: Any, strides: Any, units: Any, total: Any, out: Any) -> None:
    out[:] = 0
    for j, stride in zip(chosen, strides, strict=True):
        out += codes[j].astype(np.int64) * stride
    np.add.at(total, out, units)
    out[:] = total[out]


def _shared_loops(codes: Any, chosen: Any, strides: Any, units: Any, total: Any, out: Any) -> None:
    for i in range(len(units)):
        key = 0
        for a in range(len(chosen)):
            key += codes[chosen[a], i] * strides[a]
        out[i] = key
        total[key] += units[i]
    for i in range(len(units)):
        out[i] = total[out[i]]
