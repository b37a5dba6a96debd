"""A policy that names a ledger: its runs are held against it, and can be repeated after others were added."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import DataError, IncompatibleError, PolicyError, UsageError, VerificationError
from hushtable.ledger.account import Account
from hushtable.release.companion import companion_of, read_companion

DISEASES = ("flu", "gout", "angina")


def table(people):
    return pa.table(
        {
            "name": [f"p{i}" for i in people],
            "age": [20 + i for i in people],
            "disease": [DISEASES[i % 3] for i in people],
        }
    )


def policy(file, **more):
    settings = {"identifiers": ["name"], "quasi": ["age"], "sensitive": ["disease"], "models": [ht.KAnonymity(k=3)]}
    return ht.Policy(**{**settings, "ledger": None if file is None else str(file), **more})


@pytest.fixture
def file(tmp_path):
    return tmp_path / "releases.ledger"


def test_a_file_alone_or_with_settings(file):
    short = policy(file)
    assert short == policy(file, ledger={"file": str(file)})
    assert short.document()["ledger"] == {"file": str(file)}
    assert ht.Policy.from_yaml(short.to_yaml()) == short
    assert Account.of(short.document(), None) == Account(file, "name")
    schema = json.dumps(ht.Policy.json_schema()["properties"]["ledger"])
    assert "LedgerPolicy" in schema and "string" in schema


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"ledger": {"file": "x", "person": "age"}}, "not-identifier"),
        ({"ledger": {"file": "x", "person": "nobody"}}, "not-identifier"),
        ({"ledger": "x", "identifiers": []}, "no-person"),
        ({"ledger": "x", "identifiers": ["name", "number"]}, "no-person"),
    ],
)
def test_whose_a_row_is_must_be_clear(settings, code):
    with pytest.raises(PolicyError) as caught:
        policy(None, **settings)
    assert [fault.code for fault in caught.value.faults] == [code]


def test_mistakes_in_the_settings_are_named():
    for wrong in ({"person": "name"}, {"file": "x", "records": -1}, {"file": "x", "fiel": 1}, 7):
        with pytest.raises(PolicyError, match="ledger"):
            policy(None, ledger=wrong)


def test_a_run_is_held_against_the_ledger(file):
    ht.Ledger(file).add(ht.anonymize(table(range(12)), policy(file)))
    with pytest.raises(VerificationError, match="1 earlier release ") as caught:
        ht.anonymize(table(range(1, 12)), policy(file))
    assert caught.value.code == "ledger-refused"
    assert ht.anonymize(table(range(1, 12)), policy(None)).table.num_rows == 11


def test_without_a_ledger_there_is_no_earlier_release(file):
    release = ht.anonymize(table(range(12)), policy(file))
    assert release.policy["ledger"] == {"file": str(file), "records": 0}
    assert not file.exists()


def test_a_release_can_be_made_again_after_others_were_added(file, tmp_path):
    rules = policy(file)
    first = ht.anonymize(table(range(12)), rules)
    ht.Ledger(file).add(first)
    saved = first.save(tmp_path / "first")
    ht.Ledger(file).add(ht.anonymize(table(range(20, 32)), rules))
    again = ht.anonymize(table(range(12)), ht.load_policy(saved / "policy.yaml"))
    assert again.table.equals(first.table) and again.policy["ledger"]["records"] == 0


def test_a_ledger_that_lost_releases_is_noticed(file, tmp_path):
    rules = policy(file, ledger={"file": str(file), "records": 2})
    ht.Ledger(file).add(ht.anonymize(table(range(12)), policy(file)))
    with pytest.raises(DataError, match="has 1 releases; the policy was run when it had 2"):
        ht.anonymize(table(range(20, 32)), rules)


def test_a_damaged_ledger_stops_a_run(file):
    ht.Ledger(file).add(ht.anonymize(table(range(12)), policy(file)))
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(DataError, match="not as it was left"):
        ht.anonymize(table(range(20, 32)), policy(file))


def test_what_a_ledger_cannot_judge_is_refused_before_any_work(file, tmp_path):
    (tmp_path / "population.csv").write_text("age\n" + "\n".join(str(20 + i) for i in range(40)))
    rules = policy(file, models=[ht.KMap(k=3)], population=str(tmp_path / "population.csv"))
    with pytest.raises(IncompatibleError, match="the ledger keeps no account"):
        rules.plan()


def test_guards_cannot_change_numbered_classes(file):
    for guard in ("minimality", "downcoding"):
        with pytest.raises(IncompatibleError, match="m-invariant"):
            policy(file, models=[ht.DistinctL(l=2)], algorithm="m-invariant", guard=[guard]).plan()


def test_counting_people_needs_to_know_the_counterfeits(file, tmp_path):
    rules = policy(None, models=[ht.KAnonymity(k=2)], algorithm="m-invariant")
    saved = ht.anonymize(table(range(12)), rules).save(tmp_path / "out")
    assert ht.verify(saved / "release.csv", rules).ok
    companion_of(saved).rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="how many rows are counterfeits"):
        ht.verify(saved / "release.csv", rules)
    assert ht.verify(saved / "release.csv", rules, companion=tmp_path / "elsewhere").ok


def test_the_companion_says_which_ledger_a_release_was_held_against(tmp_path):
    people = pa.table({"name": list("abcdef"), "age": [30, 31, 32, 50, 51, 52], "ill": ["flu", "gout"] * 3})
    policy = ht.Policy(
        identifiers=["name"], quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=3)],
        ledger=str(tmp_path / "releases.ledger"),
    )  # fmt: skip
    first = ht.anonymize(people, policy)
    ht.Ledger(tmp_path / "releases.ledger", person="name").add(first, name="first")
    again = ht.anonymize(people, policy)
    again.save(tmp_path / "out")
    kept = read_companion(companion_of(tmp_path / "out"), tmp_path / "out")["ledger"]
    assert kept == {"file": str(tmp_path / "releases.ledger"), "person": "name", "releases": 1}
