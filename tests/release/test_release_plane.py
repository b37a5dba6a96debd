"""Two columns of a release as points and boxes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import UsageError
from hushtable.release.plane import plane_of


@pytest.fixture(scope="module")
def release():
    people = pa.table(
        {
            "age": [20, 21, 22, 50, 51, 52, None, None],
            "town": ["a", "b", "a", "c", "c", "d", "d", "c"],
            "pay": [1, 2, 3, 4, 5, 6, 7, 8],
            "illness": list("xyxyxyxy"),
        }
    )
    policy = ht.Policy(
        quasi=["age", "town", "pay"], sensitive=["illness"], models=[ht.KAnonymity(k=2)], cells="intervals"
    )
    return ht.anonymize(people, policy)


@pytest.mark.parametrize("columns", [None, ("town", "pay"), ("pay", "age")])
def test_every_record_lies_in_a_box(release, columns):
    plane = plane_of(release.comparison().rows, columns)
    assert plane.points.shape == (8, 2) and plane.boxes.shape == (len(release.groups), 4)
    assert (plane.boxes[:, :2] <= plane.boxes[:, 2:]).all()
    low, high = plane.boxes[:, None, :2], plane.boxes[:, None, 2:]
    inside = ((low <= plane.points) & (plane.points <= high)).all(axis=2)
    assert inside.any(axis=0).all()


def test_numbers_lie_where_they_are_and_names_at_their_leaf(release):
    plane = plane_of(release.comparison().rows, ("age", "town"))
    assert plane.labels == ((), ("a", "b", "c", "d"))
    known = plane.points[plane.points[:, 0] >= 20]
    assert sorted(known[:, 0].tolist()) == [20, 21, 22, 50, 51, 52]
    assert np.count_nonzero(plane.points[:, 0] < 20) == 2  # missing ages lie left of all others


@pytest.mark.parametrize(
    ("columns", "words"),
    [(["age"], "two different"), (["age", "age"], "two different"), (["age", "twon"], "Did you mean 'town'"),
     (["age", "illness"], "is not a quasi-identifier")],
)  # fmt: skip
def test_columns_that_cannot_be_drawn(release, columns, words):
    with pytest.raises(UsageError, match=words):
        plane_of(release.comparison().rows, columns)
