"""Exact arithmetic for intervals: which interval a number lies in, and how its ends are written.

Bounds are decimals, held as integers over a power of ten. Integers are compared with them exactly. A float is
compared with the float nearest to the bound: 0.3 lies in [0.3, 0.4) although ``0.3 / 0.1`` is below 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hushtable.arrays import AnyArray

__all__ = ["Grid", "decimals", "exact", "first_at_least", "scaled_text"]

_INT64 = 2**63
_EXACT_FLOAT = 2**53


def exact(number: int | float) -> Fraction:
    """Return the decimal that a number is written as.

    Examples
    --------
    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(number))


def decimals(number: int | float) -> int:
    """Return how many digits after the point a number is written with.

    Examples
    --------
    >>> decimals(2.25), decimals(1e-7), decimals(20.0)
    (2, 7, 0)
    """
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def scaled_text(number: int, digits: int) -> str:
    """Return number / 10 ** digits as a decimal.

    Examples
    --------
    >>> scaled_text(-2050, 2), scaled_text(700, 2)
    ('-20.5', '7')
    """
    whole, rest = divmod(abs(number), 10**digits)
    fraction = f".{rest:0{digits}d}".rstrip("0") if rest else ""
    return f"{'-' if number < 0 else ''}{whole}{fraction}"


def first_at_least(values: AnyArray, bound: int | float | Fraction) -> int:
    """Return the position of the first of the sorted values that is not below the bound.

    Examples
    --------
    >>> first_at_least(np.array([1, 2, 3]), 1.5)
    1
    """
    if values.dtype.kind == "f":
        return int(np.searchsorted(values, _nearest_float(bound), side="left"))
    threshold = math.ceil(bound)
    if threshold >= _INT64:
        return len(values)
    return int(np.searchsorted(values, np.int64(max(threshold, -_INT64)), side="left"))


@dataclass(frozen=True)
class Grid:
    """Equal intervals: the k-th begins at (origin + k * width) / 10 ** digits.

    Examples
    --------
    >>> grid = Grid(origin=0, width=1, digits=1)
    >>> grid.index(np.array([0.3, 0.1 + 0.2, 0.7])).tolist()
    [3, 3, 7]
    >>> Grid(0, 5, 0).index(np.array([-1, 4, 5])).tolist()
    [-1, 0, 1]
    """

    origin: int
    width: int
    digits: int

    def index(self, values: AnyArray) -> npt.NDArray[Any]:
        """Return k of each of the sorted, finite values; Python integers where int64 would overflow."""
        if not len(values):
            return np.zeros(0, dtype=np.int64)
        return self._index_floats(values) if values.dtype.kind == "f" else self._index_ints(values)

    def _index_ints(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        scale = 10**self.digits
        largest = max(abs(int(values[0])), abs(int(values[-1]))) * scale + abs(self.origin)
        fits = largest < _INT64 and self.width < _INT64
        wide = values.astype(np.int64 if fits else object)
        index: npt.NDArray[Any] = (wide * scale - self.origin) // self.width
        return index

    def _index_floats(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        scale = 10**self.digits
        largest = max(abs(exact(float(values[0]))), abs(exact(float(values[-1]))))
        if scale > 10**22 or (largest + 1) * scale + abs(self.origin) + 4 * self.width >= _EXACT_FLOAT:
            exactly = [(exact(v) * scale - self.origin) // self.width for v in values.tolist()]
            return np.array(exactly, dtype=object)
        # the quotient may be off by one where a value meets a bound; bounds below are correctly rounded
        index: npt.NDArray[Any] = np.floor((values * scale - self.origin) / self.width).astype(np.int64)
        index -= values < self._bounds(index, scale)
        index += values >= self._bounds(index + 1, scale)
        return index

    def _bounds(self, index: npt.NDArray[Any], scale: int) -> npt.NDArray[Any]:
        bounds: npt.NDArray[Any] = (self.origin + index * self.width).astype(np.float64) / scale
        return bounds


def _nearest_float(bound: int | float | Fraction) -> float:
    try:
        return float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf
