"""A policy that names a ledger: its runs are held against it, and can be repeated after others were added."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.api import run_plan
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


def first_of(file, **more):
    """A policy for the first release of all."""
    return policy(None, ledger={"file": str(file), "new": True}, **more)


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
    ht.Ledger(file).add(ht.anonymize(table(range(12)), first_of(file)))
    with pytest.raises(VerificationError, match="1 earlier release ") as caught:
        ht.anonymize(table(range(1, 12)), policy(file))
    assert caught.value.code == "ledger-refused"
    assert ht.anonymize(table(range(1, 12)), policy(None)).table.num_rows == 11


def test_a_ledger_that_is_not_there_stops_a_run(file):
    """It may be on a volume that is not mounted."""
    with pytest.raises(DataError, match="There is no ledger") as caught:
        ht.anonymize(table(range(12)), policy(file))
    assert caught.value.code == "no-ledger" and "new: true" in caught.value.hint
    release = ht.anonymize(table(range(12)), first_of(file))
    # a copy of the policy must not take a ledger that is gone for a new one
    assert release.policy["ledger"] == {"file": str(file), "records": 0}
    assert not file.exists()
    ht.Ledger(file).add(release)
    with pytest.raises(DataError, match="is new, but it has 1 release") as caught:
        ht.anonymize(table(range(12)), first_of(file))
    assert caught.value.code == "ledger-not-new"


def test_nobody_in_common_is_asked_about(file):
    ht.Ledger(file).add(ht.anonymize(table(range(12)), first_of(file)))
    with pytest.raises(UsageError, match="Nobody in this release is in an earlier one") as caught:
        ht.anonymize(table(range(20, 32)), policy(file))
    assert caught.value.code == "ledger-asks" and "--expect-new-people" in caught.value.hint
    answered = policy(None, ledger={"file": str(file), "expect_new_people": True})
    release = ht.anonymize(table(range(20, 32)), answered)
    assert release.plan.account.result() == {"held_against": 1, "of_these_people": 0}


def test_a_column_that_no_earlier_release_has_is_asked_about(file):
    ht.Ledger(file).add(ht.anonymize(table(range(12)), first_of(file)))
    renamed = table(range(12)).rename_columns(["name", "age", "illness"])
    asked = policy(file, sensitive=["illness"])
    with pytest.raises(UsageError, match="No earlier release has a column 'illness'"):
        ht.anonymize(renamed, asked)
    assert ht.anonymize(renamed, asked.with_column("illness", same_as="disease"))
    assert ht.anonymize(renamed, asked.with_column("illness", same_as=False))


def test_a_renamed_column_is_followed(file):
    """What the two classes of e have in common is gout."""

    def people(ages, column):
        ill = ["flu", "gout", "flu", "angina", "gout", "angina"]
        return pa.table({"name": list("abcdef"), "age": ages, column: ill})

    models = [ht.DistinctL(l=2)]
    first = first_of(file, models=models)
    ht.Ledger(file).add(ht.anonymize(people([20, 21, 40, 41, 60, 61], "disease"), first))
    later = people([20, 60, 21, 61, 22, 62], "illness")
    renamed = policy(file, models=models, sensitive={"illness": {"same_as": "disease"}})
    with pytest.raises(VerificationError, match="certain"):
        ht.anonymize(later, renamed)
    assert ht.anonymize(later, policy(file, models=models, sensitive={"illness": {"same_as": False}}))


def test_values_that_were_coded_anew_are_mapped_by_a_file(file, tmp_path):
    (tmp_path / "icd.csv").write_text("new,old\nJ11,flu\nM10,gout\nI20,angina\n")
    ht.Ledger(file).add(ht.anonymize(table(range(12)), first_of(file, models=[ht.DistinctL(l=2)])))
    codes = {"flu": "J11", "gout": "M10", "angina": "I20"}
    coded = pa.table({**table(range(1, 12)).to_pydict(), "disease": [codes[DISEASES[i % 3]] for i in range(1, 12)]})
    same = {"column": "disease", "map": str(tmp_path / "icd.csv")}
    with pytest.raises(VerificationError):
        ht.anonymize(coded, policy(file, models=[ht.DistinctL(l=2)], sensitive={"disease": {"same_as": same}}))
    (tmp_path / "icd.csv").write_text("new,old\nJ11,flu\nJ11,gout\n")
    with pytest.raises(DataError, match="maps a value to two others"):
        ht.anonymize(coded, policy(file, sensitive={"disease": {"same_as": same}}))


@pytest.mark.parametrize(
    ("respelt", "case"),
    [
        (lambda i: f"{i:03d}", None), (lambda i: f"+{i}", None), (lambda i: f" {i}.0 ", None),
        (lambda i: f"Zoé {i}".upper(), "ignore"),
    ],
)  # fmt: skip
def test_the_same_people_however_they_are_spelt(file, respelt, case):
    plain = (lambda i: f"zoé {i}") if case else str
    settings = {"file": str(file), **({"case": case} if case else {})}

    def people(rows, name):
        return table(rows).set_column(0, "name", pa.array([name(i) for i in rows]))

    first = policy(None, ledger={**settings, "new": True})
    ht.Ledger(file).add(ht.anonymize(people(range(12), plain), first))
    with pytest.raises(VerificationError, match="1 earlier release "):
        ht.anonymize(people(range(1, 12), respelt), policy(None, ledger=settings))
    other = {**settings, "case": None if case else "ignore"}
    with pytest.raises(DataError, match="must agree on whether case"):
        ht.anonymize(people(range(1, 12), respelt), policy(None, ledger=other))


def test_a_release_can_be_made_again_after_others_were_added(file, tmp_path):
    first = ht.anonymize(table(range(12)), first_of(file))
    ht.Ledger(file).add(first)
    saved = first.save(tmp_path / "first")
    rules = policy(None, ledger={"file": str(file), "expect_new_people": True})
    ht.Ledger(file).add(ht.anonymize(table(range(20, 32)), rules), expect_new_people=True)
    copied = ht.load_policy(saved / "policy.yaml")
    with pytest.raises(DataError, match="has 2 releases, but the policy expects 0") as caught:
        ht.anonymize(table(range(12)), copied)
    assert caught.value.code == "ledger-grown"
    again = run_plan(table(range(12)), copied.plan().repeating())
    assert again.table.equals(first.table) and again.policy["ledger"]["records"] == 0


def test_a_ledger_that_lost_releases_is_noticed(file, tmp_path):
    rules = policy(file, ledger={"file": str(file), "records": 2})
    ht.Ledger(file).add(ht.anonymize(table(range(12)), first_of(file)))
    with pytest.raises(DataError, match="has 1 release, but the policy expects 2"):
        ht.anonymize(table(range(20, 32)), rules)


def test_a_damaged_ledger_stops_a_run(file):
    ht.Ledger(file).add(ht.anonymize(table(range(12)), first_of(file)))
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(DataError, match="was changed"):
        ht.anonymize(table(range(20, 32)), policy(file))


def test_what_a_ledger_cannot_judge_is_refused_before_any_work(file, tmp_path):
    (tmp_path / "population.csv").write_text("age\n" + "\n".join(str(20 + i) for i in range(40)))
    rules = policy(file, models=[ht.KMap(k=3)], population=str(tmp_path / "population.csv"))
    with pytest.raises(IncompatibleError, match="which the ledger does not record"):
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
    with pytest.raises(UsageError, match="the number of counterfeits"):
        ht.verify(saved / "release.csv", rules)
    assert ht.verify(saved / "release.csv", rules, companion=tmp_path / "elsewhere").ok


def test_the_companion_says_which_ledger_a_release_was_held_against(tmp_path):
    people = pa.table({"name": list("abcdef"), "age": [30, 31, 32, 50, 51, 52], "ill": ["flu", "gout"] * 3})
    policy = ht.Policy(
        identifiers=["name"], quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=3)],
        ledger=str(tmp_path / "releases.ledger"),
    )  # fmt: skip
    first = ht.anonymize(people, policy.changed(ledger={"file": str(tmp_path / "releases.ledger"), "new": True}))
    ht.Ledger(tmp_path / "releases.ledger", person="name").add(first, name="first")
    again = ht.anonymize(people, policy)
    again.save(tmp_path / "out")
    kept = read_companion(companion_of(tmp_path / "out"), tmp_path / "out")["ledger"]
    told = {"held_against": 1, "of_these_people": 6}
    # how many of the rows belong to people of earlier releases is not for those who have only the rows
    assert kept == {"file": str(tmp_path / "releases.ledger"), "person": "name", "releases": 1, **told}
    assert json.loads((tmp_path / "out" / "release.json").read_text())["ledger"] == {"held_against": 1}
    others = people.set_column(0, "name", pa.array(list("abcxyz")))
    ht.anonymize(others, policy).save(tmp_path / "others")
    files = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert {file.name: file.read_bytes() for file in (tmp_path / "others").iterdir()} == files
