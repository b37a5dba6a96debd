"""Random points, with ties, gaps and labels, and their distance written out."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from hushtable.kernels.metric import Metric

TREE = (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "y"))
ABOVE = [[0, 1, 2, 3, 4], [0, 0, 1, 1, 1]]


def mixed_metric(labels: list[bool], *, plain: bool) -> Metric:
    """Columns of numbers with missing distance 1, and of labels under two parents."""
    d = len(labels)
    size = np.array([5 if label else 0 for label in labels])
    return Metric(
        plain=plain,
        labels=np.array(labels),
        missing=np.ones(d),
        start=np.array([1 + 10 * sum(labels[:j]) if labels[j] else 0 for j in range(d)]),
        size=size,
        height=np.array([2 if label else 0 for label in labels]),
        above=np.array([0] + [x for label in labels if label for level in ABOVE for x in level]),
        steps=np.array([[0.0, 0.25, 1.0] if label else [0.0, 0.0, 0.0] for label in labels]),
        nested=np.ones(d, dtype=np.bool_),
    )


@st.composite
def clouds(draw: st.DrawFn, most: int = 60) -> tuple[np.ndarray, Metric]:
    """Points in canonical order, and how they are compared."""
    labels = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    gaps = draw(st.booleans())
    number = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5, width=32))
    cells = [
        st.integers(0, 4).map(float) if label else st.one_of(number, st.just(math.nan)) if gaps else number
        for label in labels
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=most))
    points = np.array(sorted(rows, key=lambda r: [(-math.inf if x != x else x) for x in r])) + 0.0
    plain = not any(labels) and not np.isnan(points).any()
    return points, mixed_metric(labels, plain=plain)


def far(a: np.ndarray, b: np.ndarray, metric: Metric) -> float:
    """The squared distance, as the definition has it."""
    total = 0.0
    for j, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if metric.labels[j]:
            same_parent = TREE[int(x)][1] == TREE[int(y)][1]
            total += 0.0 if x == y else 0.25 if same_parent else 1.0
        elif math.isnan(x) or math.isnan(y):
            total += 0.0 if math.isnan(x) and math.isnan(y) else 1.0
        else:
            total += (x - y) * (x - y)
    return total
