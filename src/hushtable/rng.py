"""Our own random numbers: a hash of (seed, stream, counter), so no library upgrade changes a release.

Number i of a stream depends on the seed, the stream's name and i alone: any slice of a stream can be drawn on its own,
in any order, on any engine. Only integer operations and the arithmetic that IEEE 754 defines to the last bit (``+ - *
/`` and the square root) are used; logarithm and sine are our own series, because those of NumPy differ between versions
and processors.

This is not a cryptographic generator: anyone who knows the seed knows every number.

References
----------
G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014 (the finaliser);
G. Box, M. Muller, "A note on the generation of random normal deviates", 1958.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import ParameterError

__all__ = [
    *("bits", "choice", "exponential_quantiles", "integers", "normal", "normal_of", "normal_quantiles", "stream_keys"),
    *("sin_half_turns", "uniform"),
]

WordArray: TypeAlias = npt.NDArray[np.uint64]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_LN2 = 0.6931471805599453
# P. Acklam, "An algorithm for computing the inverse normal cumulative distribution function", 2003
_CENTRE = (-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.3577518672690, -30.66479806614716,
           2.506628277459239)  # fmt: skip
_CENTRE_BELOW = (-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572)
_TAIL = (-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
         2.938163982698783)  # fmt: skip
_TAIL_BELOW = (0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416)


def bits(seed: int, stream: str, n: int, start: int = 0) -> WordArray:
    """Return 64 random bits for each of the counters ``start .. start + n - 1``.

    Parameters
    ----------
    seed : int
        Any integer; taken modulo 2**64.
    stream : str
        What the numbers are for. Streams with different names are independent.
    n : int
        How many.
    start : int
        The first counter.

    Examples
    --------
    >>> [f"{word:016x}" for word in bits(7, "docs", 2)]
    ['af8c901ab329f1d7', '38accddaaabc7eb0']
    >>> bool((bits(7, "docs", 2) == bits(7, "docs", 9)[:2]).all())
    True
    """
    if n < 0 or start < 0:
        raise ParameterError(f"n and start must not be negative. Got n={n}, start={start}.")
    key, second = stream_keys(seed, stream)
    counters = np.arange(start, start + n, dtype=np.uint64)
    return _mix(_mix(counters * np.uint64(_GOLDEN) + np.uint64(key)) ^ np.uint64(second))


def stream_keys(seed: int, stream: str) -> tuple[int, int]:
    """Return the keys of a stream's two rounds, for kernels that draw its numbers themselves.

    Examples
    --------
    >>> [f"{key:016x}" for key in stream_keys(7, "docs")]
    ['98ebf17ec50f4abb', '432074e8e8df61ed']
    """
    name = _FNV_OFFSET
    for byte in stream.encode():
        name = ((name ^ byte) * _FNV_PRIME) & _MASK
    key = _mix_int((_mix_int((seed + _GOLDEN) & _MASK) ^ name) & _MASK)
    # two rounds: with one, streams would be slices of the same sequence; the second key must not be the image of a
    # small counter under the first round, whose exclusive or with it would be 0
    return key, _mix_int(key ^ _FNV_OFFSET)


def uniform(seed: int, stream: str, n: int, start: int = 0) -> FloatArray:
    """Return numbers spread evenly over [0, 1), with 53 random bits each.

    Examples
    --------
    >>> uniform(7, "docs", 3).round(4).tolist()
    [0.6857, 0.2214, 0.984]
    """
    return (bits(seed, stream, n, start) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(seed: int, stream: str, n: int, low: int, high: int, start: int = 0) -> IntArray:
    """Return integers spread evenly over ``low .. high - 1``; at most 2**32 different ones.

    Examples
    --------
    >>> integers(7, "docs", 8, 1, 7).tolist()
    [5, 2, 6, 6, 2, 2, 1, 4]
    """
    span = high - low
    if not 1 <= span <= 1 << 32:
        raise ParameterError(f"low must be below high, by at most 2**32. Got low={low}, high={high}.")
    words, half, width = bits(seed, stream, n, start), np.uint64(32), np.uint64(span)
    # the upper 64 bits of word * span: no remainder, so no value is favored by more than span / 2**64
    lower = (words & np.uint64(0xFFFFFFFF)) * width >> half
    return (((words >> half) * width + lower) >> half).astype(np.int64) + low


def choice(seed: int, stream: str, n: int, weights: Sequence[float] | FloatArray, start: int = 0) -> IntArray:
    """Return positions in ``weights``, each drawn in proportion to its weight.

    Examples
    --------
    >>> choice(7, "docs", 8, [1, 0, 3]).tolist()
    [2, 0, 2, 2, 0, 0, 0, 2]
    """
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any() or not (given > 0).any():
        raise ParameterError("weights must be a list of finite numbers >= 0 that are not all 0.")
    cumulated = np.cumsum(given)
    drawn = np.searchsorted(cumulated, uniform(seed, stream, n, start) * cumulated[-1], side="right")
    # u * total may round up to the total itself
    return np.asarray(np.minimum(drawn, np.flatnonzero(given)[-1]), dtype=np.int64)


def normal(seed: int, stream: str, n: int, start: int = 0) -> FloatArray:
    """Return numbers of the standard normal distribution.

    Examples
    --------
    >>> normal(7, "docs", 3).round(4).tolist()
    [-0.9164, 0.2881, -0.5773]
    """
    return normal_of(uniform(seed, f"{stream}/radius", n, start), uniform(seed, f"{stream}/turn", n, start))


def normal_of(radius: FloatArray, turn: FloatArray) -> FloatArray:
    """Return numbers of the standard normal distribution, made of two numbers from [0, 1) each.

    Examples
    --------
    >>> normal_of(np.array([0.5]), np.array([0.0])).round(4).tolist()
    [1.1774]
    """
    angle = np.abs(2.0 * turn - 1.0) - 0.5
    return np.asarray(np.sqrt(-2.0 * _log(1.0 - radius)) * sin_half_turns(angle))


def normal_quantiles(share: FloatArray) -> FloatArray:
    """Return quantiles of the standard normal distribution, to about 1e-8: Acklam's rational approximation.

    Parameters
    ----------
    share : float64 array
        Between 0 and 1, both excluded.

    Examples
    --------
    >>> normal_quantiles(np.array([0.025, 0.5, 0.975])).round(6).tolist()
    [-1.959964, 0.0, 1.959964]
    """
    p = np.asarray(share, dtype=np.float64)
    tail = np.minimum(p, 1.0 - p)
    q = p - 0.5
    r = q * q
    middle = q * _polynomial(_CENTRE, r) / (r * _polynomial(_CENTRE_BELOW, r) + 1.0)
    s = np.sqrt(-2.0 * _log(tail))
    outer = _polynomial(_TAIL, s) / (s * _polynomial(_TAIL_BELOW, s) + 1.0)
    return np.where(tail < 0.02425, np.where(q < 0, outer, -outer), middle)


def exponential_quantiles(n: int) -> FloatArray:
    """Return n evenly spread quantiles of the standard exponential distribution, falling.

    Examples
    --------
    >>> exponential_quantiles(2).round(4).tolist()
    [1.3863, 0.2877]
    """
    return -_log((np.arange(n) + 0.5) / n)


def _mix_int(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


def _mix(words: WordArray) -> WordArray:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _log(x: FloatArray) -> FloatArray:
    """Natural logarithm of positive numbers: 2 artanh((m - 1) / (m + 1)) + e ln 2."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < 0.7071067811865476
    mantissa = np.where(low, mantissa * 2.0, mantissa)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square, series = ratio * ratio, np.zeros_like(ratio)
    for odd in range(23, 0, -2):
        series = series * square + 1.0 / odd
    return 2.0 * ratio * series + (exponent - low) * _LN2


def _polynomial(factors: Sequence[float], x: FloatArray) -> FloatArray:
    total = np.zeros_like(x)
    for factor in factors:
        total = total * x + factor
    return total


def sin_half_turns(x: FloatArray) -> FloatArray:
    """Return the sine of pi * x for x in [-1/2, 1/2], as a Taylor series.

    Examples
    --------
    >>> sin_half_turns(np.array([0.0, 0.5])).round(6).tolist()
    [0.0, 1.0]
    """
    angle = x * math.pi
    square, series = angle * angle, np.zeros_like(angle)
    for odd in range(23, 0, -2):
        series = series * square + (-1.0) ** (odd // 2) / math.factorial(odd)
    return angle * series
