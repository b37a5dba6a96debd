"""Refining under any model: what a change saves is what recomputing finds, and every group stays satisfied."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.cluster import descent
from hushtable.algorithms.cluster import microaggregation as improving
from hushtable.algorithms.cluster.descent import Grouped, cut_or_pooled, dissolved, exchanged
from hushtable.algorithms.cluster.groups import labels_of, stats_of
from hushtable.algorithms.cluster.microaggregation import improve
from hushtable.algorithms.cluster.space import Space
from hushtable.engines import local
from hushtable.errors import ParameterError
from hushtable.kernels.neighbours import neighbours
from hushtable.kernels.rounds import Processor
from hushtable.kernels.tiles import DeviceLost
from hushtable.models.average_risk import AverageRisk
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_sensitive import PSensitive
from hushtable.models.t_closeness import TCloseness
from hushtable.registry import algorithms
from hushtable.schema.columns import Kind
from support_core import plan_of, quasi, sensitive


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(descent, "HOT_ROUNDS", 120)


COLUMNS = (quasi("x", Kind.NUMERIC), quasi("y", Kind.NUMERIC), sensitive("illness"))
TOGETHER = [KAnonymity(k=3), EntropyL(l=1.7), TCloseness(t=0.5), PSensitive(p=2)]


def people(seed, n=80, values=("a", "b", "c")):
    generator = np.random.default_rng(seed)
    return pa.table(
        {
            "x": generator.normal(size=n).round(1),
            "y": generator.integers(0, 20, n),
            "illness": generator.choice(list(values), n),
        }
    )


def run(table, models, **parameters):
    return local.run(table, plan_of(models, COLUMNS, algorithms.build("mdav", parameters)))


def error(points, labels):
    """The slow twin: every record's squared distance to the mean of its group."""
    return sum(((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels))


@st.composite
def grouped(draw):
    seed, n_groups = draw(st.integers(0, 10**6)), draw(st.integers(1, 6))
    generator = np.random.default_rng(seed)
    labels = np.concatenate([np.repeat(np.arange(n_groups), 2), generator.integers(0, n_groups, 2 * n_groups)])
    points = generator.integers(0, 9, (len(labels), 2)).astype(np.float64)
    units = generator.integers(1, 3, len(labels)) if draw(st.booleans()) else np.ones(len(labels), dtype=np.int64)
    return points, labels, n_groups, units


def moved(now, near, turn, slack=0.0):
    """What a round of moves and swaps proposes."""
    n = len(now.labels)
    return exchanged(now, near[:, turn % near.shape[1]], turn // 2 + np.arange(n), np.full(n, slack))


@given(case=grouped(), turn=st.integers(0, 30), slack=st.sampled_from([0.0, 3.0]))
def test_a_change_saves_what_recomputing_finds(case, turn, slack):
    points, labels, n, units = case
    now = Grouped(points, labels, n, units, needed=2)
    near = neighbours(points, 5)
    for change in [*moved(now, near, turn, slack), *dissolved(now, near, turn), *cut_or_pooled(now, turn)]:
        after = labels.copy()
        after[change.rows] = change.to
        assert change.saved == pytest.approx(error(points, labels) - error(points, after))
        assert change.saved + change.slack > 0
        assert np.bincount(after, weights=units)[np.unique(after)].min() >= 2
        assert {*labels[change.rows].tolist(), *(g for g in change.to.tolist() if g < n)} <= set(change.touched)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_every_round_keeps_four_models_and_lowers_the_loss(seed):
    table = people(seed)
    problem = run(table, TOGETHER).problem
    start = np.asarray(run(table, TOGETHER).partition.labels)
    space = Space.of(problem.table, problem.table.canonical_order)
    labels, n = start[space.rows], int(start.max()) + 1
    near = neighbours(space.points, 8)
    units = np.ones(len(labels), dtype=np.int64)
    for turn in range(6):
        now = Grouped(space.points, labels, n, units, 3)
        for proposed in (moved(now, near, turn), dissolved(now, near, turn), cut_or_pooled(now, turn)):
            after, m, kept = descent._keep(problem, space, labels, n, proposed)
            assert kept == (error(space.points, after) < error(space.points, labels))
            assert problem.model.satisfied(stats_of(problem, space, after, m), problem.reference).all()
            if kept:
                labels, n = after, m
                break


@pytest.mark.parametrize("models", [TOGETHER, [*TOGETHER, AverageRisk(average=0.2)]], ids=["groups", "table"])
def test_the_release_is_verified_no_worse_and_the_same_in_any_order(models):
    table = people(3, 120)
    plain, best = run(table, models), run(table, models, quality="best")
    assert best.verification.ok
    space = Space.of(best.problem.table, best.problem.table.canonical_order)
    before, after = (error(space.points, np.asarray(o.partition.labels)[space.rows]) for o in (plain, best))
    assert after < before
    assert best.partition.notes["error_saved"] == pytest.approx(1 - after / before)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(120)))
    assert run(shuffled, models, quality="best").published.equals(best.published)


def test_heat_leads_further_than_downhill(monkeypatch):
    monkeypatch.setattr(descent, "HOT_ROUNDS", 400)
    table = people(3, 150)
    warm = run(table, TOGETHER, quality="best")
    monkeypatch.setattr(descent, "HOT_ROUNDS", 0)
    cold = run(table, TOGETHER, quality="best")
    assert warm.verification.ok
    assert warm.partition.notes["error_saved"] > cold.partition.notes["error_saved"] + 0.01


def scattered():
    """Two crowds, and a group of two that has one record in each: only dissolving it helps."""
    x = [0.0, 0.1, 0.2, 0.3, 10.0, 10.1, 10.2, 10.3]
    groups = [[0, 1, 2], [4, 5, 6], [3, 7]]
    table = pa.table({"x": x, "y": [0] * 8, "illness": ["a", "b", "a", "b", "a", "b", "a", "b"]})
    problem = local.problem_of(table, plan_of([KAnonymity(k=2), PSensitive(p=2)], COLUMNS))
    space = Space.of(problem.table, problem.table.canonical_order)
    return problem, space, labels_of([np.array(g) for g in groups], 8)


def test_a_group_is_dissolved_under_a_model_that_looks_at_values(monkeypatch):
    problem, space, labels = scattered()
    monkeypatch.setattr(descent, "exchanged", lambda *_: [])
    monkeypatch.setattr(descent, "cut_or_pooled", lambda *_: [])
    found = improve(problem, space, labels, 3, 2)
    assert found.n == 2
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    monkeypatch.setattr(descent, "dissolved", lambda *_: [])
    assert improve(problem, space, labels, 3, 2).n == 3


def test_a_refused_change_makes_room_for_the_next_best():
    problem, space, labels = scattered()
    # the first would leave a group with one value, and touches what the second needs
    bad = descent.Change(9.0, (0, 2), np.array([1]), np.array([2]))
    good = descent.Change(5.0, (2, 0, 1), np.array([3, 7]), np.array([0, 1]))
    after, n, kept = descent._keep(problem, space, labels, 3, [good, bad])
    assert kept
    assert n == 2
    assert after.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("models", [[KAnonymity(k=3)], TOGETHER], ids=["annealed", "descent"])
def test_a_time_limit_that_is_not_reached_changes_nothing(models, monkeypatch):
    monkeypatch.setattr(improving, "STEPS_EACH", 400)
    table = people(5)
    free, limited = run(table, models, quality="best"), run(table, models, quality="best", refine_seconds=3600.0)
    assert limited.published.equals(free.published)
    assert limited.partition.notes["stopped_by_time"] is False
    assert "stopped_by_time" not in free.partition.notes


@pytest.mark.parametrize("models", [[KAnonymity(k=3)], TOGETHER], ids=["annealed", "descent"])
def test_a_time_limit_stops_early_says_so_and_keeps_the_promise(models, monkeypatch):
    monkeypatch.setattr(improving, "STEPS_EACH", 30_000)
    table = people(5)
    begin = time.monotonic()
    outcome = run(table, models, quality="best", refine_seconds=1e-6)
    assert time.monotonic() - begin < 20
    assert outcome.partition.notes["stopped_by_time"] is True
    assert outcome.verification.ok
    assert outcome.partition.notes["error_saved"] >= 0


def test_a_time_limit_shortens_the_cooling_instead_of_breaking_it_off(monkeypatch):
    clock = iter(np.arange(0, 1000, 0.5).tolist())
    monkeypatch.setattr(improving.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(improving, "STEPS_EACH", 4000)
    seen = []
    real = improving.anneal

    def spy(*given):
        seen.append((given[5], given[6]))
        return real(*given)

    monkeypatch.setattr(improving, "anneal", spy)
    outcome = run(people(5), [KAnonymity(k=3)], quality="best", refine_seconds=40.0)
    assert outcome.partition.notes["stopped_by_time"] is False
    assert {steps for steps, _ in seen} == {4000 * 80 // improving.CHUNKS}
    seen.clear()
    clock = iter(np.arange(0, 1000, 0.5).tolist())
    monkeypatch.setattr(improving.time, "monotonic", lambda: next(clock))
    outcome = run(people(5), [KAnonymity(k=3)], quality="best", refine_seconds=25.0)
    assert outcome.partition.notes["stopped_by_time"] is True
    assert min(steps for steps, _ in seen) < 4000 * 80 // improving.CHUNKS
    assert seen[-1][1][1] == 0.0
    assert outcome.partition.notes["error_saved"] > 0


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_a_time_limit_without_refining_is_refused(quality):
    with pytest.raises(ParameterError, match=r"'refine_seconds' .* 'quality: (fast|balanced)' does not"):
        algorithms.build("mdav", {"quality": quality, "refine_seconds": 3.0})


@pytest.fixture
def in_rounds(monkeypatch):
    """Small tables are annealed as large ones are."""
    monkeypatch.setattr(improving, "ROUNDS_FROM", 50)


def test_large_tables_are_annealed_in_rounds(in_rounds):
    table = people(5, n=300)
    plain = run(table, [KAnonymity(k=3)])
    few, more = (run(table, [KAnonymity(k=3)], quality="best", refine_steps=steps) for steps in (60, 1500))
    assert 0 < few.partition.notes["error_saved"] < more.partition.notes["error_saved"]
    assert more.verification.ok and more.measure("sse") < plain.measure("sse")
    assert np.bincount(more.partition.labels).min() >= 3
    again = run(table, [KAnonymity(k=3)], quality="best", refine_steps=60)
    assert again.published.equals(few.published)


def test_a_time_limit_of_rounds(in_rounds):
    outcome = run(people(5, n=300), [KAnonymity(k=3)], quality="best", refine_steps=10**6, refine_seconds=0.5)
    assert outcome.partition.notes["stopped_by_time"] is True and outcome.verification.ok


def test_a_card_that_fails_in_the_middle_changes_nothing(in_rounds, monkeypatch, caplog):
    class Failing(Processor):
        def run(self, first, heats):
            if first:
                raise DeviceLost("The card failed.")
            super().run(first, heats)

    table = people(6, n=200)
    expected = run(table, [KAnonymity(k=3)], quality="best", refine_steps=100)
    monkeypatch.setattr(improving, "rounds_for", Failing)
    found = run(table, [KAnonymity(k=3)], quality="best", refine_steps=100)
    assert found.published.equals(expected.published)
    assert "The card failed. The processor starts again." in caplog.messages


def test_steps_are_set_for_small_tables_too():
    few, more = (run(people(5), [KAnonymity(k=3)], quality="best", refine_steps=steps) for steps in (1, 2000))
    assert few.partition.notes["error_saved"] < more.partition.notes["error_saved"]
    with pytest.raises(ParameterError, match="'refine_steps'"):
        algorithms.build("mdav", {"refine_steps": 5})
