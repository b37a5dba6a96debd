"""Distances: loops, NumPy twin and definition agree to the bit; bounds over boxes are bounds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support_points import clouds, far

from hushtable.kernels import metric as m
from hushtable.kernels.compile import compiled


@given(clouds(), st.data())
def test_three_ways_to_the_same_distance(cloud, data):
    points, metric = cloud
    origin = points[data.draw(st.integers(0, len(points) - 1))]
    expected = [far(p, origin, metric) for p in points]
    assert m.squared_distances(points, origin, metric).tolist() == expected
    assert [m.distance(points, i, origin, metric) for i in range(len(points))] == expected
    assert [compiled(m.distance)(points, i, origin, metric) for i in range(len(points))] == expected


@given(clouds(), st.data())
def test_boxes_bound_the_distances_inside(cloud, data):
    points, metric = cloud
    origin = points[data.draw(st.integers(0, len(points) - 1))]
    inside = np.array(data.draw(st.lists(st.integers(0, len(points) - 1), min_size=1, unique=True)))
    known = ~np.isnan(points[inside])
    low = np.where(known, points[inside], np.inf).min(axis=0)[None]
    high = np.where(known, points[inside], -np.inf).max(axis=0)[None]
    gaps = ~known.all(axis=0)[None]
    least, most = m.least(low, high, gaps, 0, origin, metric), m.most(low, high, gaps, 0, origin, metric)
    within = [far(points[i], origin, metric) for i in inside]
    assert least <= min(within) and max(within) <= most
    assert compiled(m.least)(low, high, gaps, 0, origin, metric) == least
    assert compiled(m.most)(low, high, gaps, 0, origin, metric) == most
    if metric.plain:
        assert m.plain_least(low, high, 0, origin) == least and m.plain_most(low, high, 0, origin) == most
