"""mu-Approx: a forest of nearest neighbors, cut at records, against a twin on lists."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support_microaggregation import ROWS, groups, mu_approx_twin, ordered

from hushtable.algorithms.cluster.mu_approx import _parts


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(2, 4))
def test_forest_and_cuts_as_described(rows, k):
    rows = ordered(rows)
    assert groups(rows, k, "mu-approx") == mu_approx_twin(rows, k)


def test_a_star_is_cut_at_its_center_which_joins_one_part():
    star = {0: [1, 2, 3, 4, 5], **{leaf: [0] for leaf in range(1, 6)}}
    ones = dict.fromkeys(range(6), 1)
    assert _parts(star, ones, 3) == [[0, 4, 5], [1, 2, 3]]
    assert _parts(star, ones, 2) == [[0, 5], [1, 2], [3, 4]]
    assert _parts(star, ones, 4) == [[0, 1, 2, 3, 4, 5]]
    assert _parts(star, {**ones, 1: 4}, 4) == [[0, 2, 3, 4, 5], [1]]
