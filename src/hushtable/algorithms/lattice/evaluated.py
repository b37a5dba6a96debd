"""What a search has seen: every judged node as one row of a few arrays, no Python object per node."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.lattice.verdict import Verdict
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Evaluated"]


class Evaluated:
    """Judged nodes in the order of judging; 33 bytes a node, and 2 per node and column.

    Examples
    --------
    >>> seen = Evaluated(2)
    >>> seen.add(Verdict(np.array([0, 1]), True, 3, 3, 7, 0.25))
    >>> len(seen), seen.nodes.tolist(), seen.value.tolist()
    (1, [[0, 1]], [0.25])
    >>> seen.find(np.array([0, 1])).lost, seen.find(np.array([1, 1]))
    (3, None)
    """

    def __init__(self, d: int) -> None:
        self._n = 0
        self._nodes: AnyArray = np.empty((16, d), dtype=np.int16)
        self._fits: BoolArray = np.empty(16, dtype=np.bool_)
        self._counts: IntArray = np.empty((16, 3), dtype=np.int64)
        self._costs: FloatArray = np.empty((16, 2))

    def __len__(self) -> int:
        return self._n

    @property
    def nodes(self) -> AnyArray:
        """Levels, node by column."""
        return self._nodes[: self._n]

    @property
    def fits(self) -> BoolArray:
        """Whether each node satisfies the models within the suppression budget."""
        return self._fits[: self._n]

    @property
    def lost(self) -> IntArray:
        """Units to be suppressed at each node; at least these, where they are more than the budget."""
        return self._counts[: self._n, 0]

    @property
    def small(self) -> IntArray:
        """Units that every finer node has to suppress too."""
        return self._counts[: self._n, 1]

    @property
    def groups(self) -> IntArray:
        """Groups of each node, suppressed ones included."""
        return self._counts[: self._n, 2]

    @property
    def value(self) -> FloatArray:
        """The objective; infinite where the node does not fit."""
        return self._costs[: self._n, 0]

    def add(self, verdict: Verdict) -> None:
        """Append one verdict."""
        if self._n == len(self._fits):
            self._nodes, self._fits = _longer(self._nodes), _longer(self._fits)
            self._counts, self._costs = _longer(self._counts), _longer(self._costs)
        self._nodes[self._n], self._fits[self._n] = verdict.node, verdict.fits
        self._counts[self._n] = verdict.lost, verdict.small, verdict.groups
        self._costs[self._n] = verdict.value, verdict.floor
        self._n += 1

    def find(self, node: IntArray) -> Verdict | None:
        """Return the verdict on a node, if there is one."""
        found = np.flatnonzero((self.nodes == node).all(axis=1))
        if not len(found):
            return None
        i = int(found[0])
        lost, small, groups = (int(c) for c in self._counts[i])
        value, floor = (float(c) for c in self._costs[i])
        return Verdict(np.asarray(node, dtype=np.int64), bool(self._fits[i]), lost, small, groups, value, floor)


def _longer(array: AnyArray) -> AnyArray:
    """Return the array with as much room again behind what it holds."""
    return np.concatenate([array, np.empty_like(array)])
