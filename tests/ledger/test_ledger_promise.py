"""Promises of earlier releases: sealed, opened, and kept by later ones."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.ledger.entry import Entry
from hushtable.ledger.ledger import Ledger
from hushtable.ledger.promise import opened

PEOPLE = {"who": list("abcdefgh"), "age": [20, 21, 22, 23, 60, 61, 62, 63]}
ILL = ["HIV", "flu", "gout", "flu", "HIV", "flu", "gout", "gout"]


def release(ages, ill=ILL, **more):
    settings = {"models": [ht.KAnonymity(k=2)], "sensitive": ["ill"], **more}
    table = pa.table({**PEOPLE, "age": ages, "ill": ill})
    return ht.anonymize(table, ht.Policy(identifiers=["who"], quasi=["age"], **settings))


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "releases.ledger")


CATEGORIES = {"secret": ["HIV"], "open": ["flu", "gout"]}


@pytest.mark.parametrize(
    "model",
    [ht.AlphaK(alpha=0.6, k=2, only=["HIV"], on="ill"), ht.TCloseness(t=0.6, on="ill"), ht.PSensitive(p=2, on="ill")],
)
def test_what_was_promised_is_read_back(book, model):
    made = release(PEOPLE["age"], models=[model], sensitive={"ill": {"categories": CATEGORIES}})
    book.add(made, name="spring")
    key, entries = book.opened()
    (promise,) = opened(entries, key)
    assert promise.name == "spring" and promise.model == made.model
    attribute = promise.reference.attribute(("ill",))
    assert attribute.labels == tuple(made.reference.attribute(("ill",)).labels)
    assert np.array_equal(attribute.categories, made.reference.attribute(("ill",)).categories)
    assert np.array_equal(
        model.score(made.verification.stats, promise.reference), model.score(made.verification.stats, made.reference)
    )


def test_no_value_is_in_the_file(book):
    # long enough not to occur by chance in the seal, which is random text
    ill = [f"{value} of the lungs" for value in ILL]
    book.add(release(PEOPLE["age"], ill, models=[ht.AlphaK(alpha=0.6, k=2, only=["HIV of the lungs"], on="ill")]))
    text = book.path.read_text()
    assert "of the lungs" not in text and "HIV of" not in text and "alpha-k" not in text


def test_k_anonymity_alone_does_not_break_what_diversity_promised(book):
    book.add(release(PEOPLE["age"], models=[ht.KAnonymity(k=4), ht.DistinctL(l=3, on="ill")]), name="spring")
    verdict = book.check(release([20, 60, 61, 62, 21, 63, 22, 23]))
    assert {f.promised for f in verdict.findings if f.model == "distinct-l"} == {"spring"}


LINE = Entry.line


def old(entry):
    """Entries of 0.1.0 had neither tags nor rows nor promises."""
    data = json.loads(LINE(entry))
    for part in ("tags", "entry_rows", "sealed"):
        del data[part]
    return json.dumps(data, separators=(",", ":"), sort_keys=True).encode()


def test_ledgers_of_before_are_read_and_continued(book, monkeypatch):
    monkeypatch.setattr(Entry, "line", old)
    first = release(PEOPLE["age"], models=[ht.KAnonymity(k=4), ht.DistinctL(l=3, on="ill")])
    book.add(first)
    monkeypatch.undo()
    (entry,) = book.entries()
    assert not len(entry.tags) and not entry.sealed
    assert book.check(first).already == "release 1"
    assert book.add(release(PEOPLE["age"], models=[ht.KAnonymity(k=2)])).known == 8
    with pytest.raises(ht.errors.VerificationError):
        book.add(release([20, 60, 61, 62, 21, 63, 22, 23], models=[ht.KAnonymity(k=4)]))
    assert len(book.entries()) == 2


def test_spellings_of_before_are_the_same_people(book, monkeypatch):
    monkeypatch.setattr(Entry, "line", old)
    monkeypatch.setattr("hushtable.ledger.spelling.plain", lambda text, **_: text.strip())
    padded = pa.table({**PEOPLE, "who": [f"0{i}" for i in range(8)], "ill": ILL})
    rules = ht.Policy(identifiers=["who"], quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=4)])
    book.add(ht.anonymize(padded, rules))
    monkeypatch.undo()
    later = padded.set_column(0, "who", pa.array([str(i) for i in range(8)]))
    assert book.check(ht.anonymize(padded, rules)).known == 8
    # who is called 1 now was called 01: 0.1.0 would have taken them for others, and nothing tells that they are not
    assert book.check(ht.anonymize(later, rules)).known == 0
