"""Numeric intervals: with fixed widths, between given cut points, or with equal frequencies.

Intervals are closed on the left and open on the right: ``[20, 25)``. Ends beyond the first and last cut point are open:
``< 20``, ``>= 90``. The top is ``*``. The cut points of equal frequencies are not published, since they may be values
of suppressed records: such an interval is named after the smallest and the largest value published in it, ``[17, 24]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.base import ROOT
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.hierarchy.naming import Ends
from hushtable.io.text import number_text
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

_Number = int | float


@dataclass(frozen=True)
class Intervals(Recipe):
    """Wider and wider intervals of a numeric column. Give one of ``widths``, ``cuts`` and ``quantiles``.

    Parameters
    ----------
    widths : tuple of numbers, optional
        The width at each level, each a multiple of the one before.
    cuts : tuple of numbers, or of tuples of numbers, optional
        The cut points at each level, the finest first, each level a subset of the one before. A plain list is one
        level.
    quantiles : tuple of int, optional
        The number of intervals with about the same number of records at each level, each dividing the one before. A
        value is never split, so there may be fewer.
    origin : number
        Start of an interval of the widths.
    low, high : number, optional
        Open ends: everything below ``low``, and everything from ``high`` on, is one interval at every level.

    Examples
    --------
    >>> ages = pa.array([17, 21, 24, 93])
    >>> coded = Intervals(widths=(5, 10), low=20, high=90).code(
    ...     ages, Kind.NUMERIC, missing=False, column="age", counts=np.ones(4, dtype=int))
    >>> coded.labels[1:]
    (('< 20', '[20, 25)', '>= 90'), ('< 20', '[20, 30)', '>= 90'), ('*',))
    """

    widths: Annotated[tuple[_Number, ...] | None, "width at each level, each a multiple of the one before"] = None
    cuts: Annotated[tuple[tuple[_Number, ...] | _Number, ...] | None, "cut points at each level, the finest first"] = (
        None
    )
    quantiles: Annotated[tuple[int, ...] | None, "number of equal-frequency intervals at each level"] = None
    origin: Annotated[_Number, "start of an interval of the widths"] = 0
    low: Annotated[_Number | None, "everything below is one open interval"] = None
    high: Annotated[_Number | None, "everything from here on is one open interval"] = None

    name: ClassVar[str] = "intervals"
    in_a_policy: ClassVar[str] = "{intervals: [5, 10, 20]}"
    shorthand: ClassVar[str] = "widths"

    @property
    def of_policy(self) -> bool:
        """Whether cuts are independent of the records, unlike quantiles."""
        return self.quantiles is None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [way for way in ("widths", "cuts", "quantiles") if getattr(self, way) is not None]
        if len(given) != 1:
            raise ParameterError(
                f"Intervals needs one of 'widths', 'cuts' and 'quantiles'. Got {' and '.join(given) or 'none'}."
            )
        if self.origin != 0 and self.widths is None:
            raise ParameterError(
                f"The 'origin' parameter of Intervals requires 'widths' and cannot be used with {given[0]!r}."
            )
        ends = [n for n in (self.low, self.high, self.origin) if n is not None]
        if not all(math.isfinite(n) for n in ends) or (
            self.low is not None and self.high is not None and self.low >= self.high
        ):
            raise ParameterError("The 'origin', 'low' and 'high' of Intervals must be finite, and low < high.")
        if self.cuts is not None:
            object.__setattr__(self, "cuts", _nested(self.cuts))
        getattr(self, f"_check_{given[0]}")()

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the intervals.

        Examples
        --------
        >>> Intervals(widths=(5, 10)).below(["[20, 25)"], "age")[0][0].high
        '25'
        """
        from hushtable.hierarchy.spans import parse_span

        spans = map(parse_span, labels)
        return [None if span is None else (span,) for span in spans]

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Find the interval of every value."""
        if len(values) and not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            raise HierarchyError(
                f"Column {column!r} has a hierarchy of intervals but its values are not numbers.",
                code="not-numbers",
                hint="Declare 'kind: numeric' for the column, or use 'dates', 'prefix' or a taxonomy.",
            )
        leaves, weights = sorted_leaves(values, kind, counts, column)
        numbers = leaves.to_numpy(zero_copy_only=False) if len(leaves) else np.zeros(0, dtype=np.int64)
        if self.widths is not None:
            return Draft.over(leaves, self._equal_widths(numbers, column))
        if self.quantiles is not None:
            begin, end = self._inner(numbers, column)
            levels = equal_frequency_cuts(numbers[begin:end], weights[begin:end], self.quantiles)
        else:
            levels = [list(level) for level in self.cuts or () if isinstance(level, tuple)]
        drawn = [_between(numbers, self._with_ends(level)) for level in levels]
        if self.quantiles is None:
            return Draft.over(leaves, drawn)
        # cut points of quantiles are values that may be a suppressed record's
        declared = frozenset({_end("<", self.low), _end(">=", self.high), ROOT})
        return Draft.over(leaves, drawn, Ends("[{}, {}]", declared=declared))

    def _check_widths(self) -> None:
        widths = self.widths or ()
        if not widths or not all(math.isfinite(w) and w > 0 for w in widths):
            raise ParameterError(f"The 'widths' of Intervals must be numbers > 0. Got {list(widths)} instead.")
        for level, (narrow, wide) in enumerate(pairwise(widths), 1):
            ratio = exact(wide) / exact(narrow)
            if ratio.denominator != 1 or ratio == 1:
                raise HierarchyError(
                    f"Intervals do not nest: the width {wide} at level {level + 1} is not a multiple of {narrow}.",
                    code="not-nested",
                    hint="Choose widths like 5, 10, 20.",
                )

    def _check_cuts(self) -> None:
        levels = [level for level in self.cuts or () if isinstance(level, tuple)]
        for level in levels:
            if not level or not all(math.isfinite(c) for c in level) or any(a >= b for a, b in pairwise(level)):
                raise ParameterError(f"The 'cuts' of Intervals must be ascending numbers. Got {list(level)} instead.")
        for height, (fine, coarse) in enumerate(pairwise(levels), 1):
            if not set(coarse) < set(fine):
                raise HierarchyError(
                    f"Intervals do not nest: the cuts at level {height + 1} are not a proper subset of those below.",
                    code="not-nested",
                    hint="From level to level, drop cut points; never add or move one.",
                )

    def _check_quantiles(self) -> None:
        bins = self.quantiles or ()
        if not bins or min(bins) < 2:
            raise ParameterError(f"The 'quantiles' of Intervals must be int >= 2. Got {list(bins)} instead.")
        for height, (fine, coarse) in enumerate(pairwise(bins), 1):
            if fine % coarse or fine == coarse:
                raise HierarchyError(
                    f"Intervals do not nest: {coarse} quantiles at level {height + 1} do not divide {fine} below.",
                    code="not-nested",
                    hint="Choose numbers like 16, 8, 4.",
                )

    def _inner(self, numbers: npt.NDArray[Any], column: str) -> tuple[int, int]:
        """Return the positions between the open ends."""
        begin = 0 if self.low is None else first_at_least(numbers, self.low)
        end = len(numbers) if self.high is None else first_at_least(numbers, self.high)
        infinite = int(np.count_nonzero(~np.isfinite(numbers[begin:end])))
        if infinite:
            raise HierarchyError(
                f"Column {column!r} has {infinite} infinite values.",
                code="infinite",
                hint="Give the intervals open ends ('low', 'high'), or read infinite values as missing.",
            )
        return begin, end

    def _equal_widths(self, numbers: npt.NDArray[Any], column: str) -> list[Level]:
        begin, end = self._inner(numbers, column)
        widths = self.widths or ()
        digits = max(decimals(n) for n in (*widths, self.origin, self.low, self.high) if n is not None)
        origin = _scaled(self.origin, digits)
        low, high = (None if n is None else _scaled(n, digits) for n in (self.low, self.high))
        index = EqualIntervals(origin, _scaled(widths[0], digits), digits).index(numbers[begin:end])
        levels = []
        for width in (_scaled(w, digits) for w in widths):
            bins = index // (width // _scaled(widths[0], digits))
            opens = np.ones(len(bins), dtype=bool)
            opens[1:] = bins[1:] != bins[:-1]
            labels = []
            for k in bins[opens].tolist():
                left, right = origin + k * width, origin + (k + 1) * width
                left = left if low is None else max(left, low)
                right = right if high is None else min(right, high)
                labels.append(f"[{scaled_text(left, digits)}, {scaled_text(right, digits)})")
            nodes = np.full(len(numbers), len(labels) + 1, dtype=np.int64)
            nodes[:begin] = 0
            nodes[begin:end] = np.cumsum(opens)
            levels.append(Level.of(nodes, [_end("<", self.low), *labels, _end(">=", self.high)]))
        return levels

    def _with_ends(self, cuts: Sequence[_Number]) -> list[_Number]:
        inner = [c for c in cuts if (self.low is None or c > self.low) and (self.high is None or c < self.high)]
        return [*([] if self.low is None else [self.low]), *inner, *([] if self.high is None else [self.high])]


def _nested(cuts: Sequence[Any]) -> tuple[tuple[_Number, ...], ...]:
    """Return cuts level by level; a plain list is one level."""
    if all(not isinstance(c, tuple) for c in cuts):
        return (tuple(cuts),)
    if all(isinstance(c, tuple) for c in cuts):
        return tuple(cuts)
    raise ParameterError("The 'cuts' of Intervals must be one list of numbers or one list per level, not both.")


def _end(sign: str, bound: _Number | None) -> str:
    return "" if bound is None else f"{sign} {number_text(bound)}"


def _scaled(number: _Number, digits: int) -> int:
    return int(exact(number) * 10**digits)


def _between(numbers: npt.NDArray[Any], cuts: Sequence[_Number]) -> Level:
    """Return the intervals between ascending cut points, open at both ends."""
    begins = [first_at_least(numbers, cut) for cut in cuts]
    nodes = np.searchsorted(begins, np.arange(len(numbers)), side="right").astype(np.int64)
    if not cuts:
        return Level.of(nodes, ["*"])
    text = [number_text(cut) for cut in cuts]
    inner = [f"[{a}, {b})" for a, b in pairwise(text)]
    return Level.of(nodes, [f"< {text[0]}", *inner, f">= {text[-1]}"])


# Cut points of equal-frequency intervals.


def equal_frequency_cuts(numbers: npt.NDArray[Any], counts: IntArray, bins: Sequence[int]) -> list[list[int | float]]:
    """Return the cut points of each level.

    The finest level is cut between the two values where the number of records below is closest to its share (ties go to
    the lower one), so a value is never split and fewer intervals may result; a coarser level keeps
    every n-th of these cuts.

    Parameters
    ----------
    numbers : array
        Distinct values, ascending.
    counts : int64 array
        How often each occurs.
    bins : sequence of int
        Intervals per level, each dividing the one before.

    Examples
    --------
    >>> equal_frequency_cuts(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), [4, 2])
    [[2, 3, 4], [3]]
    >>> equal_frequency_cuts(np.array([1, 2, 3]), np.array([98, 1, 1]), [4, 2])
    [[2], [2]]
    """
    if len(numbers) < 2:
        return [[] for _ in bins]
    finest = bins[0]
    below = np.cumsum(counts)[:-1]
    total = int(np.sum(counts))
    targets = np.arange(1, finest, dtype=np.int64) * total
    right = np.minimum(np.searchsorted(below * finest, targets, side="left"), len(below) - 1)
    left = np.maximum(right - 1, 0)
    nearer = np.abs(targets - below[left] * finest) <= np.abs(targets - below[right] * finest)
    nearest = np.where(nearer, left, right)
    cuts = numbers[nearest + 1]
    return [np.unique(cuts[finest // n - 1 :: finest // n][: n - 1]).tolist() for n in bins]


# Exact arithmetic for intervals: which interval a number lies in, and how its ends are written.
#
# Bounds are decimals, held as integers over a power of ten. Integers are compared with them exactly. A float is
# compared with the float nearest to the bound: 0.3 lies in [0.3, 0.4) although ``0.3 / 0.1`` is below 3.


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
    """Return the number of digits after the decimal point of a number as written.

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
class EqualIntervals:
    """Equal intervals: the k-th starts at (origin + k * width) / 10 ** digits.

    Examples
    --------
    >>> grid = EqualIntervals(origin=0, width=1, digits=1)
    >>> grid.index(np.array([0.3, 0.1 + 0.2, 0.7])).tolist()
    [3, 3, 7]
    >>> EqualIntervals(0, 5, 0).index(np.array([-1, 4, 5])).tolist()
    [-1, 0, 1]
    """

    origin: int
    width: int
    digits: int

    def index(self, values: AnyArray) -> npt.NDArray[Any]:
        """Return k of each of the sorted, finite values; Python integers if int64 would overflow."""
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
