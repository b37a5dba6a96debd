"""The records of remainders, against looking at every record for every remainder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.ledger import difference
from hushtable.ledger.difference import left_over

CLASSES = 5


@st.composite
def cases(draw):
    labels = st.lists(st.integers(-1, CLASSES - 1), min_size=1, max_size=25)
    at = draw(labels)
    other = draw(st.lists(st.integers(-1, CLASSES - 1), min_size=len(at), max_size=len(at)))
    # only classes that have records are part of a remainder
    here, there = sorted({c for c in at if c >= 0}), sorted({c for c in other if c >= 0})
    wholes = st.sets(st.sampled_from(here), min_size=1) if here else st.nothing()
    parts = st.sets(st.sampled_from(there)) if there else st.just(set())
    found = draw(st.lists(st.tuples(wholes, parts), max_size=5)) if here else []
    which = draw(st.sets(st.sampled_from(range(len(found))))) if found else set()
    return at, other, [(tuple(sorted(w)), tuple(sorted(p))) for w, p in found], sorted(which)


@pytest.mark.parametrize("at_once", [1, 7, 4_000_000])
@given(case=cases())
def test_records_of_remainders(at_once, case):
    at, other, found, which = case
    want = [any(a in found[i][0] and o not in found[i][1] for i in which) for a, o in zip(at, other, strict=True)]
    before, difference._AT_ONCE = difference._AT_ONCE, at_once
    try:
        got = left_over(np.array(at), np.array(other), found, np.array(which, dtype=np.int64))
    finally:
        difference._AT_ONCE = before
    assert got.tolist() == want
