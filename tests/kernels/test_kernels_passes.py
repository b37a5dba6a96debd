"""Passes find what the definition finds: single precision rules out, and decides nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels import passes, tiles
from hushtable.kernels.compile import compiled
from hushtable.kernels.passes import Shadow, has_shadow, plain_search, scaled
from hushtable.kernels.tiles import Device, DeviceLost, NumpyDevice, Tiles, Visitor


def cloud(seed: int) -> np.ndarray:
    """Points of many shapes: ties, offsets that single precision does not see, heavy tails, tiny numbers."""
    draw = np.random.default_rng(seed)
    n, d = int(draw.integers(1, 150)), int(draw.integers(1, 12))
    return [
        lambda: draw.normal(size=(n, d)),
        lambda: draw.integers(0, 3, (n, d)).astype(float),
        lambda: 1e6 + 1e-6 * draw.integers(0, 9, (n, d)),
        lambda: np.exp(8 * draw.normal(size=(n, d))),
        lambda: 1e-100 * draw.normal(size=(n, d)),
        lambda: np.zeros((n, d)),
    ][seed % 6]()


def by_hand(points: np.ndarray, alive: np.ndarray, row: int, near: int, far: int) -> tuple[list[int], list[int]]:
    away = []
    for i in np.flatnonzero(alive).tolist():
        total = 0.0
        for x, y in zip(points[i].tolist(), points[row].tolist(), strict=True):
            total += (x - y) * (x - y)
        away.append((total, i))
    nearest = [i for _, i in sorted(away) if i != row][:near]
    return nearest, [i for _, i in sorted((-total, i) for total, i in away)][:far]


def compiled_pass(shadow: Shadow, rows: np.ndarray, near: int, far: int) -> passes.PassAnswers:
    """The loops on a table so small that a run would ask the twin; in two parts, as two cores have them."""
    shadow._write()
    half, n = len(shadow._blocks) // 2, len(shadow._blocks)
    parts = []
    for begin, end in ((0, half), (half, n)):
        found = passes._nothing(len(rows), near, far)
        compiled(passes._pass_loops)(
            shadow._points, shadow._alive, shadow._blocks, shadow._ids, shadow._middle, shadow._scale, rows, begin, end,
            *found,
        )  # fmt: skip
        parts.append(found)
    compiled(passes._merge)(*parts[0], *parts[1])
    return parts[0]


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 6), st.integers(0, 4), st.integers(1, 3), st.sampled_from([4, 256]))
def test_every_device_finds_what_the_definition_says(seed, near, far, devices, room):
    points = cloud(seed)
    draw = np.random.default_rng(seed)
    shadow = Shadow(points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "TILE", 8)
        patch.setattr(tiles, "ROOM", room)
        made: list[Device] = [NumpyDevice() if i % 2 == 0 else Visitor(NumpyDevice) for i in range(devices)]
        tiled = Tiles(points, made, few=0)
        alive = np.ones(len(points), dtype=bool)
        for step in range(3):
            rows = draw.integers(0, len(points), 3)
            expected = plain_search(points, alive, rows, near, far)
            for q, row in enumerate(rows.tolist()):
                hand = by_hand(points, alive, row, near, far)
                assert [x for x in expected.near[q].tolist() if x >= 0] == hand[0]
                assert [x for x in expected.far[q].tolist() if x >= 0] == hand[1]
            for found in (shadow.search(rows, near, far), tiled.search(rows, near, far)):
                assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
            found = compiled_pass(shadow, rows, near, far)
            assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
            left = np.flatnonzero(alive)
            gone = draw.permutation(left)[: int(draw.integers(0, len(left) // 2 + 1))]
            if step == 1:
                # copies get fewer on their own
                kept = shadow.again(), tiled.again()
                shadow.remove(gone), tiled.remove(gone)
                shadow, tiled = kept
            alive[gone] = False
            shadow.remove(gone)
            tiled.remove(gone)


@pytest.mark.parametrize("questions", [1, 2, 15])
def test_larger_tables_on_one_core_and_on_two(questions, monkeypatch):
    """Cores share the questions, or the records if there is only one question."""
    points = np.random.default_rng(0).normal(size=(6000, 23))
    rows = np.arange(0, 6000, 400)[:questions]
    expected = plain_search(points, np.ones(6000, dtype=bool), rows, 9, 3)
    for cores in ("1", "2"):
        monkeypatch.setenv("HUSHTABLE_THREADS", cores)
        monkeypatch.setattr(passes, "SHARED_FROM", 1)
        found = Shadow(points).search(rows, 9, 3)
        assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def test_the_shadow_is_never_off_by_more_than_is_allowed_for():
    draw = np.random.default_rng(4)
    for d in (1, 3, 50):
        for factor in (1e-30, 1.0, 1e30):
            points = (draw.normal(size=(64, d)) + 5) * factor
            shadow = Shadow(points)
            shadow._write()
            origin = ((points - shadow._middle) * shadow._scale).astype(np.float32)
            for q in range(8):
                off = 2.0**-23 * (1.0 + float(np.linalg.norm(origin[q].astype(float)))) + 1e-20
                for i in range(64):
                    exact = float(sum((a - b) ** 2 for a, b in zip(points[i], points[q], strict=True)))
                    near = np.float32(0)
                    for a, b in zip(origin[i], origin[q], strict=True):
                        near += (a - b) * (a - b)
                    assert passes._below(exact, shadow._scale, off, d) <= near
                    assert near <= passes._above(exact, shadow._scale, off, d)


def test_nobody_is_left():
    points = np.random.default_rng(1).normal(size=(40, 3))
    for left in (Shadow(points), Tiles(points, [NumpyDevice()], few=0)):
        left.remove(np.arange(40))
        found = left.search(np.array([3]), 2, 1)
        assert found.near.tolist() == [[-1, -1]] and found.far.tolist() == [[-1]]


def test_scales():
    middle, scale = scaled(np.array([[1.0, 5.0], [3.0, 5.0]]))
    assert middle.tolist() == [2.0, 5.0] and scale == 0.5
    assert scaled(np.array([[7.0], [7.0]]))[1] == 1.0
    assert not has_shadow(np.empty((0, 3)))
    # their squares vanish or overflow in double precision, so that no single precision could bound them
    assert not has_shadow(np.array([[0.0], [1e-160]])) and not has_shadow(np.array([[0.0], [1e150]]))


class Failing(NumpyDevice):
    """A card that gives up after two answers."""

    left = 2

    def answer(self, asked):
        self.left -= 1
        if self.left < 0:
            raise DeviceLost("The card has too little free memory.")
        return super().answer(asked)


def test_a_device_that_is_lost_loses_nothing(caplog):
    points = np.random.default_rng(1).normal(size=(300, 4))
    device = Failing()
    left, alive = Tiles(points, [device], few=0), np.ones(300, dtype=bool)
    for step in range(5):
        rows = np.array([step, 100 + step])
        found = left.search(rows, 4, 2)
        expected = plain_search(points, alive, rows, 4, 2)
        assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
        left.remove(found.near[0])
        alive[found.near[0]] = False
    assert device.left < 0
    assert [r.message for r in caplog.records] == ["The card has too little free memory. The processor does the rest."]


def test_few_tiles_are_left_to_the_processor():
    class Untouched(NumpyDevice):
        def answer(self, asked):
            raise AssertionError

    points = np.random.default_rng(1).normal(size=(300, 2))
    found = Tiles(points, [Untouched()]).search(np.array([5]), 3, 1)
    assert np.array_equal(found.near, plain_search(points, np.ones(300, dtype=bool), np.array([5]), 3, 1).near)
