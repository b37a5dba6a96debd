from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushtable.kernels.compile import compiled
from hushtable.kernels.separate import _separate_loops, _separate_numpy, separate


@st.composite
def boxes(draw):
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    low = np.array(draw(st.lists(st.lists(st.integers(0, 9), min_size=d, max_size=d), min_size=n, max_size=n)))
    size = np.array(draw(st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=n, max_size=n)))
    return low, low + size


SIZE = 13


def cut_apart(boxes, low, high, space=None):
    """The obvious way: try every column and every place, and call again on both sides."""
    space = space or [(0, SIZE)] * low.shape[1]
    if len(boxes) == 1:
        return {boxes[0]: {}}
    best = None
    for j in range(low.shape[1]):
        for cut in sorted({int(low[b, j]) for b in boxes}):
            left = [b for b in boxes if high[b, j] < cut]
            right = [b for b in boxes if low[b, j] >= cut]
            if left and right and len(left) + len(right) == len(boxes):
                start, end = space[j]
                gain = (len(left) * (end - cut) + len(right) * (cut - start)) / SIZE
                if best is None or gain > best[0][0]:
                    best = ((gain, j, cut), left, right)
    if best is None:
        return dict.fromkeys(boxes)
    (_, j, cut), left, right = best
    start, end = space[j]
    parts = {"ceiling": [*space[:j], (start, cut), *space[j + 1 :]], "floor": [*space[:j], (cut, end), *space[j + 1 :]]}
    ends = (max(int(high[b, j]) for b in left), min(int(low[b, j]) for b in right))
    found = {}
    for side, part in (("ceiling", left), ("floor", right)):
        for box, bounds in cut_apart(part, low, high, parts[side]).items():
            found[box] = bounds if bounds is None else {(side, j): ends, **bounds}
    return found


@given(boxes())
def test_against_the_obvious_way(given_boxes):
    low, high = given_boxes
    floors, ceilings, alone = separate(low, high, np.full(low.shape[1], SIZE))
    expected = cut_apart(list(range(len(low))), low, high)
    for box, bounds in expected.items():
        assert alone[box] == (bounds is not None)
        for side, found in (("floor", floors), ("ceiling", ceilings)):
            for j in range(low.shape[1]):
                if bounds is not None:
                    assert tuple(found[box, j]) == bounds.get((side, j), (-1, -1))


@given(boxes())
def test_the_kernel_equals_its_twin(given_boxes):
    low, high = (side.astype(np.int64) for side in given_boxes)
    orders = np.stack([np.lexsort((np.arange(len(low)), low[:, j])) for j in range(low.shape[1])])
    sizes = np.full(low.shape[1], SIZE)
    slow, fast = (way(low, high, sizes, orders) for way in (_separate_numpy, compiled(_separate_loops)))
    for a, b in zip(slow, fast, strict=True):
        assert np.array_equal(a, b)


def test_no_boxes():
    floors, ceilings, alone = separate(*(np.empty((0, 2), dtype=np.int64),) * 2, np.array([4, 4]))
    assert floors.shape == ceilings.shape == (0, 2, 2)
    assert len(alone) == 0
