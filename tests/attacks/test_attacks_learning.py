"""Attacks that learn across classes: inference and deFinetti."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import correlated, people, policy

import hushtable as ht
from hushtable.api import run_plan
from hushtable.errors import UsageError
from support_core import Given


def test_inference_learns_a_planted_rule():
    result = ht.anonymize(correlated(800), policy([ht.KAnonymity(k=5)])).attack("inference")
    assert result.rate > 0.8 and result.baseline < 0.2
    # a rule holds for outsiders as well
    assert result.control > 0.8


@pytest.mark.parametrize("classifier", ["tree", "logistic"])
def test_inference_learns_nothing_from_one_class(classifier):
    table = people(400)
    result = ht.anonymize(table, policy([ht.KAnonymity(k=400)])).attack("inference", classifier=classifier)
    assert result.rate == pytest.approx(result.baseline)


def test_inference_needs_values():
    table = pa.table({"age": [1, 2], "zip": [1, 2], "disease": pa.array([None, None], pa.string())})
    release = ht.anonymize(table, policy([ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match="needs known values"):
        release.attack("inference")


def smokers(n_classes: int, size: int, seed: int, honest: bool):
    """Classes of people with one published age each; cancer follows smoking, or nothing."""
    generator = np.random.default_rng(seed)
    share = generator.uniform(0.1, 0.9, n_classes)
    group = np.repeat(np.arange(n_classes), size)
    smoker = generator.uniform(size=len(group)) < share[group]
    ill = smoker if honest else generator.uniform(size=len(group)) < share[group]
    table = pa.table(
        {
            "age": group,
            "smoker": np.where(smoker, "yes", "no"),
            "disease": np.where(ill, "cancer", "flu"),
        }
    )
    plan = ht.Policy(quasi=["age", "smoker"], sensitive=["disease"], models=[ht.KAnonymity(k=2)]).plan()
    return run_plan(table, replace(plan, algorithm=Given(labels=tuple(group.tolist()))))


def test_definetti_beats_random_worlds_where_classes_tell():
    result = smokers(60, 8, seed=3, honest=True).attack("definetti")
    assert result.rate > 0.95 > 0.8 > result.baseline


def test_definetti_gains_nothing_where_they_do_not():
    result = smokers(60, 8, seed=3, honest=False).attack("definetti")
    assert result.rate <= result.baseline + 0.02


def test_definetti_refuses_what_it_cannot_hold(monkeypatch):
    from hushtable.attacks import definetti

    monkeypatch.setattr(definetti, "_MOST_PAIRS", 10)
    with pytest.raises(UsageError, match="too many"):
        ht.anonymize(people(50), policy([ht.KAnonymity(k=10)])).attack("definetti")


def test_inference_on_more_records_than_its_targets_says_how_many_it_saw():
    release = ht.anonymize(correlated(800), policy([ht.KAnonymity(k=5)]))
    some, all_of_them = release.attack("inference", targets=300), release.attack("inference", targets=800)
    assert some.targets == some.counts["records sampled"] == 300
    assert all_of_them == release.attack("inference") and "records sampled" not in all_of_them.counts
    assert abs(some.rate - all_of_them.rate) < 0.1
    width = [high - low for low, high in (some.interval, all_of_them.interval)]
    assert width[0] > width[1]


def test_the_sample_does_not_depend_on_the_order_of_records():
    table = correlated(800)
    shuffled = table.take(np.random.default_rng(3).permutation(800))
    releases = [ht.anonymize(t, policy([ht.KAnonymity(k=5)])) for t in (table, shuffled)]
    one, other = (release.attack("inference", targets=300) for release in releases)
    assert one == other
