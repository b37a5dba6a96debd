"""The kernel estimate against loops over people and columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets import patients
from hushtable.errors import DataError
from hushtable.table import kernel_estimate
from hushtable.table.encode import encode
from hushtable.table.kernel_estimate import estimate
from hushtable.table.plan import SideTables

TREE = {"Europe": ["Spain", "Italy"], "Asia": ["Japan", "India"]}
TABLE = pa.table(
    {
        "age": [20, 25, 40, None, 60, 60],
        "country": ["Spain", "Italy", "Japan", "Spain", "India", "India"],
        "disease": ["flu", "flu", "gout", "cold", "gout", "cold"],
    }
)


def policy(**more):
    quasi = {"age": {"kind": "numeric"}, "country": {"hierarchy": {"tree": TREE}}}
    return ht.Policy(quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=2)], **more)


def distance(name, one, other):
    if one == other:
        return 0.0
    if one is None or other is None:
        return 1.0
    if name == "age":
        return abs(one - other) / 40
    # leaf, continent, root: half way up, or all the way
    return 0.5 if any({one, other} <= set(leaves) for leaves in TREE.values()) else 1.0


def slow(bandwidth):
    """Nadaraya and Watson's estimate, person by person."""
    people = TABLE.to_pylist()
    out = []
    for me in people:
        weights = [
            np.prod([max(1 - (distance(n, me[n], you[n]) / bandwidth) ** 2, 0.0) for n in ("age", "country")])
            for you in people
        ]
        out.append([sum(w for w, you in zip(weights, people, strict=True) if you["disease"] == d) / sum(weights)
                    for d in ("cold", "flu", "gout")])  # fmt: skip
    return np.array(out)


@pytest.mark.parametrize("bandwidth", [0.1, 0.6, 1.0, 3.0])
def test_it_equals_the_slow_one(bandwidth):
    encoded = encode(TABLE, policy().plan().table)
    found = estimate(encoded, "disease", [0.3, bandwidth])
    assert found.prior[1][found.of_row] == pytest.approx(slow(bandwidth))
    assert found.people.tolist() == np.bincount(found.of_row).tolist()


def test_chunks_and_looked_up_kernels_change_nothing(monkeypatch):
    encoded = encode(TABLE, policy().plan().table)
    whole = estimate(encoded, "disease", [0.7]).prior
    monkeypatch.setattr(kernel_estimate, "_CHUNK", 1)
    assert np.array_equal(estimate(encoded, "disease", [0.7]).prior, whole)
    monkeypatch.setattr(kernel_estimate, "_SMALL", 4)
    assert np.array_equal(estimate(encoded, "disease", [0.7]).prior, whole)


def test_the_rows_that_travel_hold_the_estimate():
    plan = policy().plan()
    encoded = encode(TABLE, plan.table, SideTables(background_on="disease", bandwidths=(0.3, 0.7)))
    found = estimate(encoded, "disease", [0.3, 0.7])
    rows = np.arange(encoded.background_rows.start, encoded.background_rows.stop)
    mass = encoded.background_mass / encoded.background_unit
    assert mass.sum() == pytest.approx(1)
    joint = np.zeros((len(found.first), 2, 3))
    np.add.at(joint.reshape(-1), encoded.background_codes, mass)
    expected = np.moveaxis(found.prior, 0, 1) * (found.people / 12)[:, None, None]
    assert joint == pytest.approx(expected)
    for column in encoded.quasi:
        assert np.array_equal(column.codes[rows], column.codes[found.first[encoded.background_codes // 6]])
    assert not encoded.row_units[rows].any()


def test_only_those_who_are_asked_about():
    encoded = encode(TABLE, policy().plan().table)
    whole, some = (estimate(encoded, "disease", [0.7], wanted) for wanted in (None, np.arange(6) < 2))
    asked = np.unique(whole.of_row[:2])
    assert np.array_equal(some.prior[0][asked], whole.prior[0][asked])
    assert some.prior.sum() == pytest.approx(2)


def test_people_with_several_rows_count_once():
    table = TABLE.append_column("person", pa.array(["a", "b", "c", "d", "e", "e"]))
    plan = policy(identifiers=["person"], entity="person").plan()
    encoded = encode(table, plan.table)
    assert estimate(encoded, "disease", [0.5]).people.sum() == pytest.approx(5)


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(kernel_estimate, "MOST_COMBINATIONS", 4)
    with pytest.raises(DataError, match="compares 5 combinations of quasi-identifiers with all 5") as caught:
        estimate(encode(TABLE, policy().plan().table), "disease", [0.5])
    assert caught.value.code == "too-many-combinations"


def test_the_order_of_rows_changes_no_release():
    people = patients(120, seed=3).select(["age", "sex", "diagnosis"])
    rules = ht.Policy(
        quasi=["age", "sex"], sensitive=["diagnosis"],
        models=[ht.KAnonymity(k=4), ht.BTPrivacy(b=0.4, t=0.4)], suppression=0.1,
    )  # fmt: skip
    turned = people.take(pa.array(np.arange(120)[::-1]))
    assert ht.anonymize(people, rules).table.equals(ht.anonymize(turned, rules).table)
