"""Advice on a refused release: every change that is named would be accepted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets import patients
from hushtable.ledger import ledger as advising
from hushtable.ledger.ledger import Ledger


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "releases.ledger")


def people(first, last):
    names = ["patient_id", "age", "sex", "diagnosis"]
    return patients(400).select(names).slice(first, last - first)


def policy(**more):
    return ht.Policy(
        identifiers=["patient_id"], quasi=["age", "sex"], sensitive=["diagnosis"],
        models=[ht.KAnonymity(k=5), ht.DistinctL(l=3, on="diagnosis")], **more,
    )  # fmt: skip


def test_one_newcomer_waits(book):
    book.add(ht.anonymize(people(0, 390), policy()))
    verdict = book.check(ht.anonymize(people(0, 391), policy()))
    assert not verdict.ok
    assert verdict.advice[0] == "Leaving 1 person who came for a release with more newcomers would be accepted."
    assert "m-invariance" in verdict.advice[-1]


def test_classes_are_merged(book):
    book.add(ht.anonymize(people(0, 390), policy()))
    verdict = book.check(ht.anonymize(people(0, 400), policy()))
    assert any(line.startswith("Merging ") for line in verdict.advice)


def test_a_column_is_left_out(book):
    """By the weight everybody's row is known again."""
    columns = {"who": {"role": "identifier"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    rules = ht.Policy(
        columns={**columns, "weight": {"role": "insensitive"}}, models=[ht.DistinctL(l=2, on="ill")],
        algorithm={"optimal": {"fixed": {"age": 0}}},
    )  # fmt: skip

    def table(ages):
        ill = ["flu", "HIV", "flu", "HIV"]
        return pa.table({"who": list("PQRS"), "age": ages, "ill": ill, "weight": [70, 80, 90, 60]})

    book.add(ht.anonymize(table([1, 1, 2, 2]), rules))
    verdict = book.check(ht.anonymize(table([1, 2, 2, 1]), rules))
    assert not verdict.ok and "Without the column 'weight' it would be accepted." in verdict.advice


def test_several_columns_that_link_rows_are_named(book):
    """Each of the two would do to find everybody's row again, so leaving out one of them is not enough."""
    columns = {"who": {"role": "identifier"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    columns |= {"weight": {"role": "insensitive"}, "height": {"role": "insensitive"}}
    rules = ht.Policy(
        columns=columns, models=[ht.DistinctL(l=2, on="ill")], algorithm={"optimal": {"fixed": {"age": 0}}}
    )

    def table(ages):
        ill, size = ["flu", "HIV", "flu", "HIV"], [1, 2, 3, 4]
        return pa.table({"who": list("PQRS"), "age": ages, "ill": ill, "weight": size, "height": size})

    book.add(ht.anonymize(table([1, 1, 2, 2]), rules))
    verdict = book.check(ht.anonymize(table([1, 2, 2, 1]), rules))
    assert not verdict.ok
    assert "Without the columns 'height' and 'weight' it would be accepted." in verdict.advice
    assert not any("the column '" in line for line in verdict.advice)
    assert "but not while 'height' and 'weight' reveal which rows are the same" in verdict.advice[-1]


def test_nothing_is_tried_for_very_large_releases(book, monkeypatch):
    monkeypatch.setattr(advising, "_MOST", 10)
    book.add(ht.anonymize(people(0, 390), policy()))
    verdict = book.check(ht.anonymize(people(0, 391), policy()))
    assert verdict.advice[0].startswith("Publish the same classes")


def test_advice_is_said_with_the_refusal(book):
    book.add(ht.anonymize(people(0, 390), policy()))
    with pytest.raises(ht.errors.VerificationError) as caught:
        book.add(ht.anonymize(people(0, 391), policy()))
    assert "would be accepted" in caught.value.hint
    assert not np.any([name in str(caught.value) for name in people(0, 391)["patient_id"].to_pylist()])
