"""Singling out, linkability and membership."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support_attacks import people, policy

import hushtable as ht
from hushtable.attacks.singling_out import isolation
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
    with pytest.raises(UsageError, match="'disease' is none"):
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
