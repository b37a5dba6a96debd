"""The nearest and farthest records of several records in one pass: for tables of many columns, where no index helps.

Single precision rules out candidates, double precision decides. A shadow of the table in float32 holds blocks of 32
records, so that vector units compare them at once and a block stays in the cache for all questions of a pass. Each
comparison that the shadow cannot decide is repeated with ``plain_distance``, so the answers are those of the plain
definition, including ties, to the last bit.

The error of the shadow: it holds ``fl32((x - middle) * scale)`` with a power of two that makes the largest norm at most
1. With u = 2^-24, ``|s32 - s| <= u (1 + |o|) + (d + 3) u s`` for a distance s from the origin o, both scaled;
``_above`` and ``_below`` take twice that, and some room for underflow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.kernels.compile import compiled, dispatch
from hushtable.kernels.metric import Metric, plain_distance, squared_distances
from hushtable.parallel import each, threads

LANES = 32
"""Number of records in a block."""

SHARED_FROM = 4_000_000
"""Number of terms in a pass (records x columns x questions) at which its blocks are shared among the cores."""

COMPACT = 0.15
"""Share of records that may be gone before the shadow is rewritten."""


class PassAnswers(NamedTuple):
    """The answers to several questions.

    Attributes
    ----------
    near, far : int64 arrays (questions x wanted)
        Nearest and farthest records, best first, ties to the lower number; -1 if there are no more.
    near_far, far_far : float64 arrays
        Their squared distances.
    """

    near: IntArray
    near_far: FloatArray
    far: IntArray
    far_far: FloatArray


class Passes(ABC):
    """A shrinking table of numbers that answers several questions in one pass.

    Attributes
    ----------
    questions : int
        Best number of questions to ask at once.
    """

    questions: int

    @abstractmethod
    def search(self, rows: IntArray, near: int, far: int) -> PassAnswers:
        """Find the nearest others of each of these records, and the farthest records, among those that remain."""

    @abstractmethod
    def remove(self, rows: IntArray) -> None:
        """Remove records."""

    @abstractmethod
    def again(self) -> Passes:
        """Return an independent copy."""


def scaled(points: FloatArray) -> tuple[FloatArray, float]:
    """Return the middle of the points and the power of two that scales their distances from it to at most 1.

    Examples
    --------
    >>> scaled(np.array([[0.0, 0.0], [6.0, 8.0]]))
    (array([3., 4.]), 0.125)
    """
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (points.sum(axis=0), points.sum(axis=0))
    middle: FloatArray = low / 2 + high / 2
    # no record is farther away than the corner of the box; the mantissa that frexp gives is below 1
    reach = float(np.hypot.reduce(high / 2 - low / 2, initial=0.0))
    return middle, float(np.ldexp(1.0, -int(np.frexp(reach)[1])))


def has_shadow(points: FloatArray) -> bool:
    """Whether squared distances of these points neither overflow nor vanish, so that a shadow can bound them.

    Examples
    --------
    >>> has_shadow(np.array([[0.0], [1.0]])), has_shadow(np.array([[0.0], [1e-200]]))
    (True, False)
    """
    return bool(len(points)) and 2.0**-400 < scaled(points)[1] < 2.0**400


def plain_search(points: FloatArray, alive: BoolArray, rows: IntArray, near: int, far: int) -> PassAnswers:
    """Return what ``Passes.search`` must find, by examining every record: the definition.

    Examples
    --------
    >>> line = np.array([[0.0], [2.0], [1.0], [-2.0]])
    >>> found = plain_search(line, np.array([True, True, False, True]), np.array([0]), 3, 1)
    >>> found.near.tolist(), found.near_far.tolist(), found.far.tolist()
    ([[1, 3, -1]], [[4.0, 4.0, inf]], [[1]])
    """
    found = _nothing(len(rows), near, far)
    others, metric = np.flatnonzero(alive), Metric.of_numbers(points.shape[1])
    kept = points[others]
    for q, row in enumerate(rows.tolist()):
        away = squared_distances(kept, points[row], metric)
        for side, sign in ((0, 1.0), (2, -1.0)):
            who = np.flatnonzero(others != row) if side == 0 else np.arange(len(others))
            best = who[np.lexsort((others[who], sign * away[who]))][: found[side].shape[1]]
            found[side][q, : len(best)] = others[best]
            found[side + 1][q, : len(best)] = away[best]
    return found


class Shadow(Passes):
    """Passes on the processor.

    Parameters
    ----------
    points : float64 array
        Records x columns, without missing values.

    Examples
    --------
    >>> shadow = Shadow(np.array([[0.0], [2.0], [1.0], [-2.0]]))
    >>> shadow.remove(np.array([2]))
    >>> shadow.search(np.array([0]), 3, 1).near.tolist()
    [[1, 3, -1]]
    """

    questions = 32

    def __init__(self, points: FloatArray) -> None:
        self._points = points
        self._alive: BoolArray = np.ones(len(points), dtype=np.bool_)
        self._middle, self._scale = scaled(points)
        self._ids: IntArray = np.empty(0, dtype=np.int64)
        self._place: IntArray = np.zeros(len(points), dtype=np.int64)
        self._blocks: AnyArray = np.empty((0, points.shape[1], LANES), dtype=np.float32)
        self._count = len(points)

    def search(self, rows: IntArray, near: int, far: int) -> PassAnswers:
        """Examine every record once, block by block."""
        points = self._points
        work = dispatch(_pass_loops, _pass_numpy, len(points))
        if not len(self._ids) or self._count < (1.0 - COMPACT) * len(self._ids):
            self._write()

        def some(asked: IntArray, first: int, stop: int) -> PassAnswers:
            found = _nothing(len(asked), near, far)
            work(points, self._alive, self._blocks, self._ids, self._middle, self._scale, asked, first, stop, *found)
            return found

        n, cores = len(self._blocks), self._cores(len(rows))
        if cores == 1:
            # in this thread, whose time decides between a pass and an index
            return some(rows, 0, n)
        if len(rows) >= cores:
            # by question: what has been found so far rules out as much as on one core
            parts = each(lambda asked: some(asked, 0, n), np.array_split(rows, cores))
            return PassAnswers(*map(np.concatenate, zip(*parts, strict=True)))
        first, *rest = each(lambda part: some(rows, *part), pairwise(n * i // cores for i in range(cores + 1)))
        for other in rest:
            compiled(_merge)(*first, *other)
        return first

    def _cores(self, questions: int) -> int:
        """How many cores share a pass; results do not depend on it."""
        return threads() if len(self._blocks) * self._blocks.shape[1] * LANES * questions >= SHARED_FROM else 1

    def _write(self) -> None:
        """Write the shadow of the remaining records."""
        ids = np.flatnonzero(self._alive)
        n = -(-len(ids) // LANES)
        self._ids = np.full(n * LANES, -1, dtype=np.int64)
        self._ids[: len(ids)] = ids
        self._place[ids] = np.arange(len(ids))
        self._blocks = np.empty((n, self._points.shape[1], LANES), dtype=np.float32)
        write = dispatch(_write_loops, _write_numpy, len(self._points))
        write(self._points, self._ids, self._middle, self._scale, self._blocks)

    def remove(self, rows: IntArray) -> None:
        """Set the records' distances to NaN, for which every comparison is false."""
        self._alive[rows] = False
        self._count -= len(rows)
        if len(self._ids):
            at = self._place[rows]
            self._blocks[at // LANES, 0, at % LANES] = np.nan

    def again(self) -> Shadow:
        """Return a copy that shares the points."""
        other = Shadow.__new__(Shadow)
        other.__dict__.update(self.__dict__)
        for name in ("_alive", "_ids", "_place", "_blocks"):
            setattr(other, name, getattr(self, name).copy())
        return other


def _nothing(questions: int, near: int, far: int) -> PassAnswers:
    return PassAnswers(
        np.full((questions, near), -1, dtype=np.int64),
        np.full((questions, near), np.inf),
        np.full((questions, far), -1, dtype=np.int64),
        np.full((questions, far), -np.inf),
    )


def _write_numpy(points: Any, ids: Any, middle: Any, scale: Any, blocks: Any) -> None:
    shadow = np.where(ids[:, None] >= 0, (points[ids] - middle) * scale, np.nan).astype(np.float32)
    blocks[...] = shadow.reshape(len(blocks), LANES, points.shape[1]).transpose(0, 2, 1)


def _write_loops(points: Any, ids: Any, middle: Any, scale: Any, blocks: Any) -> None:
    for b in range(len(blocks)):
        for lane in range(LANES):
            row = ids[b * LANES + lane]
            for j in range(points.shape[1]):
                value = (points[row, j] - middle[j]) * scale if row >= 0 else np.nan
                blocks[b, j, lane] = np.float32(value)


def _above(far: Any, scale: Any, off: Any, d: Any) -> Any:
    """No record within this squared distance has a larger one in the shadow."""
    s = (np.sqrt(far) * scale + off) * (1.0 + (2 * d + 32) * 2.0**-24)
    return np.float32(s * s * (1.0 + 2.0**-20))


def _below(far: Any, scale: Any, off: Any, d: Any) -> Any:
    """No record beyond this squared distance has a smaller one in the shadow."""
    s = max(np.sqrt(far) * scale * (1.0 - (2 * d + 32) * 2.0**-24) - off, 0.0)
    return np.float32(s * s * (1.0 - 2.0**-20))


def _insert(who: Any, away: Any, q: Any, row: Any, here: Any, sign: Any) -> None:
    """Insert a record into a sorted list if it belongs there; ``sign`` is -1 if the farthest come first."""
    last = who.shape[1] - 1
    if last < 0:
        return
    worst = away[q, last]
    if sign * here > sign * worst or (here == worst and who[q, last] >= 0 and row > who[q, last]):
        return
    at = last
    while at > 0:
        other, there = who[q, at - 1], away[q, at - 1]
        if other >= 0 and (sign * there < sign * here or (there == here and other < row)):
            break
        who[q, at], away[q, at] = other, there
        at -= 1
    who[q, at], away[q, at] = row, here


def _merge(
    near: Any, near_far: Any, far: Any, far_far: Any, near2: Any, near_far2: Any, far2: Any, far_far2: Any
) -> None:
    """Merge the results of another part into the first ones."""
    for q in range(len(near)):
        for i in range(near.shape[1]):
            if near2[q, i] >= 0:
                _insert(near, near_far, q, near2[q, i], near_far2[q, i], 1.0)
        for i in range(far.shape[1]):
            if far2[q, i] >= 0:
                _insert(far, far_far, q, far2[q, i], far_far2[q, i], -1.0)


def _shadow_distances(blocks: Any, b: Any, origin: Any, q: Any, out: Any) -> None:
    """Squared distances of a block's records from the origin, in single precision."""
    d = blocks.shape[1]
    for lane in range(LANES):
        out[lane] = np.float32(0.0)
    j = 0
    # four columns at a time: the sums are loaded and stored once for each
    while j + 4 <= d:
        a0, a1, a2, a3 = origin[q, j], origin[q, j + 1], origin[q, j + 2], origin[q, j + 3]
        for lane in range(LANES):
            t0, t1 = blocks[b, j, lane] - a0, blocks[b, j + 1, lane] - a1
            t2, t3 = blocks[b, j + 2, lane] - a2, blocks[b, j + 3, lane] - a3
            out[lane] += (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
        j += 4
    while j < d:
        a0 = origin[q, j]
        for lane in range(LANES):
            t0 = blocks[b, j, lane] - a0
            out[lane] += t0 * t0
        j += 1


def _pass_numpy(
    points: Any, alive: Any, blocks: Any, ids: Any, middle: Any, scale: Any, rows: Any, first: Any, stop: Any,
    near: Any, near_far: Any, far: Any, far_far: Any,
) -> None:  # fmt: skip
    """The twin uses the definition: what the shadow rules out must make no difference."""
    part = ids[first * LANES : stop * LANES]
    here = np.zeros(len(alive), dtype=np.bool_)
    here[part[part >= 0]] = True
    found = plain_search(points, alive & here, rows, near.shape[1], far.shape[1])
    near[...], near_far[...], far[...], far_far[...] = found


def _pass_loops(
    points: Any, alive: Any, blocks: Any, ids: Any, middle: Any, scale: Any, rows: Any, first: Any, stop: Any,
    near: Any, near_far: Any, far: Any, far_far: Any,
) -> None:  # fmt: skip
    n, d = len(rows), points.shape[1]
    origin = np.empty((n, d), np.float32)
    off, close, wide = np.empty(n), np.empty(n, np.float32), np.empty(n, np.float32)
    for q in range(n):
        norm = 0.0
        for j in range(d):
            origin[q, j] = np.float32((points[rows[q], j] - middle[j]) * scale)
            norm += np.float64(origin[q, j]) ** 2
        off[q] = 2.0**-23 * (1.0 + np.sqrt(norm)) + 1e-20
        close[q] = np.inf if near.shape[1] > 0 else -1.0
        wide[q] = -1.0 if far.shape[1] > 0 else np.inf
    found = np.empty(LANES, np.float32)
    for b in range(first, stop):
        for q in range(n):
            _shadow_distances(blocks, b, origin, q, found)
            below, above, some = close[q], wide[q], False
            for lane in range(LANES):
                some |= (found[lane] <= below) | (found[lane] >= above)
            if not some:
                continue
            for lane in range(LANES):
                if not (found[lane] <= close[q] or found[lane] >= wide[q]):
                    continue
                row = ids[b * LANES + lane]
                if row < 0 or not alive[row]:
                    continue
                here = plain_distance(points, row, points[rows[q]])
                if row != rows[q] and near.shape[1] > 0:
                    _insert(near, near_far, q, row, here, 1.0)
                    if near[q, near.shape[1] - 1] >= 0:
                        close[q] = _above(near_far[q, near.shape[1] - 1], scale, off[q], d)
                if far.shape[1] > 0:
                    _insert(far, far_far, q, row, here, -1.0)
                    if far[q, far.shape[1] - 1] >= 0:
                        wide[q] = _below(far_far[q, far.shape[1] - 1], scale, off[q], d)
