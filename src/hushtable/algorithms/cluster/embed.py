"""Mixed records as plain numbers, so that groups of them have sums: what refining works with.

A label becomes one column for each node of each level of its hierarchy, scaled so that squared distances are those of
the metric; levels of very many nodes are left out. A missing number becomes the column's mean and a mark in a column of
its own.
"""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.cluster.space import Space
from hushtable.arrays import FloatArray

__all__ = ["embed"]

WIDEST = 64
"""Levels with more nodes are left out."""


def embed(space: Space) -> FloatArray:
    """Return the points as numbers without gaps.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> space = Space.of(example().table, np.arange(5))
    >>> numbers = embed(space)
    >>> round(float(((numbers[0, 1:] - numbers[1, 1:]) ** 2).sum()), 4)  # Oslo is half as far as the root is high
    0.25
    """
    metric, points = space.metric, space.points
    if metric.plain:
        return points
    columns: list[FloatArray] = []
    for j in range(points.shape[1]):
        values = points[:, j]
        if not metric.labels[j]:
            gap = np.isnan(values)
            known = values[~gap]
            columns.append(np.where(gap, float(known.sum()) / len(known) if len(known) else 0.0, values))
            if gap.any():
                columns.append(gap * float(np.sqrt(metric.missing[j])))
            continue
        codes, size = values.astype(np.int64), int(metric.size[j])
        for h in range(int(metric.height[j])):
            begin = int(metric.start[j]) + h * size
            nodes = metric.above[begin : begin + size][codes]
            step = float(np.sqrt((metric.steps[j, h + 1] - metric.steps[j, h]) / 2))
            present = np.unique(nodes)
            if 1 < len(present) <= WIDEST:
                columns += [(nodes == node) * step for node in present]
    if not columns:
        return np.zeros((len(points), 1))
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
