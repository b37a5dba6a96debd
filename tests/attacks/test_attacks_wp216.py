"""Singling out, linkability and membership."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import people, policy

import hushtable as ht
from hushtable.attacks import linkability, singling_out
from hushtable.attacks.linkage import lowest
from hushtable.attacks.matching import match_chunks
from hushtable.attacks.people import People
from hushtable.attacks.singling_out import isolation
from hushtable.attacks.view import View
from hushtable.errors import UsageError


def test_unique_values_in_a_class_single_out():
    table = people(300).set_column(2, "disease", pa.array([f"d{i}" for i in range(300)]))
    result = ht.anonymize(table, policy([ht.KAnonymity(k=5)])).attack("singling-out")
    assert result.targets == 300 and result.rate == 1.0 and result.baseline < 0.4


def test_one_value_for_all_singles_nobody_out():
    table = people(300, diseases=["Flu"])
    result = ht.anonymize(table, policy([ht.KAnonymity(k=5)])).attack("singling-out")
    assert result.targets == result.successes == 0 and result.rate == result.baseline == 0.0


def test_a_suppressed_person_who_fits_spoils_the_description():
    """Cells cover people who are not released: who fits is counted over the original."""
    release = ht.anonymize(people(200), policy([ht.KAnonymity(k=5)]))
    result = release.attack("singling-out")
    classes: dict = {}
    for row in release.table.to_pylist():
        classes.setdefault((row["age"], row["zip"]), []).append(row["disease"])
    once = sum(values.count(v) == 1 for values in classes.values() for v in set(values))
    assert result.targets == result.successes == once


def test_isolation_is_never_more_likely_than_one_in_e():
    weight = np.linspace(0, 1, 1001)
    assert isolation(weight, 50).max() < 0.38
    assert isolation(np.array([1 / 50]), 50)[0] == pytest.approx((1 - 1 / 50) ** 49)


def test_small_classes_link_two_tables():
    generator = np.random.default_rng(1)
    age = generator.permutation(np.arange(20, 80))
    table = pa.table({"age": age, "zip": 1000 * age, "disease": ["Flu"] * 60})
    result = ht.anonymize(table, policy([ht.KAnonymity(k=2)], cells="intervals")).attack("linkability")
    assert result.counts["expected links"] >= 60 / 3 and result.rate > 10 * result.baseline


def test_one_class_links_nothing():
    result = ht.anonymize(people(200), policy([ht.KAnonymity(k=200)])).attack("linkability")
    assert result.counts["expected links"] == pytest.approx(1.0) and result.interval[0] <= result.baseline


def test_linkability_needs_two_tables():
    release = ht.anonymize(people(20), policy([ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match="'disease' is not one"):
        release.attack("linkability", first=["disease"])
    with pytest.raises(UsageError, match="for the second table"):
        release.attack("linkability", first=["age", "zip"])
    one = ht.anonymize(people(20).select(["age"]), ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match="needs two quasi-identifiers"):
        one.attack("linkability")


def test_tight_cells_tell_members():
    everybody = people(800, seed=2)
    release = ht.anonymize(everybody.slice(0, 400), policy([ht.KAnonymity(k=2)]))
    result = release.attack("membership", control=everybody.slice(400))
    assert result.interval[0] > 0.55 and result.baseline == 0.5


def test_one_class_tells_no_member():
    everybody = people(800, seed=2, diseases=["Flu"])
    wide = ht.anonymize(everybody.slice(0, 400), policy([ht.KAnonymity(k=400)], cells="nodes"))
    result = wide.attack("membership", control=everybody.slice(400))
    assert result.interval[0] <= 0.5 <= result.interval[1]


def test_membership_needs_outsiders():
    release = ht.anonymize(people(20), policy([ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match="needs people who are not in the release") as caught:
        release.attack("membership")
    assert caught.value.code == "no-control"


def test_descriptions_fit_whom_everybody_compared_with_every_class_says(monkeypatch):
    """The slow way: all people, all classes."""
    monkeypatch.setattr(singling_out, "_AT_ONCE", 64)  # several pieces
    view = View.of(ht.anonymize(people(300), policy([ht.KAnonymity(k=5)])))
    column = view.table.sensitive[0]
    histogram = view.histogram(column)
    has = np.asarray(column.codes, dtype=np.int64)
    everybody = People.of_rows(view, np.arange(view.table.n_sample))
    inside = np.concatenate([part for _, part in match_chunks(view, everybody)])
    slow = [int((inside[:, g] & (has == v)).sum()) for g, v in zip(histogram.groups, histogram.values, strict=True)]
    assert singling_out._fitting(view, histogram.groups, histogram.values, has).tolist() == slow


def test_the_lowest_numbers_are_those_of_a_stable_sort():
    numbers = np.random.default_rng(0).integers(0, 50, 200)
    for n in (1, 2, 10, 199, 200, 300):
        assert lowest(numbers, n).tolist() == np.sort(np.argsort(numbers, kind="stable")[:n]).tolist()


def test_classes_in_pieces_link_as_all_at_once(monkeypatch):
    release = ht.anonymize(people(300), policy([ht.KAnonymity(k=5)]))
    once = release.attack("linkability")
    monkeypatch.setattr(linkability, "_AT_ONCE", 3)
    assert release.attack("linkability") == once
