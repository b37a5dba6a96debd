"""Passes over tiles of 512 records: the scheme for graphics cards, with NumPy if there is no card.

1. ``extremes``: the smallest and the largest distance of each question in each tile, in single precision. 2. ``cuts``:
the K-th smallest of a question's smallest distances is a distance that at least K records do not exceed (the record
itself is one of them, so one more is taken). After adding twice the error of single precision, it includes all of the
nearest records. Likewise for the farthest.
3. ``collect``: in the few tiles that reach a cut, the records within it, with their distances in double precision, term
   after term as ``plain_distance`` adds them.
4. ``pick``: the K best of those, ties to the lower number.

So every device gives the answers of the definition. Questions with more ties than there is room for, and tables of few
tiles, are answered by ``Shadow``.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.kernels.metric import Metric, squared_distances
from hushtable.kernels.passes import COMPACT, PassAnswers, Passes, Shadow, scaled

_log = logging.getLogger(__package__)

TILE = 512
"""Number of records in a tile."""

ROOM = 256
"""Records that may be collected for a question, on each side."""


class DeviceLost(Exception):
    """A device failed: out of memory, or no longer available."""


class Asked(NamedTuple):
    """The questions of a pass.

    Attributes
    ----------
    rows : int64 array
        The records asked about.
    points : float64 array (questions x columns)
        Where they are.
    origin : float32 array (questions x columns)
        The same in the shadow.
    off : float64 array
        Error bound of the shadow's distances.
    near, far : int
        How many are wanted on each side.
    """

    rows: IntArray
    points: FloatArray
    origin: AnyArray
    off: FloatArray
    near: int
    far: int


class Device(ABC):
    """A device that holds some of the records and performs the four steps.

    ``answer`` returns the results, numbered like the records given to ``load``, and which questions ran out of room.
    """

    questions: int = 128

    @abstractmethod
    def load(self, points: FloatArray, ids: IntArray, middle: FloatArray, scale: float) -> None:
        """Hold these records, and their shadow."""

    @abstractmethod
    def bury(self, places: IntArray) -> None:
        """Remove the records at these places."""

    @abstractmethod
    def keep(self, places: IntArray) -> None:
        """Rewrite the shadow with only the records at these places."""

    @abstractmethod
    def answer(self, asked: Asked) -> tuple[PassAnswers, BoolArray]:
        """Perform the four steps."""

    @abstractmethod
    def again(self) -> Device:
        """Return an independent copy."""


class Tiles(Passes):
    """Passes in tiles, on a device.

    Parameters
    ----------
    points : float64 array
        Records x columns, without missing values.
    devices : list of Device
        Each holds an equal part of the records: one device, or several if the table does not fit at once.
    few : int
        With fewer tiles than this, or fewer than twice the records wanted, the processor answers. 0: never.

    Examples
    --------
    >>> tiles = Tiles(np.arange(40.0)[:, None], [NumpyDevice()], few=0)
    >>> tiles.remove(np.array([1]))
    >>> tiles.search(np.array([0]), 2, 1).near.tolist()
    [[2, 3]]
    """

    def __init__(self, points: FloatArray, devices: list[Device], few: int = 32) -> None:
        self._points, self._few = points, few
        self._middle, self._scale = scaled(points)
        self._alive: BoolArray = np.ones(len(points), dtype=np.bool_)
        self._host: Shadow | None = None
        self._devices = devices
        self.questions = devices[0].questions
        ends = [len(points) * i // len(devices) for i in range(len(devices) + 1)]
        self._ids = [np.arange(a, b, dtype=np.int64) for a, b in pairwise(ends)]
        self._place = np.empty(len(points), dtype=np.int64)
        self._part = np.empty(len(points), dtype=np.int64)
        self._gone = [0] * len(devices)
        for part, (device, ids) in enumerate(zip(devices, self._ids, strict=True)):
            device.load(points[ends[part] : ends[part + 1]], ids, self._middle, self._scale)
            self._place[ids], self._part[ids] = np.arange(len(ids)), part

    def remove(self, rows: IntArray) -> None:
        """Remove the records; if many are gone, rewrite the shadow of the others."""
        self._alive[rows] = False
        if self._host is not None:
            self._host.remove(rows)
        try:
            self._bury(rows)
        except DeviceLost as error:
            self._lose(error)

    def _bury(self, rows: IntArray) -> None:
        for part, device in enumerate(self._devices):
            mine = rows if len(self._devices) == 1 else rows[self._part[rows] == part]
            if not len(mine):
                continue
            device.bury(self._place[mine])
            self._gone[part] += len(mine)
            if self._gone[part] > COMPACT * len(self._ids[part]):
                stay = np.flatnonzero(self._alive[self._ids[part]])
                device.keep(stay)
                self._ids[part], self._gone[part] = self._ids[part][stay], 0
                self._place[self._ids[part]] = np.arange(len(stay))

    def search(self, rows: IntArray, near: int, far: int) -> PassAnswers:
        """Ask every device, and the processor for the rest."""
        least = min((len(ids) - gone for ids, gone in zip(self._ids, self._gone, strict=True)), default=0)
        if not self._devices or (self._few and least < max(self._few, 2 * max(near, far)) * TILE):
            return self._processor().search(rows, near, far)
        there = self._points[rows]
        origin = ((there - self._middle) * self._scale).astype(np.float32)
        norm = np.sqrt((origin.astype(np.float64) ** 2).sum(axis=1))
        asked = Asked(rows, there, origin, 2.0**-23 * (1.0 + norm) + 1e-20, near, far)
        try:
            answers = [device.answer(asked) for device in self._devices]
        except DeviceLost as error:
            self._lose(error)
            return self._processor().search(rows, near, far)
        found = answers[0][0] if len(answers) == 1 else _best([found for found, _ in answers])
        full = np.flatnonzero(np.any([full for _, full in answers], axis=0))
        if len(full):
            for mine, theirs in zip(found, self._processor().search(rows[full], near, far), strict=True):
                mine[full] = theirs
        return found

    def again(self) -> Tiles:
        """Return a copy that shares the points."""
        other = Tiles.__new__(Tiles)
        other.__dict__.update(self.__dict__)
        other._alive, other._place, other._gone = self._alive.copy(), self._place.copy(), list(self._gone)
        other._ids, other._devices = list(self._ids), [device.again() for device in self._devices]
        other._host = None if self._host is None else self._host.again()
        return other

    def _lose(self, error: DeviceLost) -> None:
        """Continue without the devices: the processor knows the remaining records, so nothing is lost."""
        _log.warning("%s The processor does the rest.", error)
        self._devices, self._ids, self._gone = [], [], []

    def _processor(self) -> Shadow:
        if self._host is None:
            self._host = Shadow(self._points)
            self._host.remove(np.flatnonzero(~self._alive))
        return self._host


def _best(parts: list[PassAnswers]) -> PassAnswers:
    """Return the best of several results."""
    sides = []
    for side, sign in ((0, 1.0), (2, -1.0)):
        who = np.concatenate([found[side] for found in parts], axis=1)
        away = np.concatenate([found[side + 1] for found in parts], axis=1)
        order = np.lexsort((who, np.where(who < 0, np.inf, sign * away)))[:, : parts[0][side].shape[1]]
        sides += [np.take_along_axis(who, order, axis=1), np.take_along_axis(away, order, axis=1)]
    return PassAnswers(*sides)


def widened(cut: float, off: float, d: int, sign: int) -> np.float32:
    """Return a squared distance in the shadow that bounds all records within (1) or beyond (-1) a cut.

    Once for the records that gave the cut, and once for those that are compared with it.
    """
    room = 1.0 + sign * (2 * d + 32) * 2.0**-24
    s = math.sqrt(cut)
    for _ in range(2):
        s = (s + off) * room if sign > 0 else max(s * room - off, 0.0)
    return np.float32(s * s * (1.0 + sign * 2.0**-20))


class NumpyDevice(Device):
    """The twin of a card."""

    def load(self, points: FloatArray, ids: IntArray, middle: FloatArray, scale: float) -> None:
        """Hold these records, and their shadow."""
        self._points, self._ids = points, ids
        self._shadow = ((points - middle) * scale).astype(np.float32)

    def bury(self, places: IntArray) -> None:
        """Set their distances to NaN."""
        self._shadow[places] = np.nan

    def keep(self, places: IntArray) -> None:
        """Keep the records at these places."""
        self._points, self._ids, self._shadow = self._points[places], self._ids[places], self._shadow[places]

    def again(self) -> NumpyDevice:
        """Return an independent copy."""
        other = NumpyDevice()
        other.__dict__.update(self.__dict__, _shadow=self._shadow.copy())
        return other

    def answer(self, asked: Asked) -> tuple[PassAnswers, BoolArray]:
        """Perform the four steps, question by question."""
        n, d = self._shadow.shape
        tiles = -(-n // TILE)
        found = PassAnswers(
            np.full((len(asked.rows), asked.near), -1, dtype=np.int64), np.full((len(asked.rows), asked.near), np.inf),
            np.full((len(asked.rows), asked.far), -1, dtype=np.int64), np.full((len(asked.rows), asked.far), -np.inf),
        )  # fmt: skip
        full = np.zeros(len(asked.rows), dtype=np.bool_)
        metric = Metric.of_numbers(d)
        for q, row in enumerate(asked.rows.tolist()):
            away = ((self._shadow - asked.origin[q]) ** 2).sum(axis=1)
            tiled = np.full(tiles * TILE, np.nan, dtype=np.float32)
            tiled[:n] = away
            tiled = tiled.reshape(tiles, TILE)
            for side, wanted, sign in ((0, asked.near, 1), (2, asked.far, -1)):
                if not wanted:
                    continue
                lost = np.inf * sign
                best = sign * np.sort(np.nan_to_num(sign * tiled, nan=np.inf).min(axis=1))
                # the nearest of all is the record itself
                reach = wanted + (side == 0)
                cut = float(best[reach - 1]) if reach <= tiles else lost
                limit = widened(cut if np.isfinite(cut) else max(lost, 0.0), float(asked.off[q]), d, sign)
                within = away <= limit if sign > 0 else away >= limit
                places = np.flatnonzero(within & ((self._ids != row) if sign > 0 else True))
                full[q] |= len(places) > ROOM
                exact = squared_distances(self._points[places], asked.points[q], metric)
                order = np.lexsort((self._ids[places], sign * exact))[:wanted]
                found[side][q, : len(order)] = self._ids[places][order]
                found[side + 1][q, : len(order)] = exact[order]
        return found, full


class Visitor(Device):
    """Records that are loaded onto a device for one pass each, if not all fit at once.

    Parameters
    ----------
    make : callable
        Makes the device.
    """

    def __init__(self, make: Callable[[], Device]) -> None:
        self._make = make

    def load(self, points: FloatArray, ids: IntArray, middle: FloatArray, scale: float) -> None:
        """Keep the records in the processor's memory."""
        self._points, self._ids, self._shape = points, ids, (middle, scale)
        self._here: BoolArray = np.ones(len(ids), dtype=np.bool_)

    def bury(self, places: IntArray) -> None:
        """Stop loading them."""
        self._here[places] = False

    def keep(self, places: IntArray) -> None:
        """Keep the records at these places."""
        self._points, self._ids, self._here = self._points[places], self._ids[places], self._here[places]

    def again(self) -> Visitor:
        """Return an independent copy."""
        other = Visitor(self._make)
        other.__dict__.update(self.__dict__, _here=self._here.copy())
        return other

    def answer(self, asked: Asked) -> tuple[PassAnswers, BoolArray]:
        """Load the remaining records, and answer the questions."""
        device = self._make()
        device.load(self._points[self._here], self._ids[self._here], *self._shape)
        return device.answer(asked)
