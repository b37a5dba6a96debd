"""k-concealing: crowds of k that overlap, and a draw in which each of k records is equally likely."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.algorithms.concealing.draw import draw_matching
from hushtable.algorithms.concealing.k_concealing import _people, _rings
from hushtable.datasets import patients
from hushtable.errors import IncompatibleError, UsageError
from hushtable.table.coins import Coins

NAMES = ["age", "sex", "country", "diagnosis"]


def policy(*models, **more):
    roles = {"age": "quasi", "sex": "quasi", "country": "quasi", "diagnosis": "sensitive"}
    columns = {name: {"role": role} for name, role in roles.items()}
    return ht.Policy(columns=columns, models=list(models), algorithm="k-concealing", **more)


def k(n):
    return {"k-concealment": {"k": n}}


@settings(max_examples=40)
@given(n=st.integers(3, 12), size=st.integers(2, 7), seed=st.integers(0, 10_000))
def test_a_draw_gives_everybody_one_crowd_of_their_own(n, size, seed):
    size = min(size, n)
    crowds = _rings(np.zeros(n, np.int64), size)
    drawn = draw_matching(crowds, Coins(seed.to_bytes(4, "big")))
    assert sorted(drawn.tolist()) == list(range(n))
    assert all(person in crowd for person, crowd in zip(drawn.tolist(), crowds.tolist(), strict=True))


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_each_of_k_is_equally_likely(size):
    """600 draws: the share of each pair is within four standard errors of 1/k."""
    crowds = _rings(np.array([0] * 7 + [1] * 8), size)
    draws = 600
    seen = Counter()
    for i in range(draws):
        drawn = draw_matching(crowds, Coins(f"{size} {i}".encode()))
        seen.update(zip(range(15), drawn.tolist(), strict=True))
    shares = [seen[crowd, person] / draws for crowd in range(15) for person in crowds[crowd].tolist()]
    assert len(seen) == 15 * size
    assert np.abs(np.array(shares) - 1 / size).max() < 4 * np.sqrt(1 / size * (1 - 1 / size) / draws)


def test_people_take_the_places_of_their_tuples():
    tuples = np.array([0, 0, 0, 1, 1])
    crowds = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 1, 1]])
    people = _people(crowds, tuples, np.array([3, 2]))
    assert np.bincount(people.ravel()).tolist() == [3] * 5
    assert all(len(set(row)) == 3 for row in people.tolist())
    assert (tuples[people] == crowds).all()


@pytest.fixture(scope="module")
def release():
    return ht.anonymize(patients(240).select(NAMES), policy(k(4)))


def test_less_is_lost_than_with_the_classes_that_it_begins_with(release):
    classes = policy(k(4), cells="sets").changed(algorithm="mondrian")
    plain = ht.anonymize(patients(240).select(NAMES), classes)
    assert release.verification.ok and release.n_suppressed == 0
    assert release.measure("ncp") < 0.8 * plain.measure("ncp")


def test_everybody_is_in_a_crowd_of_k(release):
    offsets, rows = release.partition.crowds
    crowds = rows.reshape(-1, 4)
    assert (np.diff(offsets) == 4).all() and (np.bincount(rows) == 4).all()
    assert all(len(set(crowd)) == 4 for crowd in crowds.tolist())
    assert all(record in crowd for record, crowd in enumerate(crowds.tolist()))


def test_the_adversary_who_makes_the_crowds_again_is_right_once_in_k(release):
    """The record whose crowd is built around a person is that person's in about one of four cases."""
    crowds = np.sort(release.partition.crowds[1].reshape(-1, 4), axis=1)
    first = np.count_nonzero(crowds[:, 0] == np.arange(240)) / 240
    assert first < 0.45


def test_the_order_of_rows_does_not_matter(release):
    table = patients(240).select(NAMES)
    again = ht.anonymize(table.take(pa.array(np.arange(240)[::-1])), policy(k(4)))
    assert again.table.equals(release.table)


def test_everybody_has_records_with_l_values():
    found = ht.anonymize(patients(240).select(NAMES), policy(k(4), {"distinct-l": {"l": 3}}))
    assert found.verification.ok and found.verification.classes > 120
    assert [e.achieved for e in found.verification.evidence] == [4, 3]


def test_classes_are_published_where_nobody_can_change_places():
    """All people are alike, and one of six has another value: of most draws somebody sees one value alone."""
    people = pa.table({"age": [30] * 6, "ill": ["flu"] * 5 + ["HIV"]})
    rules = ht.Policy(
        quasi=["age"], sensitive=["ill"], models=[k(2), {"distinct-l": {"l": 2}}], algorithm="k-concealing"
    )
    found = ht.anonymize(people, rules)
    assert found.verification.ok and found.verification.classes == 1


def test_what_it_refuses():
    with pytest.raises(IncompatibleError, match=r"judges classes of equal ones.*k-concealment"):
        policy({"k-anonymity": {"k": 4}}).plan()
    with pytest.raises(IncompatibleError, match="t-closeness"):
        policy(k(4), {"t-closeness": {"t": 0.3}}).plan()
    with pytest.raises(IncompatibleError, match="downcoding would change it"):
        policy(k(4), guard=["downcoding"]).plan()
    with pytest.raises(IncompatibleError, match="matches people to records one by one"):
        ht.Policy(identifiers=["who"], quasi=["age"], models=[k(2)], algorithm="k-concealing", entity="who").plan()


def test_attacks_beside_classes(release):
    """Linking by cells is right for about one in k, as with classes; there are no classes to replay worlds in."""
    assert release.attack("linkage").rate < 0.4
    with pytest.raises(UsageError, match="k-concealing makes none"):
        release.attack("known-algorithm")
