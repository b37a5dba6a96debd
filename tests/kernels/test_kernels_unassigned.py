"""The index finds whom a look at all records finds, while records go; and both find whom the definition says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_points import clouds, far

from hushtable.kernels.metric import Metric
from hushtable.kernels.passes import Shadow, has_shadow
from hushtable.kernels.unassigned import PROBES, Batched, Index, Scan, all_unassigned


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def mean_record(points, metric):
    out = []
    for j in range(points.shape[1]):
        x = points[:, j]
        if metric.labels[j]:
            counts = np.bincount(x.astype(int))
            out.append(float(np.argmax(counts)))
        else:
            known = x[~np.isnan(x)]
            out.append(float(np.mean(known)) if len(known) else np.nan)
    return np.array(out)


class Three(Shadow):
    """Few questions at once, so that memory has to be asked for often."""

    questions = 3


@settings(max_examples=150, deadline=None)
@given(clouds(), st.data())
def test_index_and_scan_answer_alike(cloud, data):
    points, metric = cloud
    units = None
    if data.draw(st.booleans()):
        units = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(points), max_size=len(points))))
    index, scan = Index(points, metric, units), Scan(points, metric, units)
    # where there is nothing but numbers, one that remembers answers too; otherwise the index stands for it again
    wide = metric.plain and has_shadow(points)
    batched = Batched(points, metric, units, passes=Three(points)) if wide else Index(points, metric, units)
    kinds = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(points), max_size=len(points))))
    index.kinds = scan.kinds = batched.kinds = kinds
    gone = []
    while len(scan):
        rows = scan.rows()
        assert np.array_equal(rows, index.rows()) and index.units == scan.units and len(index) == len(scan)
        assert same(index.centroid(), scan.centroid())
        np.testing.assert_allclose(scan.centroid(), mean_record(points[rows], metric), rtol=1e-12, atol=1e-12)
        first = scan.farthest_from_centroid()
        assert index.farthest_from_centroid() == batched.farthest_from_centroid() == first
        batched.expect(np.array(data.draw(st.lists(st.sampled_from(rows.tolist()), max_size=3)), dtype=np.int64))
        reach = [far(points[r], scan.centroid(), metric) for r in rows]
        assert first == rows[int(np.argmax(reach))]
        origin = data.draw(st.sampled_from([*rows.tolist(), *gone]))
        from_it = [far(points[r], points[origin], metric) for r in rows]
        assert scan.farthest(origin) == index.farthest(origin) == rows[int(np.argmax(from_it))]
        assert batched.farthest(origin) == scan.farthest(origin)
        allowed = np.array(data.draw(st.lists(st.booleans(), min_size=3, max_size=3)))
        for mask in (allowed, np.empty(0, dtype=np.bool_)):
            fits = [r != origin and (not len(mask) or mask[kinds[r]]) for r in rows]
            fitting = [pair for pair, fit in zip(zip(from_it, rows, strict=True), fits, strict=True) if fit]
            expected = (min(fitting)[1], min(fitting)[0]) if fitting else (-1, np.inf)
            assert scan.nearest(origin, mask) == index.nearest(origin, mask) == expected
            assert batched.nearest(origin, mask) == expected
        needed = data.draw(st.integers(1, 5))
        taken = scan.take(first, needed)
        assert np.array_equal(taken, index.take(first, needed))
        before = batched.again()
        assert np.array_equal(taken, batched.take(first, needed))
        if data.draw(st.booleans()):
            before.take(first, needed)
            batched = before
        nearest = sorted((far(points[r], points[first], metric), r) for r in rows if r != first)
        weight = units if units is not None else np.ones(len(points), dtype=int)
        expected, total = [first], weight[first]
        for _, r in nearest:
            if total >= needed:
                break
            expected.append(r)
            total += weight[r]
        assert taken.tolist() == expected
        gone += taken.tolist()
        if len(scan) and data.draw(st.booleans()):
            other = int(scan.rows()[-1])
            scan.remove(other)
            index.remove(other)
            batched.remove(other)
            gone.append(other)


@pytest.mark.parametrize("shape", ["gaussian", "clustered", "line", "grid", "constant", "tiny", "heavy"])
def test_larger_clouds(shape):
    generator = np.random.default_rng(3)
    n = 3000
    points = {
        "gaussian": lambda: generator.normal(size=(n, 6)),
        "clustered": lambda: generator.normal(size=(n, 3)) * 0.01 + generator.integers(0, 5, (n, 3)),
        "line": lambda: np.outer(generator.normal(size=n), [1.0, -2.0]),
        "grid": lambda: generator.integers(0, 4, (n, 4)).astype(float),
        "constant": lambda: np.zeros((n, 2)),
        "tiny": lambda: 1.0 + 1e-12 * generator.integers(0, 9, (n, 3)),
        "heavy": lambda: np.exp(8 * generator.normal(size=(n, 3))),
    }[shape]()
    points = points[np.lexsort(points.T[::-1])]
    metric = Metric.of_numbers(points.shape[1])
    index, scan, batched = Index(points, metric), Scan(points, metric), Batched(points, metric)
    while len(scan) >= 15:
        first = scan.farthest_from_centroid()
        assert index.farthest_from_centroid() == batched.farthest_from_centroid() == first
        group = scan.take(first, 5)
        assert np.array_equal(index.take(first, 5), group) and np.array_equal(batched.take(first, 5), group)
        second = scan.farthest(first)
        assert index.farthest(first) == batched.farthest(first) == second
        group = scan.take(second, 5)
        assert np.array_equal(index.take(second, 5), group) and np.array_equal(batched.take(second, 5), group)


def test_the_faster_way_is_taken_by_measuring_and_copies_are_independent():
    draw = np.random.default_rng(1)
    assert isinstance(all_unassigned(np.zeros((100, 3)), Metric.of_numbers(3)), Scan)
    assert isinstance(all_unassigned(draw.normal(size=(5000, 14)), Metric.of_numbers(14)), Batched)
    assert isinstance(all_unassigned(draw.normal(size=(2 * PROBES[1], 40)), Metric.of_numbers(40)), Batched)
    # many columns that lie on a line, for which a tree is best
    n = 16 * PROBES[1]
    flat = np.outer(np.sort(draw.normal(size=n)), draw.normal(size=40))
    assert isinstance(all_unassigned(flat, Metric.of_numbers(40)), Index)
    left = all_unassigned(np.arange(float(n))[:, None], Metric.of_numbers(1))
    assert isinstance(left, Index)
    tiny = all_unassigned(np.arange(5000.0)[:, None] * 1e-200, Metric.of_numbers(1))
    assert isinstance(tiny, Index)  # squares vanish: no shadow
    other = left.again()
    other.take(0, 10)
    assert (len(left), len(other)) == (n, n - 10)
    assert left.take(0, 3).tolist() == [0, 1, 2] and other.nearest(0)[0] == 10


def test_blocks_on_all_cores_find_the_same(monkeypatch):
    from hushtable.kernels import scan as module

    points = np.random.default_rng(1).integers(0, 3, (500, 12)).astype(float)
    whole = [(Scan(points, Metric.of_numbers(12)).take(i, 40).tolist()) for i in (0, 99)]
    farthest = Scan(points, Metric.of_numbers(12)).farthest(7)
    monkeypatch.setattr(module, "BLOCK", 64)
    assert [(Scan(points, Metric.of_numbers(12)).take(i, 40).tolist()) for i in (0, 99)] == whole
    assert Scan(points, Metric.of_numbers(12)).farthest(7) == farthest


@settings(max_examples=80, deadline=None)
@given(clouds(), st.integers(1, 6), st.booleans())
def test_rounds_in_one_go_are_rounds_one_by_one(cloud, needed, weighted):
    points, metric = cloud
    units = np.arange(len(points)) % 3 + 1 if weighted else None
    needed *= 3 if weighted else 1  # nobody weighs more than a person
    made = [Scan(points, metric, units), Index(points, metric, units)]
    if metric.plain and has_shadow(points):
        made += [Batched(points, metric, units, passes=Three(points)), Batched(points, metric, units).again()]
    found = [[group.tolist() for group in left.opposites(needed)] for left in made]
    assert all(groups == found[0] for groups in found[1:])
    rest = [(left.rows().tolist(), left.units, len(left)) for left in made]
    assert all(one == rest[0] for one in rest[1:])
    # the last records are known to every one of them
    if len(made[0]):
        assert len({left.farthest_from_centroid() for left in made}) == 1
