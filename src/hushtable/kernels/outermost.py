"""The farthest record from a centroid that moves slowly.

Records are sorted by their distance from where the centroid was some time ago, the farthest first. A record's distance
from today's centroid is at most that distance plus the centroid's drift, so a query ends as soon as this is below the
best found. In many dimensions, the drift is soon larger than the gaps between distances, and a query would examine many
records. So a short list holds the outermost few, and is rebuilt from the long one when it cannot decide. Once
rebuilding has cost about as much as sorting, the long list is sorted again. Equal records are listed once: the lowest
number among them wins every tie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.compile import compiled
from hushtable.kernels.metric import Metric, distance, plain_distance

SHORT = 1024
"""Number of entries in the short list."""

SLACK = 1.0 + 1e-12
"""Bound on the sum of rounding errors in distances and drift."""


class Outermost:
    """The list of outermost records.

    Parameters
    ----------
    points : float64 array
        Records x columns, equal ones next to each other.
    metric : Metric
    alive : bool array
        The remaining records; shared with the caller, who changes it.
    """

    def __init__(self, points: FloatArray, metric: Metric, alive: BoolArray) -> None:
        self._points, self._metric, self._alive = points, metric, alive
        self._lead = np.flatnonzero(np.concatenate([[True], ~_like_the_one_before(points)])).astype(np.int64)
        self._stop = np.append(self._lead[1:], len(points)).astype(np.int64)
        self._long = _List(np.empty(0), np.empty(0, dtype=np.int64), np.empty((1, points.shape[1])))
        self._short = _List(np.empty(0), np.empty(0, dtype=np.int64), np.empty((1, points.shape[1])))
        # bound for records outside the short list, from the centroid at the time it was built
        self._beyond = np.inf
        # entries of the short list that were examined, and their limit before it is rebuilt
        self._spent: FloatArray = np.zeros(2)
        self._head, self._work, self._price = 0, 0.0, 0.0

    def again(self, alive: BoolArray) -> Outermost:
        """Return a copy for another set of remaining records."""
        other = Outermost.__new__(Outermost)
        other.__dict__.update(self.__dict__, _alive=alive, _lead=self._lead.copy(), _spent=self._spent.copy())
        return other

    def farthest(self, centre: FloatArray) -> tuple[int, float]:
        """Return the farthest record from the center (ties go to the lowest), and the squared distance."""
        if self._beyond < np.inf and self._spent[0] <= self._spent[1] and not self._gaps_changed(centre, self._short):
            winner, far, drift, looked, _ = self._walk(self._short, centre)
            self._spent[0] += looked
            # all other records are bounded like an entry of the list
            if winner >= 0 and (self._beyond + drift) * SLACK < np.sqrt(far):
                return winner, far
        if self._work >= self._price or self._gaps_changed(centre, self._long):
            self._sort(centre)
        self._choose(centre)
        winner, far = self._walk(self._short, centre)[:2]
        if winner >= 0 and self._beyond * SLACK < np.sqrt(far):
            return winner, far
        # too many are equally far
        winner, far, _, looked, self._head = self._walk(self._long, centre, self._head)
        self._work += looked
        return winner, far

    def _walk(self, entries: _List, centre: FloatArray, head: int = 0) -> tuple[int, float, float, int, int]:
        found: tuple[int, float, float, int, int] = compiled(outermost)(
            self._points, self._alive, self._lead, self._stop, *entries, head, centre, self._metric
        )
        return found

    def _choose(self, centre: FloatArray) -> None:
        """Make the short list."""
        key, run = np.empty(SHORT), np.empty(SHORT, dtype=np.int64)
        n, self._beyond, looked, self._head = compiled(choose)(
            self._points, self._alive, self._lead, self._stop, *self._long, self._head, centre, self._metric, key, run
        )
        self._short = _List(key[:n], run[:n], centre[None].copy())
        self._spent[:] = 0.0, looked + n
        self._work += looked

    def _gaps_changed(self, centre: FloatArray, entries: _List) -> bool:
        return not self._metric.plain and bool(np.any(np.isnan(centre) != np.isnan(entries.before[0])))

    def in_short(self) -> tuple[Any, ...]:
        """Return what ``short_winner`` needs."""
        return (self._lead, self._stop, *self._short, self._beyond, self._spent)

    def next(self, wanted: int) -> IntArray:
        """Return some records that will soon be the farthest if the center stays about where it is."""
        run = self._short.run
        first = self._lead[run][self._lead[run] < self._stop[run]]
        return first[self._alive[first]][:wanted]

    def _sort(self, centre: FloatArray) -> None:
        key, run = np.empty(len(self._lead)), np.empty(len(self._lead), dtype=np.int64)
        n = compiled(reach)(self._points, self._alive, self._lead, self._stop, centre, self._metric, key, run)
        order = np.argsort(-key[:n], kind="stable")
        self._long, self._head, self._work = _List(key[:n][order], run[:n][order], centre[None].copy()), 0, 0.0
        # an entry costs its distance and a jump in memory; sorting costs a distance and some comparisons
        d = self._points.shape[1]
        self._price = n * (d + 8 * np.log2(n + 1)) / (d + 25)


def _like_the_one_before(points: FloatArray) -> BoolArray:
    """Whether each record but the first equals its predecessor; missing values are equal."""
    same: BoolArray = np.ones(max(len(points) - 1, 0), dtype=np.bool_)
    # most records already differ in the first column
    for column in points.T:
        left = np.flatnonzero(same)
        if not len(left):
            break
        a, b = column[left], column[left + 1]
        same[left] = (a == b) | (np.isnan(a) & np.isnan(b))
    return same


class _List(NamedTuple):
    """Records by their distance from a point, the farthest first.

    Attributes
    ----------
    key : float64 array
        Distances.
    run : int64 array
        Runs of equal records.
    before : float64 array (one row)
        The point.
    """

    key: FloatArray
    run: IntArray
    before: FloatArray


def reach(points: Any, alive: Any, lead: Any, stop: Any, origin: Any, metric: Any, key: Any, run: Any) -> Any:
    """Fill ``key`` and ``run`` with the distances of all runs of equal records that remain; return how many."""
    n, plain = 0, metric.plain
    for r in range(len(lead)):
        p = lead[r]
        while p < stop[r] and not alive[p]:
            p += 1
        lead[r] = p
        if p < stop[r]:
            key[n] = np.sqrt(plain_distance(points, p, origin) if plain else distance(points, p, origin, metric))
            run[n] = r
            n += 1
    return n


def outermost(
    points: Any, alive: Any, lead: Any, stop: Any, key: Any, run: Any, before: Any, head: Any, origin: Any, metric: Any
) -> Any:
    """Return the farthest of the listed records from ``origin`` and its squared distance.

    Also: the distance of ``origin`` from ``before``, the entries examined, and the first remaining entry.
    """
    drift = np.sqrt(distance(before, 0, origin, metric))
    best, enough, winner = -1.0, -1.0, np.int64(-1)
    at, plain = head, metric.plain
    while at < len(key) and (key[at] + drift) * SLACK >= enough:
        r = run[at]
        p = lead[r]
        while p < stop[r] and not alive[p]:
            p += 1
        lead[r] = p
        if p < stop[r]:
            here = plain_distance(points, p, origin) if plain else distance(points, p, origin, metric)
            if here > best or (here == best and p < winner):
                best, enough, winner = here, np.sqrt(here), p
        elif at == head:
            head += 1
        at += 1
    return winner, best, drift, at - head, head


def short_winner(
    points: Any, alive: Any, lead: Any, stop: Any, key: Any, run: Any, before: Any, beyond: Any, spent: Any,
    origin: Any, metric: Any,
) -> Any:  # fmt: skip
    """Return the farthest record from ``origin``; -1 if the short list cannot decide or should be rebuilt."""
    if beyond == np.inf or spent[0] > spent[1]:
        return np.int64(-1)
    winner, far, drift, looked, _ = outermost(points, alive, lead, stop, key, run, before, 0, origin, metric)
    spent[0] += looked
    return winner if winner >= 0 and (beyond + drift) * SLACK < np.sqrt(far) else np.int64(-1)


def choose(
    points: Any, alive: Any, lead: Any, stop: Any, key: Any, run: Any, before: Any, head: Any, origin: Any, metric: Any,
    short_key: Any, short_run: Any,
) -> Any:  # fmt: skip
    """Fill a list with the outermost records; return how many, a bound for all others, entries examined, and head."""
    drift = np.sqrt(distance(before, 0, origin, metric))
    n, beyond, most, plain = 0, -1.0, len(short_key), metric.plain
    at = head
    while at < len(key):
        limit = (key[at] + drift) * SLACK
        if n == most and limit < short_key[n - 1]:
            beyond = max(beyond, limit)
            break
        r = run[at]
        p = lead[r]
        while p < stop[r] and not alive[p]:
            p += 1
        lead[r] = p
        if p < stop[r]:
            here = np.sqrt(plain_distance(points, p, origin) if plain else distance(points, p, origin, metric))
            if n == most:
                beyond = max(beyond, min(here, short_key[n - 1]))
            if n < most or here > short_key[n - 1]:
                i = n if n < most else n - 1
                while i > 0 and short_key[i - 1] < here:
                    short_key[i], short_run[i] = short_key[i - 1], short_run[i - 1]
                    i -= 1
                short_key[i], short_run[i] = here, r
                n = min(n + 1, most)
        elif at == head:
            head += 1
        at += 1
    return n, beyond, at - head, head
