"""The ledger of real releases: what it accepts survives the composition attack, what it keeps names nobody."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from support_processes import at_once

import hushtable as ht
from hushtable.errors import DataError, Infeasible, NotFound, UsageError, VerificationError
from hushtable.ledger.ledger import Ledger

DISEASES = ("flu", "gout", "angina", "ulcer")


def table(people, ages=None, values=None):
    return pa.table(
        {
            "name": [f"person {p}" for p in people],
            "age": [20 + 3 * p if ages is None else ages[p] for p in people],
            "zip": [f"{14000 + 7 * p}" for p in people],
            "disease": [DISEASES[p % 4] if values is None else values[p] for p in people],
        }
    )


def policy(*models, **settings_):
    chosen = models or (ht.KAnonymity(k=2), ht.DistinctL(l=2))
    settings_ = {"quasi": ["age", "zip"], "identifiers": ["name"], **settings_}
    return ht.Policy(sensitive=["disease"], models=list(chosen), **settings_)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "releases.ledger")


def test_the_same_release_is_accepted_again_but_kept_once(ledger):
    release = ht.anonymize(table(range(20)), policy())
    first = ledger.add(release, name="spring")
    assert (first.earlier, first.people, first.known) == (0, 20, 0)
    again = ledger.check(release)
    assert again.ok and again.already == "spring" and again.earlier == 0
    before = ledger.path.read_bytes()
    with pytest.raises(UsageError, match="in the ledger already: spring"):
        ledger.add(release)
    assert ledger.path.read_bytes() == before
    (entry,) = ledger.entries()
    assert entry.people == 20 and entry.summary()["records"] == 20


@pytest.mark.parametrize("models", [(ht.KAnonymity(k=2),), (ht.KAnonymity(k=2), ht.TCloseness(t=0.9))])
def test_values_of_suppressed_people_leave_no_trace(tmp_path, models):
    sizes = []
    for turn, values in enumerate((["gout"], ["angina"], ["mumps and rubella, long ago"])):
        ledger = Ledger(tmp_path / str(turn))
        people = table(range(13), ages=[30] * 12 + [99], values=["flu", "gout"] * 6 + values)
        rules = policy(*models, quasi=["age"], rest="drop", suppression=0.1, algorithm="optimal")
        release = ht.anonymize(people, rules)
        assert release.frame.num_rows == 12
        ledger.add(release, name="spring")
        (entry,) = ledger.entries()
        assert [len(hashes) for hashes in entry.values] == [2]
        sizes.append(len(ledger.path.read_bytes()))
    assert len(set(sizes)) == 1


def test_a_refused_release_leaves_the_ledger_as_it_was(ledger):
    ledger.add(ht.anonymize(table(range(20)), policy()))
    before = ledger.path.read_bytes(), ledger.key_path.read_bytes()
    fewer = ht.anonymize(table(range(1, 20)), policy())
    verdict = ledger.check(fewer)
    assert not verdict.ok and verdict.known == 19
    with pytest.raises(VerificationError, match="breaks a promise"):
        ledger.add(fewer)
    assert (ledger.path.read_bytes(), ledger.key_path.read_bytes()) == before


def test_no_name_and_no_value_is_in_the_files(ledger):
    # long enough not to occur by chance: a hash or a seal contains "flu" in one of thirty files
    names = [f"{disease} of the lungs" for disease in DISEASES]
    people = table(range(20), values=[names[i % len(names)] for i in range(20)])
    people = people.set_column(2, "zip", pa.array([f"140{i:02}-street" for i in range(20)]))
    ledger.add(ht.anonymize(people, policy()), name="spring")
    held = ledger.path.read_bytes() + ledger.key_path.read_bytes()
    for text in ("person 1", "of the lungs", "-street", *names):
        assert text.encode() not in held
    other = Ledger(ledger.path.with_name("other"))
    other.add(ht.anonymize(table(range(20)), policy()), name="spring")
    (mine,), (theirs,) = ledger.entries(), other.entries()
    assert not set(mine.values[0]) & set(theirs.values[0]), "hashes of two ledgers can be compared"
    assert not set(map(tuple, mine.persons.tolist())) & set(map(tuple, theirs.persons.tolist()))


def test_rows_in_any_order_and_of_any_type_are_the_same_people(ledger):
    ledger.add(ht.anonymize(table(range(20)), policy()))
    backwards = ht.anonymize(table(range(19, -1, -1)).to_pandas(), policy())
    assert ledger.check(backwards).already == "release 1"
    numbers = table(range(20)).set_column(0, "name", pa.array(range(20)))
    texts = table(range(20)).set_column(0, "name", pa.array([str(i) for i in range(20)]))
    other = Ledger(ledger.path.with_name("other"))
    other.add(ht.anonymize(numbers, policy()))
    assert other.check(ht.anonymize(texts, policy())).already


def test_whose_a_row_is_must_be_said(ledger):
    two = table(range(20)).append_column("number", pa.array(range(20)))
    release = ht.anonymize(two, policy(identifiers=["name", "number"]))
    with pytest.raises(UsageError, match="2 identifiers"):
        ledger.add(release)
    assert not ledger.path.exists() and not ledger.key_path.exists()
    assert Ledger(ledger.path, person="number").add(release).people == 20
    with pytest.raises(DataError, match="has no column 'nobody'"):
        Ledger(ledger.path, person="nobody").check(release)
    gaps = table(range(20)).set_column(0, "name", pa.array([None, " ", *map(str, range(18))]))
    with pytest.raises(DataError, match="does not identify a person in 2 of the rows"):
        ledger.check(ht.anonymize(gaps, policy()))


def test_a_new_batch_of_other_people_is_accepted(ledger):
    ledger.add(ht.anonymize(table(range(20)), policy()))
    other = ht.anonymize(table(range(20, 40)), policy())
    assert ledger.check(other).asked and not ledger.check(other).ok
    verdict = ledger.add(other, expect_new_people=True)
    assert verdict.known == 0 and verdict.earlier == 1


def test_somebody_with_several_records_is_followed_record_by_record(ledger):
    people = [i // 2 for i in range(24)]
    visits = pa.table(
        {
            "name": [f"person {p}" for p in people],
            "age": [20 + i for i in range(24)],
            "disease": [DISEASES[i % 4] for i in range(24)],
        }
    )
    rules = policy(ht.KAnonymity(k=2), quasi=["age"], entity="name")
    release = ht.anonymize(visits, rules)
    ledger.add(release)
    # one more visit of everybody, far away: the old visits stay what they were
    more = pa.concat_tables([visits, visits.set_column(1, "age", pa.array([70 + i for i in range(24)]))])
    verdict = ledger.check(ht.anonymize(more, rules))
    assert verdict.known == 12 and verdict.ok
    shifted = visits.set_column(1, "age", pa.array([21 + i for i in range(24)]))
    assert ledger.check(ht.anonymize(shifted, rules)).known == 12


def test_buckets_are_judged_by_their_groups(ledger):
    rules = policy(ht.DistinctL(l=2), algorithm="anatomy")
    ledger.add(ht.anonymize(table(range(20)), rules))
    values = {p: DISEASES[(p * 3 + p // 5) % 4] for p in range(20)}
    other = ht.anonymize(table(range(20), values=values), rules)
    assert ledger.check(other).earlier == 1
    assert ledger.check(ht.anonymize(table(range(20)), rules)).already


def test_several_sensitive_columns_and_joint_models(ledger):
    def with_pay(people):
        return table(people).append_column("pay", pa.array([p % 3 for p in people]))

    rules = ht.Policy(
        identifiers=["name"], quasi=["age", "zip"], sensitive=["disease", "pay"],
        models=[ht.DistinctL(l=2), ht.DistinctL(l=2, on=["disease", "pay"])],
    )  # fmt: skip
    ledger.add(ht.anonymize(with_pay(range(20)), rules))
    assert ledger.check(ht.anonymize(with_pay(range(20)), rules)).already
    only = ht.anonymize(table(range(20)), policy(ht.DistinctL(l=3)))
    assert ledger.check(only).earlier == 1
    verdict = ledger.check(ht.anonymize(with_pay(range(1, 20)), rules))
    assert {f.model for f in verdict.findings} == {"distinct-l"}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 15), min_size=8), min_size=2, max_size=3),
    st.lists(st.sampled_from(DISEASES), min_size=16, max_size=16),
    st.sampled_from([ht.DistinctL(l=2), ht.EntropyL(l=1.5), ht.ProbabilisticL(l=1.4)]),
)
def test_what_is_accepted_survives_the_composition_attack(tmp_path_factory, releases, values, model):
    """Nobody is left with one value, which is also what each release gives away alone."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "releases")
    accepted = []
    for present in [*releases, set(range(16)), releases[0]]:
        # the same quasi-identifiers and values throughout, or the attack would not look for them
        try:
            release = ht.anonymize(table(sorted(present), values=values), policy(model))
        except (Infeasible, NotFound):
            continue
        try:
            ledger.add(release)
        except (VerificationError, UsageError):
            continue
        accepted.append(release)
    event(f"{len(accepted)} accepted")
    for i, release in enumerate(accepted):
        others = accepted[:i] + accepted[i + 1 :]
        if others:
            result = release.attack("composition", others=others)
            assert result.successes == 0 and result.rate <= result.baseline


def test_the_attack_that_the_ledger_prevents(ledger):
    """The property above is worth something only where releases do break each other."""
    rules = policy(ht.DistinctL(l=2), quasi=["age"])
    values = dict(enumerate(["flu", "gout", "flu", "angina"]))
    one = ht.anonymize(table(range(4), values=values).drop_columns(["zip"]), rules)
    other = ht.anonymize(table([0, 3], values=values).drop_columns(["zip"]), rules)
    assert one.attack("composition", others=other).successes > 0
    ledger.add(one)
    assert not ledger.check(other).ok


def _add(path, name, shift):
    release = ht.anonymize(table(range(shift, shift + 12)), policy())
    Ledger(path).add(release, name=name, expect_new_people=True)


def test_two_processes_add_releases_at_once(tmp_path):
    path = tmp_path / "releases"
    at_once(_add, [(path, "a", 0), (path, "b", 100)])
    assert sorted(entry.name for entry in Ledger(path).entries()) == ["a", "b"]


def test_only_releases_made_in_memory_are_taken(ledger):
    with pytest.raises(UsageError, match="Got a dict"):
        ledger.add({})
    assert not ledger.path.exists()


def test_entries_of_another_version_are_not_guessed_at(ledger):
    with ledger._journal.changing() as (_, append):
        append(b'{"name":"from the future"}')
    with pytest.raises(DataError, match="another version"):
        ledger.entries()


def test_ledgers_grow_and_never_change(ledger):
    sizes = [b""]
    for batch in range(3):
        ledger.add(ht.anonymize(table(range(20 * batch, 20 * batch + 20)), policy()), expect_new_people=True)
        sizes.append(ledger.path.read_bytes())
    assert all(after.startswith(before) and len(after) > len(before) for before, after in pairwise(sizes))
