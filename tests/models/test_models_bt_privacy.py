"""(B, t)-privacy: beliefs by hand, the exact posterior, and several points at once."""

from __future__ import annotations

from itertools import permutations
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.errors import IncompatibleError, UsageError
from hushtable.models.bayes_optimal import update_beliefs
from hushtable.models.bt_privacy import belief_distances, divergence, smoothing
from hushtable.table.kernel_estimate import estimate
from hushtable.table.reference import Attribute
from hushtable.table.stats import Histogram

UNIT = 1 << 40


def omega(prior, values):
    """The model's posterior for people of one class with these beliefs, who have these values."""
    people, size = prior.shape
    known = Histogram.from_pairs(
        np.zeros(people * size, dtype=np.int64),
        np.arange(people * size),
        np.rint(prior * UNIT).astype(np.int64).ravel(),
        1,
    )
    counts = Histogram.dense([np.bincount(values, minlength=size)])
    beliefs = update_beliefs(counts, known, size)
    out = np.zeros(prior.shape)
    out[beliefs.quasi, beliefs.value] = beliefs.posterior
    return out


def exact(prior, values):
    """Bayes's rule over all ways to deal the values to the people."""
    out, total = np.zeros(prior.shape), 0.0
    for deal in permutations(values):
        chance = np.prod([prior[p, v] for p, v in enumerate(deal)])
        total += chance
        for p, v in enumerate(deal):
            out[p, v] += chance
    return out / total


def test_three_people_one_of_whom_has_hiv():
    """By hand: two are believed to have it with 0.05, the third with 0.3."""
    prior = np.array([[0.95, 0.05], [0.95, 0.05], [0.7, 0.3]])
    sure = exact(prior, [0, 0, 1])[2, 1]
    assert sure == pytest.approx(0.95**2 * 0.3 / (0.95**2 * 0.3 + 2 * 0.95 * 0.05 * 0.7))
    # one HIV in shares of 0.3 / 0.4, two others in shares of 0.7 / 2.6
    guessed = omega(prior, [0, 0, 1])[2, 1]
    assert guessed == pytest.approx((0.3 / 0.4) / (0.3 / 0.4 + 2 * 0.7 / 2.6))
    assert prior[2, 1] < guessed < sure


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=3), st.lists(st.integers(0, 1), min_size=2, max_size=5))
def test_the_estimate_is_exact_where_all_are_believed_the_same_about(weights, values):
    prior = np.tile(np.array(weights) / sum(weights), (len(values), 1))
    assert omega(prior, values) == pytest.approx(exact(prior, values), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_estimate_is_near_the_exact_posterior(data):
    """Not equal: it shares each value out on its own, and can be further off than what was believed before.

    In 30,000 random cases that was by at most 0.032, while the errors were 0.05 and 0.33 on average.
    """
    people = data.draw(st.integers(2, 4))
    prior = np.array(
        data.draw(st.lists(st.lists(st.integers(2, 9), min_size=2, max_size=2), min_size=people, max_size=people))
    )
    prior = prior / prior.sum(axis=1, keepdims=True)
    values = data.draw(st.lists(st.integers(0, 1), min_size=people, max_size=people))
    true = exact(prior, values)
    assert np.abs(omega(prior, values) - true).max() <= np.abs(prior - true).max() + 0.05


def test_divergence_by_hand():
    one, other = np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]])
    middle = [0.375, 0.625]
    expected = sum(p * log2(p / m) for p, m in zip([0.5, 0.5], middle, strict=True)) / 2
    expected += sum(p * log2(p / m) for p, m in zip([0.25, 0.75], middle, strict=True)) / 2
    assert divergence(one, other)[0] == pytest.approx(expected)


def test_smoothing_makes_similar_values_closer():
    grade = Attribute.of("grade", ["1", "2", "3"], [1, 1, 1], ordered=True)
    spread = smoothing(grade, 0.9)
    near, far = (np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])), (np.array([[1.0, 0.0, 0.0]]), np.eye(3)[2:])
    assert divergence(*near)[0] == divergence(*far)[0] == 1.0
    closer, apart = (divergence(*(part @ spread.T for part in pair))[0] for pair in (near, far))
    assert closer < apart
    labels = Attribute.of("disease", ["a", "b"], [1, 1])
    assert smoothing(labels, 1.0).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def table(n=80):
    """Young people have acne or flu, old ones gout or flu, in runs of four that are alike."""
    age, run = np.arange(n) % 40 + 20, np.arange(n) % 40 // 4
    disease = np.where(run % 2 == 0, "flu", np.where(age < 40, "acne", "gout"))
    return pa.table({"age": age, "disease": disease})


def recounted(release, b, smooth=None):
    """The greatest distance, class by class and person by person."""
    encoded = release.encoded
    found = estimate(encoded, "disease", [b])
    prior, codes = found.prior[0][found.of_row], encoded.sensitive[0].codes[: encoded.n_sample].astype(int)
    labels, worst = release.recoded.labels[: encoded.n_sample], 0.0
    for group in np.unique(labels[labels >= 0]):
        rows = np.flatnonzero(labels == group)
        post = omega(prior[rows], codes[rows])
        before, after = prior[rows], post
        if smooth is not None:
            before, after = before @ smooth.T, after @ smooth.T
            before, after = (part / part.sum(axis=1, keepdims=True) for part in (before, after))
        worst = max(worst, divergence(before, after).max())
    return worst


def rules(*points, **more):
    return ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=4), *points], **more)


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "datafly"])
def test_a_release_keeps_to_every_point_of_the_skyline(algorithm):
    from hushtable import registry

    points = [ht.BTPrivacy(b=0.2, t=0.3), ht.BTPrivacy(b=0.9, t=0.2)]
    release = ht.anonymize(table(), rules(*points, algorithm=registry.algorithms.build(algorithm, None)))
    for point, evidence in zip(points, release.verification.evidence[1:], strict=True):
        assert evidence.achieved <= point.t + 1e-9
        assert evidence.achieved == pytest.approx(recounted(release, point.b), abs=1e-6)


def test_k_anonymity_alone_does_not():
    release = ht.anonymize(table(), rules())
    assert recounted(release, 0.9) > 0.25
    assert release.attack("kernel-prior", b=0.9).counts["greatest distance"] == pytest.approx(
        recounted(release, 0.9), abs=1e-6
    )


def test_smoothed_distances_are_verified():
    tree = {"hierarchy": {"tree": {"skin": ["acne"], "inside": ["flu", "gout"]}}}
    policy = ht.Policy(
        quasi=["age"], sensitive={"disease": tree},
        models=[ht.KAnonymity(k=4), ht.BTPrivacy(b=0.3, t=0.3, smooth=0.9)],
    )  # fmt: skip
    release = ht.anonymize(table(), policy)
    spread = smoothing(release.reference.attribute(("disease",)), 0.9)
    assert spread[0, 1] > 0 == spread[1, 2]
    achieved = release.verification.evidence[1].achieved
    assert achieved == pytest.approx(recounted(release, 0.3, spread), abs=1e-6)
    assert achieved < recounted(release, 0.3)


def test_a_contradicted_belief_is_as_far_as_it_gets():
    # the first person cannot have value 1, which is all that is there; a value that nobody was believed to have
    known = Histogram.dense([[1, 0, 1, 1]])
    group, moved = belief_distances(update_beliefs(Histogram.dense([[0, 2]]), known, 2), 2)
    assert group.tolist() == [0, 0] and moved[0] == 1.0


def test_refusals():
    with pytest.raises(IncompatibleError, match="about one sensitive column"):
        ht.Policy(quasi=["age"], sensitive=["disease", "job"], models=[ht.BTPrivacy(b=0.3, t=0.2)])
    with pytest.raises(IncompatibleError, match="background table would not be used"):
        rules(ht.BTPrivacy(b=0.3, t=0.2), background={"file": "beliefs.csv", "on": "disease"})
    with pytest.raises(IncompatibleError, match="needs the policy's background table"):
        rules(ht.BTPrivacy(b=0.3, t=0.2), ht.BayesOptimal(theta=0.2, background=True))


def test_a_saved_release_is_verified_beside_its_original(tmp_path):
    release = ht.anonymize(table(), rules(ht.BTPrivacy(b=0.3, t=0.3)))
    release.save(tmp_path / "release")
    again = ht.open_release(tmp_path / "release", table())
    assert again.verify().ok
    with pytest.raises(UsageError, match="bt-privacy can only be verified with the original") as caught:
        ht.open_release(tmp_path / "release").verify()
    assert caught.value.code == "needs-input"
