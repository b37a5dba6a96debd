"""A ledger accepts linked tables of new people alone: what cannot be judged is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import DataError, UsageError, VerificationError
from hushtable.ledger.ledger import Ledger
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked

POLICY = LinkedPolicy(
    tables={
        "people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
        "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}},
    },
    knows=1, models=[{"k-anonymity": {"k": 2}}], suppression=1.0,
)  # fmt: skip
ONE = ht.Policy(identifiers=["id"], quasi=["age"], models=[ht.KAnonymity(k=2)])


def tables(ids, reason="cold", key="id"):
    return {"people": pa.table({key: ids, "age": [30 + i for i in range(len(ids))]}),
            "visits": pa.table({key: ids, "reason": [reason] * len(ids)})}  # fmt: skip


def linked(ids, policy=POLICY, **changes):
    return anonymize_linked(tables(ids, **changes), policy)


def single(ids):
    return ht.anonymize(pa.table({"id": ids, "age": [30 + i for i in range(len(ids))]}), ONE)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "releases.ledger")


def test_the_first_is_added_and_the_same_is_recognised(ledger):
    assert ledger.add(linked(["1", "2", "3", "4"]), name="spring").ok
    again = ledger.check(linked(["1", "2", "3", "4"]))
    assert (again.ok, again.already) == (True, "spring")
    with pytest.raises(UsageError, match="in the ledger already"):
        ledger.add(linked(["1", "2", "3", "4"]))
    assert [entry.linked for entry in ledger.entries()] == [True]


@pytest.mark.parametrize("later", [
    lambda: linked(["1", "2", "3", "4"], reason="flu"), lambda: linked(["4", "5", "6", "7"]),
    # another spelling of the same person
    lambda: linked(["04", "5", "6", "7"]), lambda: single(["4", "5", "6", "7"]),
])  # fmt: skip
def test_a_later_release_of_its_people_is_refused(ledger, later):
    ledger.add(linked(["1", "2", "3", "4"]), name="spring")
    before = ledger.path.read_bytes()
    verdict = ledger.check(later(), expect_new_people=True)
    assert not verdict.ok
    assert verdict.findings[0].how == "linked"
    with pytest.raises(VerificationError, match=r"in spring as well.*cannot be judged") as caught:
        ledger.add(later(), expect_new_people=True)
    assert caught.value.code == "ledger-linked"
    assert ledger.path.read_bytes() == before


def test_linked_tables_of_people_of_an_earlier_table_are_refused(ledger):
    ledger.add(single(["1", "2", "3", "4"]))
    with pytest.raises(VerificationError, match="release 1 as well"):
        ledger.add(linked(["4", "5", "6", "7"]))


def test_new_people_are_accepted_when_that_is_said(ledger):
    ledger.add(linked(["1", "2", "3", "4"]))
    with pytest.raises(UsageError, match="Nobody in this release is in an earlier one"):
        ledger.add(linked(["5", "6", "7", "8"]))
    assert ledger.add(linked(["5", "6", "7", "8"]), expect_new_people=True).ok
    assert ledger.add(single(["9", "10", "11", "12"]), expect_new_people=True).earlier == 2
    # releases of one table are judged as ever
    assert ledger.check(single(["9", "10", "11", "12"])).already
    moved = ht.anonymize(pa.table({"id": ["9", "10", "11", "12"], "age": [30, 33, 31, 32]}), ONE)
    assert not ledger.check(moved).ok


def test_runs_that_name_the_ledger_are_refused_too(ledger, tmp_path):
    ledger.add(linked(["1", "2", "3", "4"]))
    policy = ONE.changed(ledger={"file": ledger.path.name}).based_in(tmp_path)
    with pytest.raises(VerificationError, match="linked tables"):
        ht.anonymize(pa.table({"id": ["1", "2", "8", "9"], "age": [30, 31, 32, 33]}), policy)


def test_composite_keys_and_other_columns_identify_people(ledger):
    keyed = LinkedPolicy(**{**POLICY.document(), "tables": {
        "people": {"key": ["site", "id"], "columns": {"age": {"role": "quasi"}, "name": {"role": "identifier"}}},
        "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}},
    }})  # fmt: skip

    def made(sites, names):
        people = {"site": sites, "id": [1, 1, 2, 2], "age": [30, 31, 32, 33], "name": names}
        visits = {"site": sites, "id": [1, 1, 2, 2], "reason": ["cold"] * 4}
        return anonymize_linked({"people": pa.table(people), "visits": pa.table(visits)}, keyed)

    ledger.add(made(list("abab"), list("klmn")))
    assert ledger.check(made(list("axay"), list("opqr"))).known == 2
    by_name = Ledger(ledger.path.with_name("names"), person="name")
    by_name.add(made(list("abab"), list("klmn")))
    assert by_name.check(made(list("xyxy"), list("kpqr"))).known == 1


def test_the_spelling_of_people_has_to_agree(ledger):
    people = pa.table({"id": ["Ann", "Bob", "Cy", "Di"], "age": [30, 31, 32, 33]})
    ledger.add(ht.anonymize(people, ONE.changed(ledger={"file": "other", "case": "ignore", "new": True})))
    with pytest.raises(DataError, match="case matters"):
        ledger.add(linked(["ann", "bob", "cy", "di"]))


def test_the_original_is_needed(ledger, tmp_path):
    linked(["1", "2", "3", "4"]).save(tmp_path / "out")
    with pytest.raises(UsageError, match="opened without its original"):
        ledger.check(ht.open_release(tmp_path / "out"))


def test_the_parts_of_a_key_may_be_named_in_another_order(ledger):
    def release(key, reason):
        people = {"ward": ["a", "b", "c", "d"], "nr": ["1", "2", "3", "4"]}
        policy = POLICY.changed(tables={**POLICY.document()["tables"], "people": {"key": key, "columns": {
            "age": {"role": "quasi"}}}})  # fmt: skip
        data = {"people": pa.table({**people, "age": [30] * 4}), "visits": pa.table({**people, "reason": [reason] * 4})}
        return anonymize_linked(data, policy)

    ledger.add(release(["ward", "nr"], "cold"))
    assert not ledger.check(release(["nr", "ward"], "flu"), expect_new_people=True).ok
