"""Screening groups by the shares of their values, against every way of keeping a part of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.kernels.screen import ShareLimits, screen_groups
from hushtable.testing.repeat_checks import forced_kernels

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0])
FLOORS = st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.5])
N_VALUES = 3


@st.composite
def limits(draw):
    models = draw(st.integers(0, 2))
    matrix = lambda share: np.array(  # noqa: E731
        draw(st.lists(st.lists(share, min_size=N_VALUES, max_size=N_VALUES), min_size=models, max_size=models)),
        dtype=np.float64,
    ).reshape(models, N_VALUES)
    slack = draw(st.lists(st.sampled_from([0.0, 0.05, 0.2]), min_size=models, max_size=models))
    needed = draw(st.lists(st.integers(0, N_VALUES), min_size=models, max_size=models))
    return ShareLimits(
        matrix(SHARES),
        matrix(FLOORS),
        np.array(slack, dtype=np.float64),
        np.array(needed, dtype=np.int64),
        draw(st.integers(1, 4)),
    )


def allowed(counts, limits: ShareLimits) -> bool:
    size = sum(counts)
    if size < limits.minimum:
        return False
    for m, slack in enumerate(limits.slack):
        shares = [c / size for c in counts]
        excess = sum(max(share - cap, 0.0) for share, cap in zip(shares, limits.caps[m], strict=True))
        if excess > slack + 1e-12 or sum(c > 0 for c in counts) < limits.needed[m]:
            return False
        if any(share < floor - 1e-12 for share, floor in zip(shares, limits.floors[m], strict=True)):
            return False
    return True


def most(counts, limits: ShareLimits) -> int:
    """The largest part that satisfies the limits itself; parts that do add up to one that does."""
    parts = itertools.product(*(range(c + 1) for c in counts))
    return max((sum(part) for part in parts if allowed(part, limits)), default=0)


def screened(groups, limits: ShareLimits, *, parts: bool = True, compiled: bool = False):
    """Screen groups of counts, as tuples in mixed order."""
    triples = [(g, v, n) for g, counts in enumerate(groups) for v, n in enumerate(counts) if n]
    # a value's units may come from several tuples
    triples = [(g, v, 1) for g, v, n in triples if n > 1] + [(g, v, n - (n > 1)) for g, v, n in triples]
    group, codes, units = (np.array(column, dtype=np.int64) for column in zip(*triples, strict=True))
    sizes = np.array([sum(counts) for counts in groups])
    with forced_kernels(compiled=compiled):
        return screen_groups(group.astype(np.int32), sizes, codes, units, limits, parts=parts)


GROUPS = st.lists(st.lists(st.integers(0, 5), min_size=N_VALUES, max_size=N_VALUES).filter(any), min_size=1, max_size=5)


@settings(max_examples=300, deadline=None)
@given(groups=GROUPS, limits=limits())
def test_never_more_than_is_true(groups, limits):
    found = screened(groups, limits)
    for counts, lost, forced in zip(groups, found.lost, found.forced, strict=True):
        size = sum(counts)
        assert not (lost and allowed(counts, limits))
        assert forced <= size - most(counts, limits)
        assert lost or forced == 0
    kept = [sum(counts) for counts, lost in zip(groups, found.lost, strict=True) if not lost]
    assert found.facts.tolist() == [sum(kept), sum(n * n for n in kept), len(kept), found.forced.sum()]


@settings(max_examples=150, deadline=None)
@given(groups=GROUPS, limits=limits())
def test_what_violates_one_of_the_limits_is_found(groups, limits):
    found = screened(groups, limits)
    assert [allowed(counts, limits) for counts in groups] == (~found.lost).tolist()


@settings(max_examples=60, deadline=None)
@given(groups=GROUPS, limits=limits())
def test_without_parts_only_small_groups_are_forced(groups, limits):
    whole, found = screened(groups, limits), screened(groups, limits, parts=False)
    assert found.lost.tolist() == whole.lost.tolist()
    sizes = [sum(counts) for counts in groups]
    assert found.forced.tolist() == [size if size < limits.minimum else 0 for size in sizes]


@pytest.mark.parametrize("parts", [False, True])
def test_compiled_loops_find_the_same(parts):
    generator = np.random.default_rng(4)
    limits = ShareLimits(
        generator.random((2, N_VALUES)), generator.random((2, N_VALUES)) / 9, np.array([0.0, 0.1]), np.array([1, 2]), 4
    )
    groups = generator.integers(0, 30, (200, N_VALUES)).tolist()
    groups = [counts for counts in groups if any(counts)]
    found = [screened(groups, limits, parts=parts, compiled=compiled) for compiled in (False, True)]
    assert found[0].lost.tolist() == found[1].lost.tolist() and 0 < found[0].lost.sum() < len(groups)
    assert found[0].forced.tolist() == found[1].forced.tolist()
    assert found[0].facts.tolist() == found[1].facts.tolist()
