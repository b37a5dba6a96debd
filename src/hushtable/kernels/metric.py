"""The distance between records, for numbers and labels together: plain loops and a NumPy twin that agree exactly.

A record is a row of floats. If ``Metric.labels`` is set, the float is a code, and the distance of two codes is the
height of their lowest common ancestor. Otherwise it is a number; a missing one (NaN) has a fixed distance from all
others and none from itself. Squared distances are added column by column, in order, never through matrix products, so
the result is the same on every machine.

Bounds over boxes are computed with the same operations in the same order, so that they hold in spite of rounding: a
box's lower bound is never above the computed distance of a point inside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray


class Metric(NamedTuple):
    """How columns are compared.

    Attributes
    ----------
    plain : bool
        Whether there are neither labels nor missing numbers.
    labels : bool array
        Which columns hold codes.
    missing : float64 array
        Squared distance between a missing number and another.
    start : int64 array
        Where a column's ancestors begin in ``above``.
    size, height : int64 arrays
        Codes of a column and the height of its hierarchy.
    above : int64 array
        ``above[start[j] + h * size[j] + code]``: the node above a code at height h.
    steps : float64 array (column x height)
        Squared distance of two codes whose lowest common node has this height.
    nested : bool array
        Whether neighboring codes are the closest ones, so that ranges of codes bound distances.
    """

    plain: bool
    labels: BoolArray
    missing: FloatArray
    start: IntArray
    size: IntArray
    height: IntArray
    above: IntArray
    steps: FloatArray
    nested: BoolArray

    @classmethod
    def of_numbers(cls, columns: int) -> Metric:
        """Compare numbers without missing values.

        Examples
        --------
        >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.zeros(2), Metric.of_numbers(2)).tolist()
        [0.0, 25.0]
        """
        none = np.zeros(columns, dtype=np.int64)
        return cls(
            plain=True,
            labels=np.zeros(columns, dtype=np.bool_),
            missing=np.ones(columns),
            start=none,
            size=none,
            height=none,
            above=np.zeros(1, dtype=np.int64),
            steps=np.zeros((columns, 1)),
            nested=np.ones(columns, dtype=np.bool_),
        )


def squared_distances(points: FloatArray, origin: FloatArray, metric: Metric) -> FloatArray:
    """Return the squared distance of every point from one: the NumPy twin of ``distance``."""
    total: FloatArray = np.zeros(len(points))
    for j in range(points.shape[1]):
        total += _terms(points[:, j], origin[j], j, metric)
    return total


def _terms(values: FloatArray, origin: Any, j: int, metric: Metric) -> AnyArray:
    if not metric.labels[j]:
        apart = values - origin
        if metric.plain:
            return np.asarray(apart * apart)
        unlike = np.where(np.isnan(values) & np.isnan(origin), 0.0, metric.missing[j])
        return np.where(np.isnan(apart), unlike, apart * apart)
    codes, own = values.astype(np.int64), int(origin)
    height, size, start = int(metric.height[j]), int(metric.size[j]), int(metric.start[j])
    out: FloatArray = np.full(len(codes), metric.steps[j, height])
    for h in range(height - 1, -1, -1):
        level = metric.above[start + h * size : start + (h + 1) * size]
        out[level[codes] == level[own]] = metric.steps[j, h]
    return out


def term(a: Any, b: Any, j: Any, metric: Any) -> Any:
    """Squared distance of two values of column j."""
    if metric.labels[j]:
        if a == b:
            return 0.0
        start = metric.start[j]
        for h in range(1, metric.height[j]):
            start += metric.size[j]
            if metric.above[start + np.int64(a)] == metric.above[start + np.int64(b)]:
                return metric.steps[j, h]
        return metric.steps[j, metric.height[j]]
    apart = a - b
    if apart != apart:
        return 0.0 if a != a and b != b else metric.missing[j]
    return apart * apart


def plain_distance(points: Any, i: Any, origin: Any) -> Any:
    """Squared distance of point i from the origin, numbers alone."""
    total = 0.0
    for j in range(len(origin)):
        apart = points[i, j] - origin[j]
        total += apart * apart
    return total


def distance(points: Any, i: Any, origin: Any, metric: Any) -> Any:
    """Squared distance of point i from the origin."""
    if metric.plain:
        return plain_distance(points, i, origin)
    total = 0.0
    for j in range(points.shape[1]):
        total += term(points[i, j], origin[j], j, metric)
    return total


def plain_least(low: Any, high: Any, node: Any, origin: Any) -> Any:
    """Return ``least`` for numbers alone."""
    total = 0.0
    for j in range(len(origin)):
        apart = max(max(low[node, j] - origin[j], origin[j] - high[node, j]), 0.0)
        total += apart * apart
    return total


def plain_most(low: Any, high: Any, node: Any, origin: Any) -> Any:
    """Return ``most`` for numbers alone."""
    total = 0.0
    for j in range(len(origin)):
        apart = max(origin[j] - low[node, j], high[node, j] - origin[j])
        total += apart * apart
    return total


def least(low: Any, high: Any, gaps: Any, node: Any, origin: Any, metric: Any) -> Any:
    """A lower bound of the squared distance between the origin and any point in a node's box."""
    total = 0.0
    for j in range(len(origin)):
        x, a, b = origin[j], low[node, j], high[node, j]
        if metric.labels[j]:
            if metric.nested[j] and (x < a or x > b):
                total += term(x, a if x < a else b, j, metric)
        elif x != x:
            total += 0.0 if gaps[node, j] else metric.missing[j]
        elif a > b:
            total += metric.missing[j]
        else:
            edge = a if x < a else b
            near = 0.0 if a <= x <= b else (edge - x) * (edge - x)
            total += min(near, metric.missing[j]) if gaps[node, j] else near
    return total


def most(low: Any, high: Any, gaps: Any, node: Any, origin: Any, metric: Any) -> Any:
    """An upper bound of the squared distance between the origin and any point in a node's box."""
    total = 0.0
    for j in range(len(origin)):
        x, a, b = origin[j], low[node, j], high[node, j]
        if metric.labels[j]:
            total += term(x, a, j, metric) if a == b else metric.steps[j, metric.height[j]]
        elif x != x:
            total += 0.0 if a > b else metric.missing[j]
        elif a > b:
            total += metric.missing[j]
        else:
            apart = max(x - a, b - x)
            far = apart * apart
            total += max(far, metric.missing[j]) if gaps[node, j] else far
    return total
