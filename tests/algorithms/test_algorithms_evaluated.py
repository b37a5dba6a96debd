"""What a search has seen stays as it was when there is more of it than the first arrays hold."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.algorithms.lattice.judge import Evaluated
from hushtable.algorithms.lattice.verdict import NodeVerdict


@pytest.mark.parametrize("n", [1, 16, 17, 33, 200])
def test_every_verdict_is_kept_in_order(n):
    seen = Evaluated(2)
    for i in range(n):
        seen.add(NodeVerdict(np.array([i, 2 * i]), i % 3 == 0, i, i, i + 1, float(i)))
    assert seen.nodes.tolist() == [[i, 2 * i] for i in range(n)]
    assert seen.fits.tolist() == [i % 3 == 0 for i in range(n)]
    assert seen.value.tolist() == [float(i) for i in range(n)]
    assert seen.lost.tolist() == list(range(n)) and seen.groups.tolist() == list(range(1, n + 1))
    found = seen.find(np.array([0, 0]))
    assert found is not None and found.groups == 1
