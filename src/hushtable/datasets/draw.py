"""Drawing columns that depend on one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.arrays import BoolArray, FloatArray, IntArray


class GeneratedRows:
    """The rows ``start .. start + n - 1`` of an endless generated table.

    Parameters
    ----------
    seed : int
    start : int
    n : int

    Examples
    --------
    >>> GeneratedRows(7, 0, 4).given("colour", np.array([0, 0, 1, 1]), np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [0, 0, 1, 1]
    >>> bool((GeneratedRows(7, 2, 2).uniform("x") == GeneratedRows(7, 0, 4).uniform("x")[2:]).all())
    True
    """

    def __init__(self, seed: int, start: int, n: int) -> None:
        self.seed, self.start, self.n = seed, start, n

    def uniform(self, stream: str) -> FloatArray:
        """One number in [0, 1) per row."""
        return rng.uniform(self.seed, stream, self.n, self.start)

    def normal(self, stream: str) -> FloatArray:
        """One number from the standard normal distribution per row."""
        return rng.normal(self.seed, stream, self.n, self.start)

    def integers(self, stream: str, low: int, high: int) -> IntArray:
        """One integer in ``low .. high - 1`` per row."""
        return rng.integers(self.seed, stream, self.n, low, high, self.start)

    def choice(self, stream: str, weights: Sequence[float] | FloatArray) -> IntArray:
        """One position in ``weights`` per row."""
        return rng.choice(self.seed, stream, self.n, weights, self.start)

    def flags(self, stream: str, share: float | FloatArray) -> BoolArray:
        """True in about ``share`` of the rows."""
        return np.asarray(self.uniform(stream) < share)

    def given(self, stream: str, condition: IntArray, weights: FloatArray) -> IntArray:
        """One position per row, drawn from the row of ``weights`` (condition x value) that ``condition`` selects."""
        cumulated = np.cumsum(weights, axis=1)
        cumulated /= cumulated[:, -1:]
        drawn, number = np.zeros(self.n, dtype=np.int64), self.uniform(stream)
        # value by value: the (row x value) matrix would be the largest array of the whole generation
        for value in range(weights.shape[1] - 1):
            drawn += number >= cumulated[condition, value]
        return drawn


def labelled(labels: Sequence[str], codes: IntArray, missing: BoolArray | None = None) -> pa.Array:
    """Return the label of every code as text, null if ``missing``.

    Examples
    --------
    >>> labelled(["a", "b"], np.array([1, 0]), np.array([False, True])).to_pylist()
    ['b', None]
    """
    return pa.array(labels, pa.string()).take(pa.array(codes, mask=missing))
