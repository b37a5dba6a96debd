"""The records that are in no group yet: what microaggregation asks about them, and how they get fewer.

``Scan`` looks at every record and is the definition; ``Index`` finds the same ones with a kd-tree and a list of
outermost records. Rows are numbered in canonical order, and every tie goes to the lowest number.
"""

from __future__ import annotations

import copy
import importlib.util
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels import compile as kernels
from hushtable.kernels.centre import centre, modes, no_sums, shift
from hushtable.kernels.compile import compiled, dispatch
from hushtable.kernels.kdtree import build, remove
from hushtable.kernels.metric import Metric, dimensions
from hushtable.kernels.outermost import outermost, reach
from hushtable.kernels.scan import scan_farthest, scan_nearest
from hushtable.kernels.search import farthest, nearest

__all__ = ["Index", "Remaining", "Scan", "remaining"]

MOST_DIMENSIONS = 12
"""In more dimensions than this, boxes bound so little that looking at all records is faster."""

ANY = np.empty(0, dtype=np.bool_)
"""Every kind of record is allowed."""


def remaining(points: FloatArray, metric: Metric, units: IntArray | None = None) -> Remaining:
    """Return all records as remaining ones, with an index where it pays.

    Examples
    --------
    >>> left = remaining(np.array([[0.0], [1.0], [9.0], [2.0]]), Metric.of_numbers(1))
    >>> left.farthest_from_centroid()
    2
    >>> left.take(2, 2).tolist(), len(left)
    ([2, 3], 2)
    """
    if len(points) < kernels.COMPILE_FROM or importlib.util.find_spec("numba") is None:
        return Scan(points, metric, units)
    pays = dimensions(points, metric) <= MOST_DIMENSIONS
    return Index(points, metric, units) if pays else Scan(points, metric, units)


class Remaining(ABC):
    """Records that are in no group yet.

    Parameters
    ----------
    points : float64 array
        Records x columns.
    metric : Metric
    units : int64 array, optional
        What each record counts towards a group's size; 1 where left out.

    Attributes
    ----------
    kinds : int64 array
        What ``nearest`` may choose by: the kind of each record.
    units : int
        What those who remain count.
    """

    def __init__(self, points: FloatArray, metric: Metric, units: IntArray | None = None) -> None:
        self.kinds: IntArray = np.empty(0, dtype=np.int64)
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.metric = metric
        self.weights = np.empty(0, dtype=np.int64) if units is None else np.ascontiguousarray(units, dtype=np.int64)
        self.units = len(points) if units is None else int(units.sum())
        self.alive: BoolArray = np.ones(len(points), dtype=np.bool_)
        self._count = len(points)
        self._sums = no_sums(metric)
        self._centre = np.empty(points.shape[1])
        n = len(points)
        dispatch(shift, shift, n)(self.points, np.arange(n), 1, self._sums, metric)
        dispatch(modes, modes, n)(self._sums, metric)

    def __len__(self) -> int:
        return self._count

    def again(self) -> Remaining:
        """Return a copy that gets fewer on its own."""
        return copy.deepcopy(self, {id(self.points): self.points, id(self.metric): self.metric})

    def rows(self) -> IntArray:
        """Return who remains, in order."""
        return np.flatnonzero(self.alive)

    def centroid(self) -> FloatArray:
        """Return the mean record of those who remain."""
        centre(self._sums, self.metric, self._centre)
        return self._centre.copy()

    @abstractmethod
    def farthest_from_centroid(self) -> int:
        """Return who is farthest from the centroid of those who remain."""

    @abstractmethod
    def farthest(self, row: int) -> int:
        """Return who is farthest from a record, which may be gone."""

    @abstractmethod
    def nearest(self, row: int, allowed: BoolArray = ANY) -> tuple[int, float]:
        """Return who is nearest to a record, of the kinds allowed, and the squared distance; -1 where nobody is."""

    @abstractmethod
    def take(self, row: int, needed: int) -> IntArray:
        """Remove a record and its nearest, as few as make up the units needed; return them, nearest first."""

    @abstractmethod
    def remove(self, row: int) -> None:
        """Remove one record."""

    def _weight(self, row: int) -> int:
        return int(self.weights[row]) if len(self.weights) else 1


class Scan(Remaining):
    """Looks at every record, every time."""

    def __init__(self, points: FloatArray, metric: Metric, units: IntArray | None = None) -> None:
        super().__init__(points, metric, units)
        self._rows = np.arange(len(points), dtype=np.int64)

    def farthest_from_centroid(self) -> int:
        """Compare all with the centroid."""
        return scan_farthest(self.points, self._rows, self.centroid(), self.metric)

    def farthest(self, row: int) -> int:
        """Compare all with the record."""
        return scan_farthest(self.points, self._rows, self.points[row], self.metric)

    def nearest(self, row: int, allowed: BoolArray = ANY) -> tuple[int, float]:
        """Compare all that are allowed with the record."""
        rows = self._rows[self._rows != row]
        if len(allowed):
            rows = rows[allowed[self.kinds[rows]]]
        if not len(rows):
            return -1, np.inf
        found, far = scan_nearest(self.points, rows, self.points[row], self.metric, 1)
        return int(found[0]), float(far[0])

    def take(self, row: int, needed: int) -> IntArray:
        """Compare all with the record."""
        taken = np.array([row], dtype=np.int64)
        short = needed - self._weight(row)
        rows = self._rows[self._rows != row]
        if short > 0 and len(rows):
            wanted = len(rows) if len(self.weights) else min(short, len(rows))
            found, _ = scan_nearest(self.points, rows, self.points[row], self.metric, wanted)
            if len(self.weights):
                found = found[: int(np.searchsorted(np.cumsum(self.weights[found]), short)) + 1]
            taken = np.concatenate([taken, found])
        self._drop(taken)
        return taken

    def remove(self, row: int) -> None:
        """Remove one record."""
        self._drop(np.array([row], dtype=np.int64))

    def _drop(self, taken: IntArray) -> None:
        dispatch(shift, shift, len(self.points))(self.points, taken, -1, self._sums, self.metric)
        self.alive[taken] = False
        self._rows = self._rows[self.alive[self._rows]]
        self._count -= len(taken)
        self.units -= int(self.weights[taken].sum()) if len(self.weights) else len(taken)


class Index(Remaining):
    """A kd-tree for neighbours and a list of outermost records for the centroid."""

    def __init__(self, points: FloatArray, metric: Metric, units: IntArray | None = None) -> None:
        super().__init__(points, metric, units)
        self._tree = build(self.points, metric)
        same = np.all((self.points[1:] == self.points[:-1]) | np.isnan(self.points[1:] + self.points[:-1]), axis=1)
        if not metric.plain:
            same &= np.all(np.isnan(self.points[1:]) == np.isnan(self.points[:-1]), axis=1)
        self._lead = np.flatnonzero(np.concatenate([[True], ~same])).astype(np.int64)
        self._stop = np.append(self._lead[1:], len(points)).astype(np.int64)
        self._before = np.empty((1, points.shape[1]))
        self._work = 0.0
        self._key: FloatArray = np.empty(0)
        self._run: IntArray = np.empty(0, dtype=np.int64)
        self._head = 0
        self._price = 0.0
        # nobody who remains is farther than this (squared) from there
        self._ball, self._radius = np.zeros(points.shape[1]), np.inf

    def farthest_from_centroid(self) -> int:
        """Walk down the list of outermost records."""
        compiled(centre)(self._sums, self.metric, self._centre)
        gaps_changed = not self.metric.plain and bool(np.any(np.isnan(self._centre) != np.isnan(self._before[0])))
        if self._work >= self._price or gaps_changed:
            self._sort()
        winner, self._radius, looked, self._head = compiled(outermost)(
            self.points, self.alive, self._lead, self._stop, self._key, self._run, self._head,
            self._centre, self._before, self.metric,
        )  # fmt: skip
        self._ball[:] = self._centre
        self._work += looked
        return int(winner)

    def _sort(self) -> None:
        self._before[0] = self._centre
        key, run = np.empty(len(self._lead)), np.empty(len(self._lead), dtype=np.int64)
        args = (self.points, self.alive, self._lead, self._stop, self._centre, self.metric, key, run)
        n = compiled(reach)(*args)
        order = np.argsort(-key[:n], kind="stable")
        self._key, self._run, self._head, self._work = key[:n][order], run[:n][order], 0, 0.0
        self._price = SORTING * n * max(np.log2(n + 1), 1.0)

    def farthest(self, row: int) -> int:
        """Ask the tree."""
        return int(compiled(farthest)(self._tree, self.points[row], self.metric, self._ball, self._radius))

    def nearest(self, row: int, allowed: BoolArray = ANY) -> tuple[int, float]:
        """Ask the tree."""
        alive = bool(self.alive[row])
        found, far = np.empty(1 + alive, dtype=np.int64), np.empty(1 + alive)
        n = compiled(nearest)(self._tree, self.points[row], self.metric, self.kinds, allowed, found, far)
        for i in range(n):
            if found[i] != row:
                return int(found[i]), float(far[i])
        return -1, np.inf

    def take(self, row: int, needed: int) -> IntArray:
        """Ask the tree."""
        taken: IntArray = compiled(gather)(
            self.points, self._tree, self.metric, self.alive, self.weights, self._sums, row, needed
        )
        self._count -= len(taken)
        self.units -= int(self.weights[taken].sum()) if len(self.weights) else len(taken)
        return taken

    def remove(self, row: int) -> None:
        """Remove one record from the tree."""
        self.take(row, 0)


SORTING = 0.25
"""Entries of the outermost list that may be looked at for each comparison that sorting takes."""


def gather(points: Any, tree: Any, metric: Any, alive: Any, weights: Any, sums: Any, row: Any, needed: Any) -> Any:
    """Remove a record and its nearest, as few as make up the units needed; return them."""
    anybody = np.empty(0, np.bool_)
    no_kinds = np.empty(0, np.int64)
    remove(tree, row)
    short = needed - (weights[row] if len(weights) > 0 else 1)
    wanted = max(short, 0) if len(weights) == 0 else 8
    count = 0
    found = np.empty(0, np.int64)
    while short > 0:
        found = np.empty(wanted, np.int64)
        n = nearest(tree, points[row], metric, no_kinds, anybody, found, np.empty(wanted, np.float64))
        if len(weights) == 0:
            count = n
            break
        total, count = 0, 0
        while count < n and total < short:
            total += weights[found[count]]
            count += 1
        if total >= short or n < wanted:
            break
        wanted *= 4
    taken = np.empty(count + 1, np.int64)
    taken[0] = row
    alive[row] = False
    for i in range(count):
        taken[i + 1] = found[i]
        alive[found[i]] = False
        remove(tree, found[i])
    shift(points, taken, -1, sums, metric)
    return taken
