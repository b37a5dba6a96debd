"""Forecasting how much a node suppresses, from the nodes judged so far.

What a node has to suppress depends, to a good approximation, on how finely each of its columns tells people apart:
the logit of the share that is lost is a sum over the columns of a slope times the column's entropy at its level. The
slopes are fitted anew to the judged nodes, drawn towards one common slope while these are few. A forecast only decides
which node is judged next: what is proved never rests on one.
"""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.lattice.space import Space
from hushtable.arrays import AnyArray, FloatArray, IntArray

__all__ = ["Forecast"]

PULL = 0.3
"""How strongly the columns' slopes are drawn to a common one, in squared nats."""

DIGITS = 6
"""Products of matrices are rounded: how a machine adds up must not decide which of equal nodes is judged first."""


class Forecast:
    """Forecasts of the units that nodes have to suppress.

    Parameters
    ----------
    space : Space

    Attributes
    ----------
    doubt : float
        Standard deviation of what the fit leaves over.
    """

    def __init__(self, space: Space) -> None:
        self._total = float(space.units)
        self.entropy = np.zeros(space.starts.shape)
        for j, (column, units) in enumerate(zip(space.table.quasi, space.column_units(), strict=True)):
            for level, nodes in enumerate(column.coded.levels):
                share = np.bincount(nodes, weights=units) / self._total
                share = share[share > 0]
                self.entropy[j, level] = -float((share * np.log(share)).sum())
        self._columns = np.arange(space.d)
        self._level, self._mean = 0.0, np.zeros(space.d)
        self._slopes: FloatArray = np.ones(space.d)
        self.doubt = 0.0

    def fit(self, nodes: AnyArray, lost: IntArray) -> None:
        """Fit to judged nodes and the units that they have to suppress."""
        x = self.entropy[self._columns, nodes]
        y = np.log((lost + 0.5) / (self._total - lost + 0.5))
        self._mean, self._level = x.mean(axis=0), float(y.mean())
        x, y = x - self._mean, y - self._level
        together = x.sum(axis=1)
        common = float(together @ y) / max(float(together @ together), PULL)
        own = np.linalg.solve(x.T @ x + PULL * np.eye(len(self._columns)), x.T @ (y - common * together))
        self._slopes = np.maximum(np.round(common + own, DIGITS), 0.0)
        self.doubt = round(float((y - x @ self._slopes).std()), DIGITS)

    def logits(self, nodes: AnyArray) -> FloatArray:
        """Return the forecast of each node, as the logit of the share of all units."""
        return np.round(self._level + (self.entropy[self._columns, nodes] - self._mean) @ self._slopes, DIGITS)

    def steps(self, node: IntArray) -> FloatArray:
        """Return how far the forecast's logit falls when one column goes up a level."""
        above = np.minimum(node + 1, self.entropy.shape[1] - 1)
        return self._slopes * (self.entropy[self._columns, node] - self.entropy[self._columns, above])

    def logit(self, units: FloatArray) -> FloatArray:
        """Return numbers of units as forecasts are."""
        return np.log((units + 0.5) / (self._total - units + 0.5))
