"""Adversaries with background knowledge: models that bound it leave them nothing, others do not."""

from __future__ import annotations

import numpy as np
import pytest
from support_attacks import correlated, people, policy

import hushtable as ht
from hushtable.attacks import kernel_prior
from hushtable.attacks.implications import believed
from hushtable.attacks.view import View
from hushtable.models.ck_safety import CKSafety
from hushtable.models.privacy_skyline import PrivacySkyline
from hushtable.table.stats import GroupStats, Histogram


@pytest.mark.parametrize(
    ("model", "attack", "knows"),
    [
        (CKSafety(c=0.6, k=2), "implications", {"k": 2}),
        (PrivacySkyline(c=0.6, l=1, k=1, m=1), "skyline-knowledge", {"l": 1, "k": 1, "m": 1}),
        (PrivacySkyline(c=0.6, l=2), "skyline-knowledge", {"l": 2, "k": 0, "m": 0}),
    ],
)
def test_a_bounded_release_gives_nobody_away(model, attack, knows):
    plain = ht.anonymize(people(300), policy([ht.KAnonymity(k=4)])).attack(attack, confidence=0.6, **knows)
    safe = ht.anonymize(people(300), policy([ht.KAnonymity(k=4), model])).attack(attack, confidence=0.6, **knows)
    assert plain.rate > plain.baseline == 0.0
    assert safe.rate == 0.0 and safe.counts["greatest belief"] < 0.6


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_no_true_implications_tell_more_than_the_model_allows(k):
    rng = np.random.default_rng(k)
    rows = rng.integers(0, 5, (6, 5))
    histogram = Histogram.dense(rows)
    groups = GroupStats(rows.sum(axis=1), histograms={("disease",): histogram})
    worst = CKSafety(c=0.5, k=k, on="disease").score(groups, None)  # type: ignore[arg-type]
    belief = histogram.max(believed(histogram, k))
    assert (belief <= worst + 1e-12).all()
    # the most frequent value of the worst class is as believable as that
    assert belief.max() == pytest.approx(worst.max())


def test_more_knowledge_tells_more():
    release = ht.anonymize(people(300), policy([ht.KAnonymity(k=8)]))
    found = [release.attack("implications", k=k).counts["greatest belief"] for k in (0, 1, 2)]
    assert found == sorted(found) and found[0] < found[2]
    for piece in ("l", "k", "m"):
        nothing = {"l": 0, "k": 0, "m": 0}
        less, more = (release.attack("skyline-knowledge", **{**nothing, piece: n}) for n in (0, 2))
        assert less.counts["greatest belief"] < more.counts["greatest belief"]


def test_the_release_tells_more_than_a_wide_kernel_and_less_than_a_narrow_one():
    release = ht.anonymize(correlated(600), policy([ht.KAnonymity(k=5)]))
    wide = release.attack("kernel-prior", b=5.0)
    assert wide.targets == 600 and wide.rate > wide.baseline + 0.1
    bounded = policy([ht.KAnonymity(k=5), ht.BTPrivacy(b=5.0, t=0.02)])
    safe = ht.anonymize(correlated(600), bounded).attack("kernel-prior", b=5.0)
    assert safe.counts["greatest distance"] <= 0.02 < wide.counts["greatest distance"]
    assert safe.lift < wide.lift


def test_whole_classes_are_drawn():
    release = ht.anonymize(people(300), policy([ht.KAnonymity(k=5)]))
    few = release.attack("kernel-prior", targets=40)
    assert 40 <= few.targets < 80
    sizes = View.of(release).sizes
    assert few.targets < 40 + sizes.max()
    assert few == release.attack("kernel-prior", targets=40)


def test_fewer_people_of_a_large_table_are_attacked(monkeypatch):
    release = ht.anonymize(people(300), policy([ht.KAnonymity(k=5)]))
    monkeypatch.setattr(kernel_prior, "_WORK", 300 * 50)
    monkeypatch.setattr(kernel_prior, "_FEWEST", 20)
    few = release.attack("kernel-prior")
    assert 50 <= few.targets < 50 + View.of(release).sizes.max()
    assert few == release.attack("kernel-prior", targets=50)
