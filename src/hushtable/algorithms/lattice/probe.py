"""Which node to judge next, where judging is dear: the one that is likely to close most open nodes.

A node closes every finer one if it has to suppress more than the budget, or so much that the finer ones, which have to
suppress at least as much, cost more than the best node known. It need not be open itself: going up from an open node,
each step makes more nodes finer and the verdict weaker. A forecast says how far to go.
"""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.lattice.forecast import Forecast
from hushtable.algorithms.lattice.judge import Judge
from hushtable.arrays import AnyArray, FloatArray, IntArray

__all__ = ["Probe"]

CAUTION = 0.5
"""How many standard deviations a forecast is taken lower than it is."""

STEPS = 24
"""Numbers of units for which nodes' costs are compared with the best one."""

LEAST = 1 / 200
"""The least of them, as a share of all units."""


class Probe:
    """Chooses nodes of one problem's lattice.

    Parameters
    ----------
    judge : Judge
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._forecast = Forecast(judge.space)
        most = min(judge.budget + 1, judge.space.units)
        self._grid = np.unique(np.geomspace(min(most, max(1, LEAST * judge.space.units)), most, STEPS).astype(np.int64))
        self._logits = self._forecast.logit(self._grid.astype(np.float64))

    def limits(self, nodes: AnyArray, best: float) -> FloatArray:
        """Return how much each node may have to suppress before it costs more than the best, as a forecast's logit."""
        out = np.full(len(nodes), len(self._grid) - 1)
        left = np.arange(len(nodes))
        for step, units in enumerate(self._grid[:-1].tolist()):
            closed = self._judge.objective.bound_alike(nodes[left], units) >= best
            out[left[closed]] = step
            left = left[~closed]
        return np.asarray(self._logits[out])

    def __call__(self, nodes: AnyArray, limits: FloatArray) -> IntArray | None:
        """Choose a node, given the open ones; None where nothing better than one of those is in sight."""
        seen = self._judge.seen
        self._forecast.fit(seen.nodes, seen.small)
        forecast = self._forecast.logits(nodes)
        margin = forecast - limits
        place = int(np.argmin(margin))
        if margin[place] < 0:
            # likely to be better than the best
            return np.asarray(nodes[place], dtype=np.int64)
        chosen = self._climb(nodes, limits, int(np.argmax(margin)), forecast)
        return None if self._judge.seen.find(chosen) else chosen

    def _climb(self, nodes: AnyArray, limits: FloatArray, place: int, forecast: FloatArray) -> IntArray:
        """Go up from an open node, while it is likely to be closed, to where most others are."""
        node: IntArray = nodes[place].astype(np.int64)
        value = forecast[place] - CAUTION * self._forecast.doubt
        above = nodes - nodes[place]
        best, most = node.copy(), 1
        high = self._judge.space.high
        while True:
            values = np.where(node < high, value - self._forecast.steps(node), -np.inf)
            likely = values >= limits[place]
            if not likely.any():
                return best
            short = (above > 0).sum(axis=1)[:, None]
            inside = (short == 0) | ((short == 1) & (above == 1))
            count = np.where(likely, (inside & (limits[:, None] <= values)).sum(axis=0), -1)
            j = int(np.lexsort((values, count))[-1])
            node[j] += 1
            above[:, j] -= 1
            value = values[j]
            if count[j] >= most:
                best, most = node.copy(), int(count[j])
