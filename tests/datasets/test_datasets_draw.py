from __future__ import annotations

import numpy as np

from hushtable.datasets.draw import GeneratedRows, labelled


def test_given_follows_the_weights_of_its_condition():
    rows = GeneratedRows(3, 0, 60_000)
    condition = rows.integers("condition", 0, 2)
    weights = np.array([[1.0, 3.0, 0.0], [2.0, 0.0, 2.0]])
    drawn = rows.given("value", condition, weights)
    for c in (0, 1):
        shares = np.bincount(drawn[condition == c], minlength=3) / (condition == c).sum()
        assert np.abs(shares - weights[c] / weights[c].sum()).max() < 0.01
        assert (shares[weights[c] == 0] == 0).all()


def test_flags_take_one_share_or_one_a_row():
    rows = GeneratedRows(3, 0, 50_000)
    assert abs(rows.flags("f", 0.2).mean() - 0.2) < 0.01
    each = rows.flags("f", np.where(np.arange(rows.n) % 2, 1.0, 0.0))
    assert each.tolist() == [bool(i % 2) for i in range(rows.n)]


def test_labels_and_missing():
    codes, missing = np.array([0, 1, 1]), np.array([False, False, True])
    assert labelled(["a", "b"], codes, missing).to_pylist() == ["a", "b", None]
    assert labelled(["a", "b"], codes[:0]).to_pylist() == []
