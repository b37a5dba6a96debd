"""Redrawing values within classes: independent shuffles of adjacent runs, and weighted draws.

Random numbers come from ``hushtable.rng``, number i of the stream for place i, so that the kernel and its twin agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.rng import bits, stream_keys, uniform

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _11 = (np.uint64(n) for n in (30, 27, 31, 32, 11))
_LOW = np.uint64(0xFFFFFFFF)
_STEP = 2.0**-53


def shuffle_runs(items: AnyArray, offsets: IntArray, seed: int, stream: str) -> AnyArray:
    """Return ``items`` with every run ``offsets[g] : offsets[g + 1]`` in a random order; all orders are equally likely.

    Examples
    --------
    >>> shuffle_runs(np.arange(6), np.array([0, 4, 6]), 7, "docs").tolist()
    [1, 0, 2, 3, 5, 4]
    """
    out = items.copy()
    key, second = (np.uint64(k) for k in stream_keys(seed, stream))
    dispatch(_shuffle_loops, _shuffle_twin(seed, stream), len(out))(out, offsets, key, second)
    return out


def _mixed(word: Any) -> Any:
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


def _shuffle_loops(items: Any, offsets: Any, key: Any, second: Any) -> None:
    for g in range(len(offsets) - 1):
        start = offsets[g]
        for i in range(offsets[g + 1] - 1, start, -1):
            word = _mixed(_mixed(np.uint64(i) * _GOLDEN + key) ^ second)
            span = np.uint64(i - start + 1)
            # the upper bits of word * span, as rng.integers takes them
            j = start + np.int64(((word >> _32) * span + ((word & _LOW) * span >> _32)) >> _32)
            held = items[i]
            items[i] = items[j]
            items[j] = held


def _shuffle_twin(seed: int, stream: str) -> Any:
    def shuffle(items: AnyArray, offsets: IntArray, key: Any, second: Any) -> None:
        words = bits(seed, stream, len(items))
        start, size = offsets[:-1], np.diff(offsets)
        for step in range(int(size.max(initial=0)) - 1, 0, -1):
            at = start[size > step]
            i, span = at + step, np.uint64(step + 1)
            word = words[i]
            j = at + (((word >> _32) * span + ((word & _LOW) * span >> _32)) >> _32).astype(np.int64)
            items[i], items[j] = items[j], items[i]

    return shuffle


def draw_uniform(n: int, seed: int, stream: str) -> FloatArray:
    """Return ``rng.uniform(seed, stream, n)``, ten times as fast for large n.

    Examples
    --------
    >>> draw_uniform(3, 7, "docs").round(4).tolist()
    [0.6857, 0.2214, 0.984]
    """

    def twin(out: FloatArray, key: Any, second: Any) -> None:
        out[:] = uniform(seed, stream, n)

    out = np.empty(n)
    dispatch(_uniform_loops, twin, n)(out, *(np.uint64(k) for k in stream_keys(seed, stream)))
    return out


def _uniform_loops(out: Any, key: Any, second: Any) -> None:
    for i in range(len(out)):
        word = _mixed(_mixed(np.uint64(i) * _GOLDEN + key) ^ second)
        out[i] = np.float64(word >> _11) * _STEP


def draw_parts(cells: AnyArray, offsets: IntArray, upto: FloatArray, luck: FloatArray) -> IntArray:
    """Draw a part of each row's cell, by weight.

    Parameters
    ----------
    cells : integer array
        The cell of every row.
    offsets : int64 array
        The parts of each cell.
    upto : float64 array
        Cumulative weights of the parts of each cell.
    luck : float64 array
        Uniform numbers in [0, 1).

    Examples
    --------
    >>> cells, offsets = np.array([0, 0, 1]), np.array([0, 2, 3])
    >>> draw_parts(cells, offsets, np.array([1.0, 4.0, 1.0]), np.array([0.2, 0.3, 0.9])).tolist()
    [0, 1, 2]
    """
    out = np.empty(len(cells), dtype=np.int64)
    dispatch(_draw_loops, _draw_twin, len(cells))(cells, offsets, upto, luck, out)
    return out


def _draw_loops(cells: Any, offsets: Any, upto: Any, luck: Any, out: Any) -> None:
    for i in range(len(cells)):
        low, high = offsets[cells[i]], offsets[cells[i] + 1] - 1
        wanted = luck[i] * upto[high]
        # the first part with a greater sum, or the last part because of rounding
        while low < high:
            middle = (low + high) // 2
            if upto[middle] > wanted:
                high = middle
            else:
                low = middle + 1
        out[i] = low


def _draw_twin(cells: AnyArray, offsets: IntArray, upto: FloatArray, luck: FloatArray, out: IntArray) -> None:
    low, high = offsets[cells].copy(), offsets[cells + 1] - 1
    wanted = luck * upto[high]
    while np.any(low < high):
        middle = (low + high) // 2
        above = (upto[middle] > wanted) | (low >= high)
        low, high = np.where(above, low, middle + 1), np.where(above & (low < high), middle, high)
    out[:] = low
