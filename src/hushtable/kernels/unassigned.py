"""The records that are in no group yet, and the queries that microaggregation makes on them.

``Scan`` examines every record and is the definition; ``Index`` finds the same ones with a kd-tree and a list of
outermost records. Rows are numbered in canonical order, and every tie goes to the lowest number.
"""

from __future__ import annotations

import copy
import importlib.util
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels import compile as kernels
from hushtable.kernels.centre import centre, modes, no_sums, shift
from hushtable.kernels.compile import compiled, dispatch
from hushtable.kernels.device import device, passes_for
from hushtable.kernels.kdtree import build, remove
from hushtable.kernels.metric import Metric
from hushtable.kernels.outermost import Outermost, short_winner
from hushtable.kernels.passes import Passes, Shadow, has_shadow
from hushtable.kernels.scan import scan_farthest, scan_nearest
from hushtable.kernels.search import farthest, nearest

PROBES = (2048, 8192)
"""Sizes of the samples on which index and scan are compared."""

QUESTIONS = 32
"""Number of queries in that comparison."""

ANY = np.empty(0, dtype=np.bool_)
"""Allows every kind of record."""

FARTHEST = 8
"""Number of farthest records to remember for a record: all of them may be gone before they are needed."""

AHEAD = 4
"""Number of outermost records to search for more questions, for each question of a pass."""

MEMORY = 4096
"""Records whose neighbors are remembered, before removed ones are forgotten."""

GROUPS = 512
"""Maximum number of groups to take at once."""

FIND, TAKE, ACROSS, TAKE_ACROSS = range(4)

NOBODY = np.empty(0, dtype=np.int64)


def all_unassigned(points: FloatArray, metric: Metric, units: IntArray | None = None) -> Unassigned:
    """Return all records as unassigned ones, with an index if that is faster.

    Examples
    --------
    >>> left = all_unassigned(np.array([[0.0], [1.0], [9.0], [2.0]]), Metric.of_numbers(1))
    >>> left.farthest_from_centroid()
    2
    >>> left.take(2, 2).tolist(), len(left)
    ([2, 3], 2)
    """
    if len(points) < kernels.COMPILE_FROM or importlib.util.find_spec("numba") is None:
        return Scan(points, metric, units)
    wide = metric.plain and has_shadow(points)
    if len(points) < 2 * PROBES[1]:
        # both are fast: choose the one that loads fewer kernels
        indexed = not wide
    else:
        indexed = not (wide and device() == "gpu") and index_pays(points, metric, wide)
    if indexed:
        return Index(points, metric, units)
    return Batched(points, metric, units, passes_for(points)) if wide else Scan(points, metric, units)


def index_pays(points: FloatArray, metric: Metric, wide: bool) -> bool:
    """Whether an index is faster than examining all records, measured on two samples of the table.

    A scan takes time in proportion to the records; the two samples show how the time of the index grows. The times are
    compared at half of the records, since groups are taken until none are left.
    """
    spent = []
    for size in PROBES:
        sample = np.ascontiguousarray(points[:: max(len(points) // size, 1)])
        rows = np.arange(0, len(sample), max(len(sample) // QUESTIONS, 1), dtype=np.int64)[:QUESTIONS]
        index, scan = Index(sample, metric), Batched(sample, metric) if wide else Scan(sample, metric)
        spent.append([_seconds(ask, rows) for ask in (index._probe, scan._probe)])
    (small, _), (large, scanned) = spent
    growth = np.clip(np.log(large / small) / np.log(PROBES[1] / PROBES[0]), 0.0, 1.0)
    times = max(len(points) / 2 / PROBES[1], 1.0)
    return bool(large * times**growth < scanned * times)


def _seconds(ask: Callable[[IntArray], None], rows: IntArray) -> float:
    """CPU seconds of this thread for the questions, the fastest of three runs."""
    ask(rows)  # kernels are loaded
    least = np.inf
    for _ in range(3):
        begin = time.thread_time()
        ask(rows)
        least = min(least, time.thread_time() - begin)
    return max(float(least), 1e-7)


class Unassigned(ABC):
    """Records that are in no group yet.

    Parameters
    ----------
    points : float64 array
        Records x columns.
    metric : Metric
    units : int64 array, optional
        What each record contributes to a group's size. Defaults to 1.

    Attributes
    ----------
    kinds : int64 array
        The kind of each record, by which ``nearest`` may choose.
    units : int
        Total weight of the remaining records.
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

    def again(self) -> Unassigned:
        """Return an independent copy."""
        return copy.deepcopy(self, {id(self.points): self.points, id(self.metric): self.metric})

    def rows(self) -> IntArray:
        """Return the remaining records, in order."""
        return np.flatnonzero(self.alive)

    def centroid(self) -> FloatArray:
        """Return the centroid of the remaining records."""
        centre(self._sums, self.metric, self._centre)
        return self._centre.copy()

    def expect(self, rows: IntArray) -> None:  # noqa: B027 - most have no use for it
        """Announce which records will probably be queried next; answers do not depend on it."""

    @abstractmethod
    def farthest_from_centroid(self) -> int:
        """Return the record farthest from the centroid of the remaining ones."""

    @abstractmethod
    def farthest(self, row: int) -> int:
        """Return the remaining record farthest from a given one, which may be gone."""

    @abstractmethod
    def nearest(self, row: int, allowed: BoolArray = ANY) -> tuple[int, float]:
        """Return the nearest record of the allowed kinds, and its squared distance; -1 if there is none."""

    @abstractmethod
    def take(self, row: int, needed: int) -> IntArray:
        """Remove a record and its nearest, as few as reach the units needed; return them, nearest first."""

    @abstractmethod
    def remove(self, row: int) -> None:
        """Remove one record."""

    def opposites(self, needed: int) -> Iterator[IntArray]:
        """Take groups while three times the units needed remain: MDAV's rounds.

        A round takes the record farthest from the centroid, and then the one farthest from that.
        """
        while self.units >= 3 * needed:
            first = self.farthest_from_centroid()
            yield self.take(first, needed)
            yield self.take(self.farthest(first), needed)

    def _probe(self, rows: IntArray) -> None:
        """Answer as many questions as a round asks, only to measure the time."""
        for row in rows.tolist():
            self.nearest(row)
            self.farthest(row)

    def _weight(self, row: int) -> int:
        return int(self.weights[row]) if len(self.weights) else 1


class Scan(Unassigned):
    """Examines every record, every time."""

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


class Index(Unassigned):
    """A kd-tree for neighbors and a list of outermost records for the centroid."""

    def __init__(self, points: FloatArray, metric: Metric, units: IntArray | None = None) -> None:
        super().__init__(points, metric, units)
        self._tree = build(self.points, metric)
        self._outer = Outermost(self.points, metric, self.alive)
        # no remaining record is farther than this (squared) from there
        self._ball, self._radius = np.zeros(points.shape[1]), np.inf

    def again(self) -> Index:
        """Return an independent copy."""
        other = copy.copy(self)
        other.alive, other._centre, other._ball = self.alive.copy(), self._centre.copy(), self._ball.copy()
        other._sums, other._tree = self._sums.copy(), copy.deepcopy(self._tree)
        other._outer = self._outer.again(other.alive)
        return other

    def farthest_from_centroid(self) -> int:
        """Walk down the list of outermost records."""
        compiled(centre)(self._sums, self.metric, self._centre)
        winner, self._radius = self._outer.farthest(self._centre)
        self._ball[:] = self._centre
        return winner

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


class Batched(Unassigned):
    """Examines every record, for several questions at once, and remembers the answers.

    Records are only ever removed. So the nearest records found earlier, minus the removed ones, are still the nearest
    as long as enough of them remain; likewise the farthest. A question that memory cannot answer is asked together with
    those that are likely to come next, in one pass over the table.

    Parameters
    ----------
    points, metric, units
        As for ``Unassigned``: numbers without missing values, equal records next to each other.
    passes : Passes, optional
        The device for the passes: the processor, or a card.
    """

    def __init__(
        self, points: FloatArray, metric: Metric, units: IntArray | None = None, passes: Passes | None = None
    ) -> None:
        super().__init__(points, metric, units)
        self._passes = Shadow(self.points) if passes is None else passes
        self._outer = Outermost(self.points, metric, self.alive)
        self._soon: IntArray = NOBODY
        self._gone: list[IntArray] = []
        self._remember(8)

    def _remember(self, width: int) -> None:
        """Forget everything, and make room for the given number of neighbors per record."""
        room = max(self._passes.questions, min(MEMORY, (1 << 24) // width))
        self._slot: IntArray = np.full(len(self.points), -1, dtype=np.int64)
        self._owner: IntArray = np.full(room, -1, dtype=np.int64)
        self._near: IntArray = np.full((room, width), -1, dtype=np.int64)
        self._near_far: FloatArray = np.empty((room, width))
        self._far: IntArray = np.full((room, FARTHEST), -1, dtype=np.int64)
        self._whole: BoolArray = np.zeros(room, dtype=np.bool_)
        self._taken: IntArray = np.empty(width + 1, dtype=np.int64)
        self._next = 0

    def again(self) -> Batched:
        """Return an independent copy."""
        other = copy.copy(self)
        for name in ("alive", "_centre", "_slot", "_owner", "_near", "_near_far", "_far", "_whole", "_taken"):
            setattr(other, name, getattr(self, name).copy())
        other._sums = self._sums.copy()
        other._passes, other._outer = self._passes.again(), self._outer.again(other.alive)
        other._gone = list(self._gone)
        return other

    def expect(self, rows: IntArray) -> None:
        """Ask about these with the next question."""
        self._soon = rows

    def farthest_from_centroid(self) -> int:
        """Walk down the list of outermost records."""
        compiled(centre)(self._sums, self.metric, self._centre)
        return self._outer.farthest(self._centre)[0]

    def farthest(self, row: int) -> int:
        """Answer from memory, or examine all records."""
        found = int(compiled(first_left)(self._slot, self._far, self.alive, row))
        if found < 0:
            self._ask(row)
            found = int(compiled(first_left)(self._slot, self._far, self.alive, row))
        return found

    def nearest(self, row: int, allowed: BoolArray = ANY) -> tuple[int, float]:
        """Answer from memory, or examine all records; if allowed ones are rare, only those."""
        for asks in (self._slot[row] < 0, True):
            if asks:
                self._ask(row)
            at = self._slot[row]
            found = self._near[at]
            fits = (found >= 0) & self.alive[found]
            if len(allowed):
                fits &= allowed[self.kinds[found]]
            if fits.any():
                best = int(np.argmax(fits))
                return int(found[best]), float(self._near_far[at, best])
            if self._whole[at]:
                return -1, np.inf
            if len(allowed):
                break
        rows = self.rows()
        rows = rows[(rows != row) & (allowed[self.kinds[rows]] if len(allowed) else True)]
        if not len(rows):
            return -1, np.inf
        found, far = scan_nearest(self.points, rows, self.points[row], self.metric, 1)
        return int(found[0]), float(far[0])

    def take(self, row: int, needed: int) -> IntArray:
        """Answer from memory, or examine all records."""
        if not len(self.weights) and 2 * needed + 8 > self._near.shape[1]:
            self._remember(2 * needed + 8)
        fresh = False
        while (n := self._recall(row, needed)) < 0:
            # if a pass did not find enough, the next one finds more
            if fresh:
                self._remember(2 * self._near.shape[1])
            self._ask(row)
            fresh = True
        taken = self._taken[:n].copy()
        self._gone.append(taken)
        self._count -= n
        self.units -= int(self.weights[taken].sum()) if len(self.weights) else n
        return taken

    def remove(self, row: int) -> None:
        """Remove one record."""
        self.take(row, 0)

    def opposites(self, needed: int) -> Iterator[IntArray]:
        """Take as many groups at once as memory can answer."""
        if len(self.weights):
            yield from super().opposites(needed)
            return
        if 2 * needed + 8 > self._near.shape[1]:
            self._remember(2 * needed + 8)
        # what comes next: to find the first record, to take its group, to find the one opposite, to take its group
        stage, row = FIND, -1
        while self.units >= 3 * needed or stage != FIND:
            groups = np.empty((GROUPS, needed), dtype=np.int64)
            n, stage, row = compiled(rounds)(
                self.points, self.alive, self.weights, self._sums, self.metric, self._slot, self._near, self._whole,
                self._far, self._taken, self._outer.in_short(), self._centre, stage, row, self.units, needed, groups,
            )  # fmt: skip
            if n:
                self._gone.append(groups[:n].ravel())
                self._count -= n * needed
                self.units -= n * needed
            yield from groups[:n]
            if n == GROUPS or (stage == FIND and self.units < 3 * needed):
                continue
            if stage == FIND:
                row, stage = self.farthest_from_centroid(), TAKE
            else:
                self._ask(row)

    def _probe(self, rows: IntArray) -> None:
        """Ask about all of them at once, as rounds do."""
        self._passes.search(rows, 16, FARTHEST)

    def _recall(self, row: int, needed: int) -> int:
        return int(
            compiled(recall)(
                self.points, self.alive, self.weights, self._sums, self.metric, self._slot, self._near, self._whole,
                row, needed, self._taken,
            )
        )  # fmt: skip

    def _ask(self, row: int) -> None:
        """Find the nearest and the farthest of a record, and of those that are likely to be queried next."""
        if self._gone:
            self._passes.remove(np.concatenate(self._gone))
            self._gone = []
        wanted = self._passes.questions
        rows = compiled(likely)(
            self._slot, self._far, self.alive, row, self._soon, self._outer.next(AHEAD * wanted), wanted
        )
        # the record itself may be remembered, with too few that remain
        old = self._owner[self._slot[row]] if self._slot[row] >= 0 else -1
        if old >= 0:
            self._owner[self._slot[row]] = -1
        found = self._passes.search(rows, self._near.shape[1], FARTHEST)
        at = (self._next + np.arange(len(rows))) % len(self._owner)
        self._next = int(at[-1]) + 1
        evicted = self._owner[at]
        self._slot[evicted[evicted >= 0]] = -1
        self._owner[at], self._slot[rows] = rows, at
        self._near[at], self._near_far[at], self._far[at] = found.near, found.near_far, found.far
        self._whole[at] = found.near[:, -1] < 0


def rounds(
    points: Any, alive: Any, weights: Any, sums: Any, metric: Any, slot: Any, near: Any, whole: Any, far: Any,
    taken: Any, short: Any, middle: Any, stage: Any, row: Any, units: Any, needed: Any, groups: Any,
) -> Any:  # fmt: skip
    """Take groups until memory has no answer; return how many, the stage reached and its record."""
    lead, stop, key, run, before, beyond, spent = short
    n = 0
    while n < len(groups):
        if stage == FIND:
            if units - n * needed < 3 * needed:
                break
            centre(sums, metric, middle)
            found = short_winner(points, alive, lead, stop, key, run, before, beyond, spent, middle, metric)
            if found < 0:
                break
            row, stage = found, TAKE
        elif stage == ACROSS:
            found = first_left(slot, far, alive, row)
            if found < 0:
                break
            row, stage = found, TAKE_ACROSS
        else:
            if recall(points, alive, weights, sums, metric, slot, near, whole, row, needed, taken) < 0:
                break
            for i in range(needed):
                groups[n, i] = taken[i]
            n += 1
            stage = ACROSS if stage == TAKE else FIND
    return n, stage, row


def likely(slot: Any, far: Any, alive: Any, row: Any, soon: Any, outer: Any, wanted: Any) -> Any:
    """Return a record, the announced ones, then the outermost ones or, if known, the farthest from them."""
    out = np.empty(wanted, np.int64)
    out[0], n = row, 1
    for i in range(len(soon) + len(outer)):
        if n == wanted:
            break
        other = soon[i] if i < len(soon) else outer[i - len(soon)]
        if i >= len(soon) and slot[other] >= 0:
            other = first_left(slot, far, alive, other)
        if other < 0 or slot[other] >= 0 or not alive[other]:
            continue
        known = False
        for q in range(n):
            known |= out[q] == other
        if not known:
            out[n] = other
            n += 1
    return out[:n]


def first_left(slot: Any, far: Any, alive: Any, row: Any) -> Any:
    """Return the first remembered farthest record of a record that remains; -1 if there is none."""
    if slot[row] >= 0:
        for i in range(far.shape[1]):
            other = far[slot[row], i]
            if other >= 0 and alive[other]:
                return other
    return np.int64(-1)


def recall(
    points: Any, alive: Any, weights: Any, sums: Any, metric: Any, slot: Any, near: Any, whole: Any, row: Any,
    needed: Any, taken: Any,
) -> Any:  # fmt: skip
    """Remove a record and its nearest that are remembered; return how many, or -1 if too few are known."""
    weighted, at, n = len(weights) > 0, slot[row], 1
    short = needed - (weights[row] if weighted else 1)
    taken[0] = row
    if short > 0:
        if at < 0:
            return -1
        for i in range(near.shape[1]):
            other = near[at, i]
            if other < 0 or short <= 0:
                break
            if alive[other]:
                taken[n] = other
                n += 1
                short -= weights[other] if weighted else 1
        if short > 0 and not whole[at]:
            return -1
    for i in range(n):
        alive[taken[i]] = False
    shift(points, taken[:n], -1, sums, metric)
    return n


def gather(points: Any, tree: Any, metric: Any, alive: Any, weights: Any, sums: Any, row: Any, needed: Any) -> Any:
    """Remove a record and its nearest, as few as reach the units needed; return them."""
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
