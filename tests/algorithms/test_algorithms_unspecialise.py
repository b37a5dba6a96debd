"""Which records go back, on groups written down by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.algorithms.kinds import Kinds, add_groups, helpful
from hushtable.algorithms.partition.frontier import CHECKS, satisfied_prefix
from hushtable.algorithms.partition.unspecialise import Families, unspecialise
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_alpha_sensitive import PAlphaSensitive
from hushtable.models.p_sensitive import PSensitive
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

VALUES = ["HIV", "asthma", "cancer", "flu"]
CATEGORIES = [0, 1, 0, 2]


def serve(models, parents, children, owner, turns=(0, 1, 2, 3)):
    """Serve parents and children given as counts of the four values."""
    model = AllOf.bound_to(models, ("d",))
    counts = np.sum([*parents, *children], axis=0)
    reference = Reference.of(int(counts.sum()), Attribute.of("d", VALUES, counts, categories=CATEGORIES))
    one = np.eye(4, dtype=int)
    kinds = Kinds(np.arange(4), np.ones(4, int), GroupStats.of([1] * 4, d=one), {("d",): np.arange(4)})
    given = np.array(children)
    child, kind = np.nonzero(given)
    families = Families(
        GroupStats.of(np.sum(parents, axis=1), d=parents),
        GroupStats.of(given.sum(axis=1), d=given),
        np.array(owner),
        (child, kind, given[child, kind]),
    )
    return unspecialise(model, reference, model.min_group_size(), kinds, families, np.array(turns))


def moves(moved):
    return sorted((c, VALUES[k], n) for c, k, n in zip(moved.child, moved.kind, moved.count.tolist(), strict=True))


def test_one_record_that_helps_twice_beats_two_that_help_once():
    moved = serve([KAnonymity(k=2), PAlphaSensitive(p=2, alpha=1)], [[0, 0, 1, 0]], [[2, 1, 0, 2]], [0])
    assert moves(moved) == [(0, "flu", 1)]
    assert moved.possible.tolist() == [True]
    assert not moved.dissolved.any()


def test_the_first_value_and_then_the_largest_child():
    moved = serve([PSensitive(p=2)], [[0, 0, 1, 0]], [[1, 1, 0, 1], [1, 2, 0, 1], [1, 2, 0, 1]], [0, 0, 0])
    assert moves(moved) == [(1, "HIV", 1)]


def test_whose_turn_it_is_decides_among_equal_values():
    given = [PSensitive(p=2)], [[0, 0, 1, 0]], [[1, 1, 0, 1], [1, 2, 0, 1], [1, 2, 0, 1]], [0, 0, 0]
    assert moves(serve(*given, turns=(2, 1, 0, 3))) == [(1, "asthma", 1)]
    assert moves(serve(*given, turns=(2, 3, 0, 1))) == [(1, "flu", 1)]


def test_parents_are_served_side_by_side():
    moved = serve(
        [KAnonymity(k=2)], [[1, 0, 0, 0], [0, 1, 0, 0]], [[0, 0, 3, 0], [0, 0, 0, 3], [2, 0, 0, 0]], [0, 1, 1]
    )
    assert moves(moved) == [(0, "cancer", 1), (1, "flu", 1)]


def test_the_smallest_child_goes_back_whole_where_none_can_spare_a_record():
    moved = serve([KAnonymity(k=2)], [[1, 0, 0, 0]], [[0, 2, 0, 0], [0, 0, 2, 0]], [0, 0])
    assert moved.dissolved.tolist() == [True, False]
    assert moves(moved) == []
    assert moved.possible.tolist() == [True]


def test_impossible_beside_an_only_child():
    moved = serve([KAnonymity(k=3)], [[1, 0, 0, 0]], [[0, 4, 0, 0]], [0])
    assert moved.possible.tolist() == [False]


def test_a_child_gives_until_both_hold():
    moved = serve([KAnonymity(k=4)], [[1, 0, 0, 0]], [[0, 7, 0, 0]], [0])
    assert moves(moved) == [(0, "asthma", 3)]


@pytest.mark.parametrize("sign", [1, -1])
def test_adding_groups_reaches_every_statistic(sign):
    def groups(units, population, mass):
        background = Histogram(np.array([0, 1]), np.array([3]), np.array([mass]), 10)
        return GroupStats(np.array([units]), population=np.array([population]), background=background)

    got = add_groups(groups(5, 4, 7), groups(2, 1, 3), sign)
    assert got.units.tolist() == [5 + sign * 2]
    assert got.population.tolist() == [4 + sign]
    assert got.background.units.tolist() == [7 + sign * 3]


def test_only_helpful_candidates_count_unless_none_helps():
    model = AllOf.bound_to([PSensitive(p=2)], ("d",))
    reference = Reference.of(4, Attribute.of("d", VALUES, [1, 1, 1, 1], categories=CATEGORIES))
    one = GroupStats.of([1] * 4, d=np.eye(4, dtype=int))
    kinds = Kinds(np.arange(4), np.ones(4, int), one, {("d",): np.arange(4)})
    groups = GroupStats.of([2, 2], d=[[2, 0, 0, 0], [0, 2, 0, 0]])
    got = helpful(model, reference, kinds, groups, np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert got.tolist() == [False, True, True]


def test_the_prefix_skips_the_step_that_breaks_and_stops_asking():
    asked = []

    def holds(steps):
        asked.append(len(steps))
        return not {3, 5} & set(steps.tolist())

    assert satisfied_prefix(np.arange(8), holds).tolist() == [0, 1, 2, 4, 6, 7]
    asked.clear()
    assert satisfied_prefix(np.arange(1000), lambda steps: asked.append(1) or len(steps) == 0).tolist() == []
    assert len(asked) == CHECKS
