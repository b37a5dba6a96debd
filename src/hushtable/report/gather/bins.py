"""Bins: what a histogram may show of a column without showing a person's value.

- Every bin holds at least ``least`` records of the input; smaller ones are merged with a neighbor or omitted.
- Numbers are cut at round edges that come from a coarse grid, never from the minimum or maximum: the outer bins
  are open. Dates are cut at months and years.
- Labels, and numbers with few distinct values, are identified by rank ("value 2"); columns with many labels and a
hierarchy, by the nodes of one of its levels ("group 2"). Their names appear only at the user's request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.schema.columns import Kind
from hushtable.table.encoded import numbers_of

__all__ = ["FEW", "MOST", "Bins", "bins_of"]

FEW = 12
"""Up to this number, distinct numbers or dates are single values instead of ranges."""

MOST = 12
"""Maximum number of labels with a bin of their own."""

_LEAST_RANGE = 1e-290

_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


@dataclass(frozen=True)
class Bins:
    """The bin of each value of a column.

    Attributes
    ----------
    labels : tuple of str
    of_code : int64 array
        The bin of every code; -1 if it is not shown.
    edges : float array
        Starts of the ranges except the first; empty if bins are not ranges.
    caption : str
    """

    labels: tuple[str, ...]
    of_code: IntArray
    edges: FloatArray = field(default_factory=lambda: np.empty(0))
    caption: str = ""

    def __len__(self) -> int:
        return len(self.labels)


def bins_of(
    coded: Coded, counts: IntArray, least: int, *, named: bool = False, released: IntArray | None = None
) -> Bins:
    """Choose the bins of a column.

    Parameters
    ----------
    coded : Coded
    counts : int64 array
        Number of input records with each code.
    least : int
        Minimum number of records in a bin.
    named : bool
        Whether values that enough records share may be named.
    released : int64 array, optional
        Number of released records with each code: values without released records are not named.

    Examples
    --------
    >>> ages = Coded(Kind.NUMERIC, pa.array(range(20, 61)), False, (np.arange(41), np.zeros(41, int)),
    ...              (tuple(map(str, range(20, 61))), ("*",)))
    >>> bins_of(ages, np.full(41, 3), least=10).labels
    ('under 25', '25 to 29', '30 to 34', '35 to 39', '40 to 44', '45 to 49', '50 to 54', '55 and over')
    """
    first = int(coded.missing)
    ranged = coded.kind in (Kind.NUMERIC, Kind.DATE) and np.count_nonzero(counts[first:]) > FEW
    known = counts if released is None else np.minimum(counts, released)
    bins = _ranges(coded, counts, least) if ranged else _ranks(coded, counts, least, known if named else None)
    if not ranged and not coded.kind.ordered:
        bins = _nodes(coded, counts, least, known if named else None) or bins
    if first and counts[0] >= least:
        of_code = bins.of_code.copy()
        of_code[0] = len(bins)
        return Bins((*bins.labels, "missing"), of_code, bins.edges, bins.caption)
    return bins


def _ranks(coded: Coded, counts: IntArray, least: int, known: IntArray | None) -> Bins:
    """Number the values, or name those that enough records have according to ``known``."""
    named = known is not None
    first = int(coded.missing)
    codes = np.arange(first, coded.size)
    order = codes[np.lexsort((codes, -counts[first:]))]
    shown = order[(counts if known is None else known)[order] >= least][:MOST]
    rest = int(counts[codes].sum() - counts[shown].sum())
    while 0 < rest < least and len(shown):
        # the difference would reveal the remainder
        rest += int(counts[shown[-1]])
        shown = shown[:-1]
    ordered = coded.kind.ordered
    if ordered:
        shown = np.sort(shown)
    of_code = np.full(coded.size, -1, dtype=np.int64)
    of_code[shown] = np.arange(len(shown))
    if named:
        labels = [coded.labels[0][c] or "" for c in shown.tolist()]
    else:
        labels = [f"value {i + 1}" for i in range(len(shown))]
    if rest >= least:
        others = np.setdiff1d(codes, shown)
        of_code[others] = len(shown)
        labels.append("all other values")
    how = "in their order" if ordered else "the most frequent first"
    caption = f"Values, {how}" + ("." if named else "; they are numbered, not named.")
    return Bins(tuple(labels), of_code, caption=caption)


def _nodes(coded: Coded, counts: IntArray, least: int, known: IntArray | None) -> Bins | None:
    """Return nodes of the lowest level with few enough to show nearly everybody; None if values themselves are few."""
    first = int(coded.missing)
    if np.count_nonzero(counts[first:]) <= MOST:
        return None
    everybody = counts[first:].sum()
    for height in range(1, coded.height):
        level = coded.levels[height][first:]
        held = np.bincount(level, weights=counts[first:], minlength=len(coded.labels[height])).astype(np.int64)
        if np.count_nonzero(held) > MOST or held[held >= least].sum() < 0.9 * everybody:
            continue
        # a level is a column of its own, whose values are nodes
        numbers = np.unique(level)
        nodes = Coded(
            Kind.NOMINAL,
            pa.array([coded.labels[height][n] for n in numbers.tolist()], pa.string()),
            False,
            (np.arange(len(numbers)),),
            (tuple(coded.labels[height][n] for n in numbers.tolist()),),
        )
        shared = None
        if known is not None:
            shared = np.bincount(level, weights=known[first:], minlength=len(held)).astype(np.int64)[numbers]
        found = _ranks(nodes, held[numbers], least, shared)
        of_code = np.full(coded.size, -1, dtype=np.int64)
        of_code[first:] = found.of_code[np.searchsorted(numbers, level)]
        labels = tuple(label.replace("value ", "group ") if known is None else label for label in found.labels)
        named = "." if known is not None else "; they are numbered, not named."
        caption = f"Groups of values (level {height} of the hierarchy), the most frequent first{named}"
        return Bins(labels, of_code, caption=caption)
    return None


def _ranges(coded: Coded, counts: IntArray, least: int) -> Bins:
    first = int(coded.missing)
    days = numbers_of(coded)
    if days is None:
        raise TypeError("only numbers and dates have ranges")
    here = np.flatnonzero(counts[first:]) + first
    numbers = _months(days[here]) if coded.kind is Kind.DATE else days[here]
    edges = _joined(_grid(numbers, counts[here], least, coded), numbers, counts[here], least)
    of_code = np.full(coded.size, -1, dtype=np.int64)
    everything = days[first:]
    at = _months(everything) if coded.kind is Kind.DATE else everything
    of_code[first:] = np.searchsorted(edges, at, side="right")
    whole = pa.types.is_integer(coded.values.type)
    if coded.kind is Kind.DATE:
        labels = _labels([_month_name(e) for e in edges.tolist()], [_month_name(e - 1) for e in edges.tolist()])
        starts = np.array([_first_day(e) for e in edges.tolist()], dtype=np.float64)
        return Bins(labels, of_code, starts, "Ranges of dates; the outer ones are open.")
    texts = [f"{e:,.10g}" for e in edges.tolist()]
    ends = [f"{e - 1:,.10g}" for e in edges.tolist()] if whole else [f"<{t}" for t in texts]
    return Bins(_labels(texts, ends), of_code, edges, "Ranges with round ends; the outer ones are open.")


def _labels(starts: list[str], ends: list[str]) -> tuple[str, ...]:
    if not starts:
        return ("all values",)
    middle = [f"{a} to {b}" for a, b in zip(starts[:-1], ends[1:], strict=True)]
    return (f"under {starts[0]}", *middle, f"{starts[-1]} and over")


def _grid(numbers: FloatArray, counts: IntArray, least: int, coded: Coded) -> FloatArray:
    """Return round edges between the values below and above which ``least`` records lie."""
    total = np.cumsum(counts)
    low = float(numbers[np.searchsorted(total, least)]) if total[-1] >= least else float(numbers[0])
    high = float(numbers[np.searchsorted(total, total[-1] - least, side="right")]) if total[-1] > least else low
    # below that a tenth of the range has no round number near it
    if not high / 2 - low / 2 > _LEAST_RANGE:
        return np.empty(0)
    if coded.kind is Kind.DATE:
        width = float(next((m for m in _MONTHS if m * 10 >= high - low), _MONTHS[-1]))
    else:
        # no more than four digits of an edge tell anything, and a range of integers is never one of them
        width = _round_up(max(high / 10 - low / 10, max(abs(low), abs(high)) / 500))
        if pa.types.is_integer(coded.values.type):
            width = max(width, 2.0)
    begin, end = math.floor(low / width) + 1, math.ceil(high / width)
    return np.arange(begin, end, dtype=np.float64) * width


def _round_up(width: float) -> float:
    """Return the next of 1, 2, 5 times a power of ten.

    Examples
    --------
    >>> _round_up(0.3), _round_up(41.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9))


def _joined(edges: FloatArray, numbers: FloatArray, counts: IntArray, least: int) -> FloatArray:
    """Drop edges until every range holds at least ``least`` records."""
    kept: list[float] = []
    inside = np.bincount(np.searchsorted(edges, numbers, side="right"), weights=counts, minlength=len(edges) + 1)
    running = 0.0
    for edge, count in zip(edges.tolist(), inside.tolist(), strict=False):
        running += count
        if running >= least:
            kept.append(edge)
            running = 0.0
    running += float(inside[-1])
    if kept and running < least:
        kept.pop()
    return np.array(kept)


def _months(days: FloatArray) -> FloatArray:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64).astype(np.float64)


def _first_day(month: float) -> int:
    return int(np.datetime64(int(month), "M").astype("datetime64[D]").astype(np.int64))


def _month_name(month: float) -> str:
    return str(np.datetime64(int(month), "M"))
