"""The nearest other records of every record, and how far records are from the centers of their groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels import compile as kernels
from hushtable.kernels.compile import compiled, dispatch
from hushtable.kernels.device import device, passes_for
from hushtable.kernels.kdtree import build
from hushtable.kernels.metric import Metric, distance, plain_distance, squared_distances
from hushtable.kernels.passes import has_shadow
from hushtable.kernels.search import nearest
from hushtable.kernels.unassigned import index_pays


def neighbours(points: FloatArray, width: int) -> IntArray:
    """Return the nearest other records of each record (numbers without missing values), nearest first, then by number.

    Examples
    --------
    >>> neighbours(np.array([[0.0], [1.0], [5.0]]), 2).tolist()
    [[1, 2], [0, 2], [1, 0]]
    """
    n, d = points.shape
    width = min(width, n - 1)
    out = np.empty((n, width), dtype=np.int64)
    if width <= 0:
        return out
    metric = Metric.of_numbers(d)
    if n <= 5 * kernels.COMPILE_FROM or not has_shadow(points):
        dispatch(_neighbours_loops, _neighbours_numpy, n)(points, out)
    elif device() != "gpu" and index_pays(points, metric, wide=True):
        compiled(_from_tree)(build(points, metric), points, metric, out)
    else:
        _from_passes(points, out)
    return out


def _from_passes(points: FloatArray, out: IntArray) -> None:
    passes = passes_for(points)
    step = 8 * passes.questions
    for at in range(0, len(out), step):
        rows = np.arange(at, min(at + step, len(out)), dtype=np.int64)
        out[rows] = passes.search(rows, out.shape[1], 0).near


def _neighbours_numpy(points: Any, out: Any) -> None:
    metric = Metric.of_numbers(points.shape[1])
    for i in range(len(points)):
        far = squared_distances(points, points[i], metric)
        far[i] = np.inf
        out[i] = np.argsort(far, kind="stable")[: out.shape[1]]


def _neighbours_loops(points: Any, out: Any) -> None:
    n, width = out.shape
    far = np.empty(width)
    for i in range(n):
        count = 0
        for j in range(n):
            if i == j:
                continue
            x = plain_distance(points, j, points[i])
            if count == width and x >= far[width - 1]:
                continue
            count = min(count + 1, width)
            at = count - 1
            while at > 0 and far[at - 1] > x:
                far[at] = far[at - 1]
                out[i, at] = out[i, at - 1]
                at -= 1
            far[at] = x
            out[i, at] = j


def _from_tree(tree: Any, points: Any, metric: Any, out: Any) -> None:
    n, width = out.shape
    found = np.empty(width + 1, np.int64)
    far = np.empty(width + 1)
    no_kinds = np.empty(0, np.int64)
    anybody = np.empty(0, np.bool_)
    for i in range(n):
        count = nearest(tree, points[i], metric, no_kinds, anybody, found, far)
        at = 0
        for m in range(count):
            # among many equal records the record itself may be missing from the list
            if found[m] != i and at < width:
                out[i, at] = found[m]
                at += 1


def spread(points: FloatArray, labels: IntArray, centres: FloatArray, metric: Metric) -> float:
    """Return the sum of the squared distances between records and the centers of their groups.

    Examples
    --------
    >>> spread(np.array([[0.0], [2.0]]), np.array([0, 0]), np.array([[1.0]]), Metric.of_numbers(1))
    2.0
    """
    return float(dispatch(_spread, _spread, len(points))(points, labels, centres, metric))


def _spread(points: Any, labels: Any, centres: Any, metric: Any) -> Any:
    total = 0.0
    for i in range(len(labels)):
        total += distance(points, i, centres[labels[i]], metric)
    return total
